// SPDX-License-Identifier: Apache-2.0
//
// The numbers behind the bound. Let u = 2^-24, the relative error of one f32 rounding.
//
// sum, l1, mean: a lane's chain of 16 terms is 15 f32 additions, each off by at most u of a partial sum, which is at
//   most the sum of the magnitudes: 15 u sum|x|, and a little for second order. What follows is in f64: even 2^32 terms
//   in one lane add less than u. 17 u sum|x| covers it.
// l2: each square is rounded once (u, or half of 2^-149 below f32's normal range), then as above, all terms positive:
//   18 u of the sum of squares. The root is taken in f64.
// prod: every multiplication may be one in f32: (n + 2) u of the result.
// All of them are then rounded to f32, which agree() accounts for where f32 is not the output's dtype itself.
#include "graph/eval/bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/eval/element.hpp"
#include "graph/eval/run.hpp"

namespace tenfold::graph {
namespace {

constexpr double kUnit = 0x1p-24;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Sums at or above this round to infinity in f32; a hair below 2^128 for what the chain's roundings add.
constexpr double kF32Overflow = 0x1p128 * (1 - 0x1p-18);
constexpr double kHalfLeastF32 = 0x1p-150;

/// Keeps the kChain greatest values seen in a min-heap.
void keep(std::array<double, kChain>& heap, double value) {
  if (value <= heap.front()) return;
  std::pop_heap(heap.begin(), heap.end(), std::greater<>());
  heap.back() = value;
  std::push_heap(heap.begin(), heap.end(), std::greater<>());
}

double total(const std::array<double, kChain>& heap) {
  double sum = 0;
  for (const double value : heap) sum += value;
  return sum;
}

/// The bound on a root of a sum of squares that is off by `error`.
double root_bound(double root, double error) {
  const double square = root * root;
  const double up = std::sqrt(square + error) - root;
  const double down = root - std::sqrt(std::max(0.0, square - error));
  return std::max(up, down) + root * 0x1p-50;
}

double product_bound(double result, std::int64_t n) { return static_cast<double>(n + 2) * kUnit * std::fabs(result); }

double norm_bound(double root, std::int64_t n) {
  return root_bound(root, 18 * kUnit * root * root + static_cast<double>(n) * kHalfLeastF32);
}

}  // namespace

void Magnitude::add(double x) noexcept {
  ++count_;
  if (!std::isfinite(x)) {
    special_ = true;
    return;
  }
  const double magnitude = std::fabs(x);
  sum_ += magnitude;
  sum_of_squares_ += magnitude * magnitude;
  max_ = std::max(max_, magnitude);
  if (magnitude == 0) {
    zero_ = true;
    return;
  }
  const double log2 = std::log2(magnitude);
  keep(log2 > 0 ? greatest_ : least_, std::fabs(log2));
  (log2 > 0 ? log2_high_ : log2_low_) += log2;
}

double Magnitude::chain_sum() const noexcept {
  const auto most = static_cast<double>(std::min<std::int64_t>(count_, kChain));
  return std::min(sum_, max_ * most);
}

double Magnitude::product() const noexcept { return zero_ ? 0 : std::exp2(log2_high_ + log2_low_); }

double Magnitude::chain_log2_high() const noexcept { return total(greatest_); }
double Magnitude::chain_log2_low() const noexcept { return -total(least_); }

double reduction_bound(std::string_view reduction, const Magnitude& m) noexcept {
  if (reduction == "max" || reduction == "min" || m.count() == 0) return 0;
  // Norms with an infinity or a NaN among their elements give just that, whatever overflows beside it.
  const bool norm = reduction == "l1" || reduction == "l2";
  if (m.special() && norm) return 0;
  if (reduction == "prod") {
    const bool chain_fits = m.chain_log2_high() < 127 && m.chain_log2_low() > -126;
    const bool lanes_fit = m.log2_high() < 1022 && m.log2_low() > -1021;
    if (!chain_fits || !lanes_fit) return kInfinity;
    return m.special() ? 0 : reduction_bound(reduction, m.sum(), m.product(), m.count());
  }
  const double chain = reduction == "l2" ? m.chain_sum() * m.max() : m.chain_sum();
  if (chain >= kF32Overflow) return kInfinity;
  if (m.special()) return 0;
  return reduction_bound(reduction, m.sum(), std::sqrt(m.sum_of_squares()), m.count());
}

double reduction_bound(std::string_view reduction, double sum_abs, double result, std::int64_t n) noexcept {
  if (reduction == "max" || reduction == "min" || n == 0) return 0;
  if (reduction == "l2") return norm_bound(result, n);
  if (reduction == "prod") return product_bound(result, n);
  const double sum = 17 * kUnit * sum_abs;
  return reduction == "mean" ? sum / static_cast<double>(n) : sum;
}

bool agree(DType dtype, double expected, double got, double bound) noexcept {
  if (std::isinf(bound) || std::isnan(bound)) return true;
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
  if (bound == 0) return expected == got && std::signbit(expected) == std::signbit(got);
  if (!is_floating(dtype)) return std::fabs(expected - got) <= bound + 1;

  // What rounds to `expected` lies within half an ulp of it, or from the overflow threshold to infinity. Rounding is
  // monotone, so whatever lies within the bound of that rounds to something between the rounded ends.
  const Real largest = largest_finite(dtype);
  const Real threshold = largest + ulp(dtype, static_cast<double>(largest)) / Real{2};
  const bool overflowed = std::isinf(expected);
  const Real centre = overflowed ? std::copysign(threshold, Real{expected}) : Real{expected};
  Real slack = Real{bound} + ulp(dtype, expected) / Real{2};
  if (byte_size(dtype) == 2) slack += (std::fabs(centre) + slack) * kUnit + kHalfLeastF32;
  const Real low = overflowed && expected < 0 ? Real{expected} : round_to(dtype, centre - slack);
  const Real high = overflowed && expected > 0 ? Real{expected} : round_to(dtype, centre + slack);
  return low <= got && got <= high;
}

Status evaluate_with_bounds(const Graph& graph, std::span<const ConstTensor> inputs,
                            std::span<const MutableTensor> outputs, std::vector<std::vector<double>>& bounds) {
  return run_graph(graph, inputs, outputs, &bounds);
}

}  // namespace tenfold::graph
