// SPDX-License-Identifier: Apache-2.0
//
// See overlap.hpp. Places are counted in bits, for dtypes of which a byte holds two.
#include "api/overlap.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

namespace tenfold::api {

namespace {

/// A pair takes some nanoseconds, so this is well below a millisecond.
constexpr int kMostPairs = 16384;

struct Level {
  std::int64_t extent = 1, stride = 0;
};

/// Where a tensor has elements: runs without gaps, repeated by levels whose strides are longer than a run. The part at
/// level k is one step of the levels before it; it reaches over `reach[k]` from its beginning.
class Places {
 public:
  explicit Places(const TensorDesc& desc) noexcept {
    const std::int64_t bits = row(desc.dtype).bits;
    std::int64_t packed = bits;  // the row-major stride of the dim at hand
    for (std::size_t i = desc.shape.size(); i-- > 0;) {
      if (desc.shape[i] == 0) empty_ = true;
      if (desc.shape[i] <= 1) continue;  // a stride that is not used may be anything
      levels_[count_++] = {desc.shape[i], desc.strides.empty() ? packed : desc.strides[i] * bits};
      packed *= desc.shape[i];
    }
    const auto all = std::span(levels_).first(count_);
    std::sort(all.begin(), all.end(), [](const Level& x, const Level& y) { return x.stride > y.stride; });
    reach_[count_] = bits;
    // A step no longer than the run makes a longer run.
    while (count_ > 0 && levels_[count_ - 1].stride <= reach_[count_]) {
      const Level& last = levels_[count_ - 1];
      reach_[count_ - 1] = reach_[count_] + (last.extent - 1) * last.stride;
      --count_;
    }
    for (std::size_t k = count_; k-- > 0;) reach_[k] = reach_[k + 1] + (levels_[k].extent - 1) * levels_[k].stride;
  }

  bool empty() const noexcept { return empty_; }
  std::size_t count() const noexcept { return count_; }
  const Level& level(std::size_t k) const noexcept { return levels_[k]; }
  std::int64_t reach(std::size_t k) const noexcept { return reach_[k]; }
  std::int64_t run() const noexcept { return reach_[count_]; }
  /// All runs begin at multiples of this from the first one; 0: there is one.
  std::int64_t grid() const noexcept {
    std::int64_t divisor = 0;
    for (std::size_t k = 0; k < count_; ++k) divisor = std::gcd(divisor, levels_[k].stride);
    return divisor;
  }

 private:
  std::array<Level, kMaxRank> levels_;  ///< by falling stride
  std::array<std::int64_t, kMaxRank + 1> reach_{};
  std::size_t count_ = 0;
  bool empty_ = false;
};

/// A part of a tensor: the step of its levels before `level` that begins at `begin`.
struct Part {
  const Places& places;
  std::size_t level;
  std::int64_t begin;
  std::int64_t end() const noexcept { return begin + places.reach(level); }
  bool is_run() const noexcept { return level == places.count(); }
};

// Nothing overflows: no tensor spans more than 2^47 bytes, and the two are no farther apart.
std::int64_t floor_div(std::int64_t a, std::int64_t b) noexcept { return a / b - (a % b < 0 ? 1 : 0); }

/// Goes down, always into the part that reaches further, to its steps that the other one meets. True as well when
/// `pairs` are used up, and then through all calls.
bool meet(const Part& a, const Part& b, int& pairs) noexcept {  // NOLINT(misc-no-recursion): as deep as both ranks
  if (a.begin >= b.end() || b.begin >= a.end()) return false;
  if (a.is_run() && b.is_run()) return true;
  if (a.is_run() || (!b.is_run() && b.places.reach(b.level) > a.places.reach(a.level))) return meet(b, a, pairs);
  const Level& level = a.places.level(a.level);
  const std::int64_t step = a.places.reach(a.level + 1);
  const std::int64_t first = std::max<std::int64_t>(0, floor_div(b.begin - a.begin - step, level.stride) + 1);
  const std::int64_t last = std::min(level.extent - 1, floor_div(b.end() - a.begin - 1, level.stride));
  for (std::int64_t i = first; i <= last; ++i) {
    if (--pairs < 0) return true;  // the safe answer
    if (meet({a.places, a.level + 1, a.begin + i * level.stride}, b, pairs)) return true;
  }
  return false;
}

/// True when the distance of no run of `a` to one of `b` is such that they meet, whatever steps are taken: tensors side
/// by side in the rows of a larger one.
bool are_apart_on_their_grid(const Places& a, const Places& b, std::int64_t distance) noexcept {
  const std::int64_t grid = std::gcd(a.grid(), b.grid());
  if (grid == 0) return false;
  // Runs meet when a's begins less than a's run before b's, or less than b's run behind it.
  const std::int64_t behind = distance - floor_div(distance, grid) * grid;
  return behind >= b.run() && grid - behind >= a.run();
}

}  // namespace

bool share_bytes(const TensorDesc& a_desc, const void* a, const TensorDesc& b_desc, const void* b) noexcept {
  const Places a_places(a_desc), b_places(b_desc);
  if (a_places.empty() || b_places.empty()) return false;
  const auto a_begin = reinterpret_cast<std::uintptr_t>(a), b_begin = reinterpret_cast<std::uintptr_t>(b);
  const std::uintptr_t apart = a_begin < b_begin ? b_begin - a_begin : a_begin - b_begin;
  if (apart > static_cast<std::uintptr_t>(kMaxTensorBytes)) return false;
  const std::int64_t distance = (a_begin < b_begin ? -1 : 1) * static_cast<std::int64_t>(apart) * 8;
  if (are_apart_on_their_grid(a_places, b_places, distance)) return false;
  int pairs = kMostPairs;
  return meet({a_places, 0, distance}, {b_places, 0, 0}, pairs);
}

}  // namespace tenfold::api
