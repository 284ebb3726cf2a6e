// SPDX-License-Identifier: Apache-2.0
//
// Reductions by their rows, in compensated long double for reals and in wide integers for integers.
#include <cmath>
#include <limits>

#include "graph/eval/evaluate_op.hpp"
#include "graph/eval/reduction_row.hpp"
#include "graph/eval/shapes.hpp"
#include "graph/eval/walk.hpp"

namespace tenfold::graph {
namespace {

constexpr ReductionRow kGreatest{"", Term::value, Combine::maximum, Finish::nothing};

/// Of one element, where there are no axes to reduce: nothing is added to it, so that -0 stays, and a root takes no
/// square that wraps.
ReductionRow of_one(const ReductionRow& row) {
  if (row.finish == Finish::root) return {row.name, Term::magnitude, Combine::maximum, Finish::nothing};
  const bool is_itself = row.term == Term::value && (row.finish == Finish::nothing || row.finish == Finish::mean);
  return is_itself ? ReductionRow{row.name, Term::value, Combine::maximum, Finish::nothing} : row;
}

Real term_of(Term term, Real x, Real shift) {
  switch (term) {
    case Term::square: return x * x;
    case Term::magnitude: return std::fabs(x);
    case Term::exponential: return std::exp(x - shift);
    case Term::value: break;
  }
  return x;
}

/// Through unsigned, where overflow wraps.
using Wide = unsigned __int128;

Integer term_of(Term term, Integer x) {
  if (term == Term::square) return static_cast<Integer>(static_cast<Wide>(x) * static_cast<Wide>(x));
  return term == Term::magnitude && x < 0 ? -x : x;
}

/// Neumaier's sum: `rest` gathers what each addition rounds away. It starts at +0, so that a sum of -0s is +0.
class CompensatedSum {
 public:
  void add(Real x) {
    const Real next = sum_ + x;
    rest_ += std::fabs(sum_) >= std::fabs(x) ? (sum_ - next) + x : (x - next) + sum_;
    sum_ = next;
  }
  /// The compensation of an infinite sum is NaN and means nothing.
  Real value() const { return std::isfinite(sum_) ? sum_ + rest_ : sum_; }

 private:
  Real sum_ = 0;
  Real rest_ = 0;
};

/// A product with its exponent apart, so that nothing overflows on the way to a result that does not.
class ScaledProduct {
 public:
  void multiply(Real x) {
    fraction_ *= x;
    // Far enough from long double's ends (2^16383) for any element to be multiplied next.
    const Real magnitude = std::fabs(fraction_);
    if (magnitude > 0x1p-8000L && magnitude < 0x1p8000L) return;
    if (!std::isfinite(fraction_) || fraction_ == 0) return;
    int exponent = 0;
    fraction_ = std::frexp(fraction_, &exponent);
    exponent_ += exponent;
  }
  Real value() const {
    constexpr std::int64_t kBeyond = 40000;
    if (exponent_ > kBeyond) return std::ldexp(fraction_, static_cast<int>(kBeyond));
    if (exponent_ < -kBeyond) return std::ldexp(fraction_, static_cast<int>(-kBeyond));
    return std::ldexp(fraction_, static_cast<int>(exponent_));
  }

 private:
  Real fraction_ = 1;
  std::int64_t exponent_ = 0;
};

class RealReducer {
 public:
  explicit RealReducer(const ReductionRow& row, Real shift = 0) : row_(row), shift_(shift) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    extreme_ = row.combine == Combine::maximum ? -kInfinity : kInfinity;
  }
  void add(Real x) {
    ++count_;
    x = term_of(row_.term, x, shift_);
    switch (row_.combine) {
      case Combine::sum: sum_.add(x); break;
      case Combine::product: product_.multiply(x); break;
      case Combine::maximum: extreme_ = ieee_maximum(extreme_, static_cast<double>(x)); break;
      case Combine::minimum: extreme_ = ieee_minimum(extreme_, static_cast<double>(x)); break;
    }
  }
  Real finish() const {
    switch (row_.combine) {
      case Combine::product: return product_.value();
      case Combine::maximum:
      case Combine::minimum: return extreme_;
      case Combine::sum: break;
    }
    switch (row_.finish) {
      case Finish::mean: return sum_.value() / static_cast<Real>(count_);
      case Finish::root: return std::sqrt(sum_.value());
      case Finish::logarithm: return std::log(sum_.value());
      case Finish::unshifted_logarithm: return shift_ + std::log(sum_.value());
      case Finish::nothing: break;
    }
    return sum_.value();
  }

 private:
  const ReductionRow& row_;
  Real shift_;
  CompensatedSum sum_;
  ScaledProduct product_;
  double extreme_ = 0;
  std::int64_t count_ = 0;
};

/// Sums and products wrap at the output's width when they are stored; the mean divides the wrapped sum and truncates.
/// Roots and logarithms are taken in double, of the sum wrapped at 64 bits (as NumPy's is), and truncated.
class IntegerReducer {
 public:
  IntegerReducer(const ReductionRow& row, DType dtype) : row_(row), dtype_(dtype) {
    if (row.combine == Combine::product) state_ = 1;
    if (row.combine == Combine::maximum) state_ = lowest_integer(dtype);
    if (row.combine == Combine::minimum) state_ = highest_integer(dtype);
  }
  void add(Integer x) {
    ++count_;
    const Integer value = term_of(row_.term, x);
    const auto state = static_cast<Wide>(state_);
    switch (row_.combine) {
      case Combine::sum: state_ = static_cast<Integer>(state + static_cast<Wide>(value)); break;
      case Combine::product: state_ = static_cast<Integer>(state * static_cast<Wide>(value)); break;
      case Combine::maximum: state_ = state_ < value ? value : state_; break;
      case Combine::minimum: state_ = value < state_ ? value : state_; break;
    }
  }
  Integer finish(DType to) const {
    switch (row_.finish) {
      case Finish::root: return to_integer(to, std::sqrt(wide_sum()));
      case Finish::logarithm: return to_integer(to, std::log(wide_sum()));
      case Finish::mean: return count_ == 0 ? 0 : wrapped(dtype_, state_) / count_;
      default: return state_;
    }
  }

 private:
  double wide_sum() const {
    const bool has_sign = row(dtype_).kind == DTypeKind::signed_integer;
    return static_cast<double>(wrapped(has_sign ? DType::s64 : DType::u64, state_));
  }

  const ReductionRow& row_;
  DType dtype_;
  Integer state_ = 0;
  std::int64_t count_ = 0;
};

/// One output's elements: `data` at the first of them.
class ReducedSet {
 public:
  ReducedSet(const ConstTensor& input, const ReducePlan& plan) : input_(input), plan_(plan) {}

  Integer integer(const ReductionRow& row, std::int64_t start, DType to) const {
    const DType from = input_.desc.dtype;
    if (row.term == Term::exponential) return to_integer(to, static_cast<double>(real(row, start)));
    IntegerReducer reducer(row, from);
    each(start, [&](std::int64_t at) { reducer.add(load_integer(from, input_.data, at)); });
    return reducer.finish(to);
  }

  /// An infinite or missing greatest element, or a NaN, is the result of a log_sum_exp.
  Real real(const ReductionRow& row, std::int64_t start) const {
    const bool shifts = row.term == Term::exponential;
    const Real shift = shifts ? real(kGreatest, start) : 0;
    if (!std::isfinite(shift)) return shift;
    RealReducer reducer(row, shift);
    each(start, [&](std::int64_t at) { reducer.add(load_exact(input_.desc.dtype, input_.data, at)); });
    return reducer.finish();
  }

 private:
  template <class Fn>
  void each(std::int64_t start, Fn fn) const {
    walk(plan_.reduced, std::array<Dims, 1>{plan_.reduced_strides}, [&](const auto& step) { fn(start + step[0]); });
  }

  const ConstTensor& input_;
  const ReducePlan& plan_;
};

}  // namespace

bool is_reduction(std::string_view name) noexcept { return find_reduction(name) != nullptr; }

Status evaluate_reduce(const Op& op, std::string_view reduction, std::span<const ConstTensor> inputs,
                       const MutableTensor& output) {
  const ReductionRow* found = find_reduction(reduction);
  if (found == nullptr) return fail(op, Code::invalid_op, "there is no reduction '" + std::string(reduction) + "'");
  Result<ReducePlan> planned = plan_reduce(op, inputs);
  if (!planned.ok()) return planned.status();
  const ReducePlan& plan = planned.value();
  const ConstTensor& input = inputs[0];
  if (Status s = expect_shape(op, output, plan.output); !s.ok()) return s;
  if (plan.identity) return evaluate_copy(op, input, output);

  const DType from = input.desc.dtype;
  const DType to = output.desc.dtype;
  const ReductionRow row = plan.reduced.empty() ? of_one(*found) : *found;
  const ReducedSet set(input, plan);
  walk(plan.kept, std::array<Dims, 2>{plan.kept_strides, plan.output_strides(output.desc)}, [&](const auto& at) {
    if (is_integral(from) && is_integral(to))
      store_integer(to, output.data, at[1], set.integer(row, at[0], to));
    else
      store_truncated(to, output.data, at[1], set.real(row, at[0]));
  });
  return {};
}

}  // namespace tenfold::graph
