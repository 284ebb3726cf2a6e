// SPDX-License-Identifier: Apache-2.0
//
// Pilots of rows (docs/numerics.md, "Variance in one pass"): a mean that is made beside a variance may be the sum of
// what is left of a row's elements when a pilot is taken off, so that f32 rounds that and not the elements.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace tenfold::graph {

/// The sums of |x - K| of a row's elements, K being the mean of the first 16, 32, ... or 256 of them, or of all of them
/// where that is far from it.
class PilotDeviations {
 public:
  /// The row's elements in their order; finite ones.
  void add(double x) noexcept {
    ++count_;
    sum_ += x;
    magnitudes_ += std::fabs(x);
    squares_ += x * x;
    for (Pilot& pilot : pilots_) {
      if (count_ > pilot.elements) {
        const double off = x - pilot.mean;
        pilot.deviations += std::fabs(off);
        pilot.sum += off;
        pilot.squares += off * off;
      } else if (count_ == pilot.elements) {
        pilot.mean = sum_ / static_cast<double>(count_);
        pilot.deviations = 2 * magnitudes_;  // of the elements themselves no more than this
        pilot.squares = squares_ - sum_ * pilot.mean;
      }
    }
  }

  /// The greatest of them; 0 of rows that have no pilot.
  double most() const noexcept {
    if (count_ < kLeastRow || count_ > kMostRow) return 0;
    const auto count = static_cast<double>(count_);
    double most = 0, about_mean = 2 * magnitudes_;
    bool any_moves = false;
    for (const Pilot& pilot : pilots_) {
      about_mean = std::min(about_mean, pilot.deviations + std::fabs(pilot.sum));
      any_moves = any_moves || kFar * pilot.sum * pilot.sum > kNearly * count * pilot.squares;
      if (kNearly * kFar * pilot.sum * pilot.sum <= count * pilot.squares) most = std::max(most, pilot.deviations);
    }
    return any_moves ? std::max(most, about_mean) : most;
  }

 private:
  static constexpr std::int64_t kLeastRow = 512, kMostRow = 4096;
  /// A pilot moves where so many times the square of the deviations' sum are more than `count` times their squares'
  /// sum; near that, it may or may not.
  static constexpr double kFar = 5, kNearly = 0.99;

  struct Pilot {
    std::int64_t elements;
    double mean = 0, deviations = 0, sum = 0, squares = 0;
  };

  std::array<Pilot, 5> pilots_{{{16}, {32}, {64}, {128}, {256}}};
  std::int64_t count_ = 0;
  double sum_ = 0, magnitudes_ = 0, squares_ = 0;
};

}  // namespace tenfold::graph
