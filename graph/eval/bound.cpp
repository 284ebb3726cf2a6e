// SPDX-License-Identifier: Apache-2.0
//
// The numbers behind the bound. Let u = 2^-24, the relative error of one f32 rounding.
//
// sum, l1, mean: a lane's chain of 16 terms is 15 f32 additions, each off by at most u of a partial sum, which is at
//   most the sum of the magnitudes: 15 u sum|x|, and a little for second order. What follows is in f64: even 2^32 terms
//   in one lane add less than u. 17 u sum|x| covers it. Short rows go on in f32, but no element through more than 15
//   additions. A mean beside a variance may have summed |x - K| (pilot.hpp).
// l2: each square is rounded once (u, or half of 2^-149 below f32's normal range), then as above, all terms positive:
//   18 u of the sum of squares. The root is taken in f64.
// prod: every multiplication may be one in f32: (n + 2) u of the result.
// sum_square: l2 without the root. log_sum: the logarithm of a sum that is off by e is off by log(s / (s - e)) at most;
//   its own error is 4 u of the result, and 2 u where the sum is near 1.
// log_sum_exp: with m the greatest element, x - m is rounded (u |x - m|, which the exponential turns into u |x - m| of
// a
//   term; weighted by the terms that is below u (1 + ln n)), the exponential is off by 4 u, the sum by 17 u, the sum's
//   logarithm by 2 u ln n of its own, and m is added: 4 u of the result.
// f64 elements: everything is in f64, a lane may be as long as the axis: 2^-53 for u and n for the chain's 15.
// All of them are then rounded to f32, which agree() accounts for where f32 is not the output's dtype itself.
#include "graph/eval/bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/eval/element.hpp"
#include "graph/eval/reduction_row.hpp"
#include "graph/eval/run.hpp"

namespace tenfold::graph {
namespace {

constexpr double kUnit = 0x1p-24;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kHalfLeastF32 = 0x1p-150;

/// The arithmetic that a dtype's sums and products are done in.
struct Arithmetic {
  double unit;        ///< the relative error of one rounding
  double terms;       ///< the roundings of a sum
  double overflow;    ///< sums at or above this may become infinite; a hair is left for the roundings before
  double half_least;  ///< the error of a square below the normal range, at most
  double log2_most;   ///< products must stay below 2^this
  double log2_least;  ///< and above 2^this
};

Arithmetic arithmetic_of(DType dtype, std::int64_t n) {
  if (dtype != DType::f64) return {kUnit, 17, 0x1p128 * (1 - 0x1p-18), kHalfLeastF32, 127, -126};
  return {0x1p-53, static_cast<double>(n) + 2, 0x1p1023, 0x1p-1074, 1022, -1021};
}

/// Keeps the kChain greatest values seen in a min-heap.
void keep(std::array<double, kChain>& heap, double value) {
  if (value <= heap.front()) return;
  std::pop_heap(heap.begin(), heap.end(), std::greater<>());
  heap.back() = value;
  std::push_heap(heap.begin(), heap.end(), std::greater<>());
}

double heap_sum(const std::array<double, kChain>& heap) {
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

/// On the logarithm of a positive sum that is off by `error`; `log` is the sum's.
double logarithm_bound(double log, double error, double unit) {
  const double sum = std::exp(log);
  if (!(error < sum)) return error == 0 ? 0 : kInfinity;
  return -std::log1p(-error / sum) + 4 * unit * std::fabs(log) + 2 * unit;
}

double log_sum_exp_bound(double result, std::int64_t n, const Arithmetic& a) {
  const double log = std::log(static_cast<double>(n));
  return a.unit * (a.terms + 8 + 4 * log + 4 * std::fabs(result));
}

/// Infinities and NaNs that decide the result whatever is beside them.
bool is_decided(const ReductionRow& row, const Magnitude& m) {
  if (row.term == Term::exponential) return std::isnan(m.total()) || std::isinf(m.greatest());
  return m.special();
}

/// Whether partial results may leave the range of the arithmetic.
bool may_leave_range(const ReductionRow& row, const Magnitude& m, DType dtype, const Arithmetic& a) {
  const bool chained = dtype != DType::f64;
  if (row.term == Term::exponential) return false;
  if (row.combine == Combine::product) {
    const bool chain_fits = !chained || (m.chain_log2_high() < a.log2_most && m.chain_log2_low() > a.log2_least);
    return !chain_fits || m.log2_high() >= 1022 || m.log2_low() <= -1021;
  }
  const std::size_t chains = byte_size(dtype) == 2 ? kChainsOfNarrowRow : kChainsOfBlock;
  const double sum = chained ? m.chain_sum(chains) : m.sum();
  if (row.term != Term::square) return sum >= a.overflow;
  return (chained ? sum * m.max() : m.sum_of_squares()) >= a.overflow;
}

/// The result, of which reduction_bound() asks for the magnitude: of exponentials what it is at most.
double result_of(const ReductionRow& row, const Magnitude& m) {
  const auto count = static_cast<double>(m.count());
  if (row.combine == Combine::product) return m.product();
  const double sum = row.term == Term::square ? m.sum_of_squares() : m.total();
  switch (row.finish) {
    case Finish::mean: return sum / count;
    case Finish::root: return std::sqrt(sum);
    case Finish::logarithm: return std::log(sum);
    case Finish::unshifted_logarithm: return std::fabs(m.greatest()) + std::log(count);
    case Finish::nothing: break;
  }
  return sum;
}

/// The sum that the result was made of.
double sum_behind(const ReductionRow& row, double result, double count) {
  if (row.finish == Finish::root) return result * result;
  return row.finish == Finish::mean ? result * count : result;
}

/// The least magnitude that rounds to infinity.
Real overflow_threshold(DType dtype) {
  const Real largest = largest_finite(dtype);
  return largest + ulp(dtype, static_cast<double>(largest)) / Real{2};
}

}  // namespace

void Magnitude::add(double x) noexcept {
  ++count_;
  total_ += x;
  top_ = std::max(top_, x);
  if (!std::isfinite(x)) {
    special_ = true;
    return;
  }
  pilots_.add(x);
  const double magnitude = std::fabs(x);
  sum_ += magnitude;
  sum_of_squares_ += magnitude * magnitude;
  max_ = std::max(max_, magnitude);
  zero_ = zero_ || magnitude == 0;
  if (magnitude == 0 || !keeps_products_) return;
  const double log2 = std::log2(magnitude);
  keep(log2 > 0 ? greatest_ : least_, std::fabs(log2));
  (log2 > 0 ? log2_high_ : log2_low_) += log2;
}

double Magnitude::chain_sum(std::size_t chains) const noexcept {
  const auto most = static_cast<double>(std::min(count_, static_cast<std::int64_t>(chains * kChain)));
  return std::min(sum_, max_ * most);
}

double Magnitude::product() const noexcept { return zero_ ? 0 : std::exp2(log2_high_ + log2_low_); }

double Magnitude::chain_log2_high() const noexcept { return heap_sum(greatest_); }
double Magnitude::chain_log2_low() const noexcept { return -heap_sum(least_); }

bool is_exact_reduction(const ReductionRow& row, DType dtype) noexcept {
  return is_extreme(row) || (!is_floating(dtype) && row.term != Term::exponential);
}

double reduction_bound(std::string_view reduction, const Magnitude& m, DType dtype) noexcept {
  const ReductionRow* const row = find_reduction(reduction);
  if (row == nullptr || is_exact_reduction(*row, dtype) || m.count() == 0) return 0;
  if (!is_floating(dtype)) return kUnit;
  const Arithmetic a = arithmetic_of(dtype, m.count());
  const bool decided = is_decided(*row, m);
  // Norms with an infinity or a NaN among their elements give just that, whatever overflows beside it.
  if (decided && (row->term == Term::magnitude || row->term == Term::square)) return 0;
  if (may_leave_range(*row, m, dtype, a)) return kInfinity;
  if (decided) return 0;
  const bool may_have_pilot = row->finish == Finish::mean && dtype != DType::f64;
  const double rounded = may_have_pilot ? std::max(m.sum(), m.pilot_deviations()) : m.sum();
  return reduction_bound(reduction, rounded, result_of(*row, m), m.count(), dtype);
}

double reduction_bound(std::string_view reduction, double sum_abs, double result, std::int64_t n,
                       DType dtype) noexcept {
  const ReductionRow* const row = find_reduction(reduction);
  if (row == nullptr || is_extreme(*row) || n == 0) return 0;
  const Arithmetic a = arithmetic_of(dtype, n);
  const auto count = static_cast<double>(n);
  if (row->combine == Combine::product) return (count + 2) * a.unit * std::fabs(result);
  const double error = row->term == Term::square
                           ? (a.terms + 1) * a.unit * sum_behind(*row, result, count) + count * a.half_least
                           : a.terms * a.unit * sum_abs;
  switch (row->finish) {
    case Finish::mean: return error / count;
    case Finish::root: return root_bound(result, error);
    case Finish::logarithm: return logarithm_bound(result, error, a.unit);
    case Finish::unshifted_logarithm: return log_sum_exp_bound(result, n, a);
    case Finish::nothing: break;
  }
  return error;
}

double rounding_of_errors(std::string_view reduction, std::int64_t n, DType dtype) noexcept {
  const ReductionRow* const row = find_reduction(reduction);
  if (row == nullptr || is_extreme(*row)) return 1;
  const Arithmetic a = arithmetic_of(dtype, n);
  return 1 + ((row->combine == Combine::product ? static_cast<double>(n) : a.terms) + 8) * a.unit;
}

bool agree(DType dtype, double expected, double got, double bound) noexcept {
  if (std::isinf(bound) || std::isnan(bound)) return true;
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
  if (bound == 0) return expected == got && std::signbit(expected) == std::signbit(got);
  if (!is_floating(dtype)) return std::fabs(expected - got) <= bound + 1;

  if (expected == got) return true;

  // What rounds to `expected` lies within half an ulp of it, or from the overflow threshold to infinity. Rounding is
  // monotone, so whatever lies within the bound of that rounds to something between the rounded ends.
  const bool overflowed = std::isinf(expected);
  const Real centre = overflowed ? std::copysign(overflow_threshold(dtype), Real{expected}) : Real{expected};
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
