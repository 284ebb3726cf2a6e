// SPDX-License-Identifier: Apache-2.0
//
// Reductions: one row a reduction, in compensated long double for reals and in wide integers for integers.
#include <cmath>
#include <limits>

#include "graph/eval/evaluate_op.hpp"
#include "graph/eval/shapes.hpp"
#include "graph/eval/walk.hpp"

namespace tenfold::graph {
namespace {

enum class Term : std::uint8_t { value, magnitude, square };
enum class Combine : std::uint8_t { sum, product, maximum, minimum };
enum class Finish : std::uint8_t { nothing, mean, root };

struct ReductionRow {
  std::string_view name;
  Term term;
  Combine combine;
  Finish finish;
};

constexpr ReductionRow kReductions[] = {
    {"l1", Term::magnitude, Combine::sum, Finish::nothing},  {"l2", Term::square, Combine::sum, Finish::root},
    {"max", Term::value, Combine::maximum, Finish::nothing}, {"mean", Term::value, Combine::sum, Finish::mean},
    {"min", Term::value, Combine::minimum, Finish::nothing}, {"prod", Term::value, Combine::product, Finish::nothing},
    {"sum", Term::value, Combine::sum, Finish::nothing},
};

const ReductionRow* find_reduction(std::string_view name) noexcept {
  for (const ReductionRow& row : kReductions)
    if (row.name == name) return &row;
  return nullptr;
}

Real term_of(Term term, Real x) {
  if (term == Term::square) return x * x;
  return term == Term::magnitude ? std::fabs(x) : x;
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
  explicit RealReducer(const ReductionRow& row) : row_(row) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    extreme_ = row.combine == Combine::maximum ? -kInfinity : kInfinity;
  }
  void add(Real x) {
    ++count_;
    x = term_of(row_.term, x);
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
    if (row_.finish == Finish::mean) return sum_.value() / static_cast<Real>(count_);
    return row_.finish == Finish::root ? std::sqrt(sum_.value()) : sum_.value();
  }

 private:
  const ReductionRow& row_;
  CompensatedSum sum_;
  ScaledProduct product_;
  double extreme_ = 0;
  std::int64_t count_ = 0;
};

/// Sums and products wrap at the output's width when they are stored; the mean divides the wrapped sum and truncates.
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
  Integer finish() const {
    if (row_.finish == Finish::root) return static_cast<Integer>(std::sqrt(static_cast<Real>(state_)));
    if (row_.finish != Finish::mean) return state_;
    if (count_ == 0) return 0;
    std::uint64_t slot = 0;
    store_integer(dtype_, &slot, 0, state_);
    return load_integer(dtype_, &slot, 0) / count_;
  }

 private:
  const ReductionRow& row_;
  DType dtype_;
  Integer state_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace

bool is_reduction(std::string_view name) noexcept { return find_reduction(name) != nullptr; }

Status evaluate_reduce(const Op& op, std::string_view reduction, std::span<const ConstTensor> inputs,
                       const MutableTensor& output) {
  const ReductionRow* row = find_reduction(reduction);
  if (row == nullptr) return fail(op, Code::invalid_op, "there is no reduction '" + std::string(reduction) + "'");
  Result<ReducePlan> planned = plan_reduce(op, inputs);
  if (!planned.ok()) return planned.status();
  const ReducePlan& plan = planned.value();
  const ConstTensor& input = inputs[0];
  if (Status s = expect_shape(op, output, plan.output); !s.ok()) return s;
  if (plan.identity) return evaluate_copy(op, input, output);

  const DType from = input.desc.dtype;
  const DType to = output.desc.dtype;
  const bool integral = is_integral(from) && is_integral(to);
  const std::array<Dims, 2> outer{plan.kept_strides, plan.output_strides(output.desc)};
  const std::array<Dims, 1> inner{plan.reduced_strides};
  walk(plan.kept, outer, [&](const auto& at) {
    if (integral) {
      IntegerReducer reducer(*row, to);
      walk(plan.reduced, inner,
           [&](const auto& step) { reducer.add(load_integer(from, input.data, at[0] + step[0])); });
      store_integer(to, output.data, at[1], reducer.finish());
    } else {
      RealReducer reducer(*row);
      walk(plan.reduced, inner, [&](const auto& step) { reducer.add(load_exact(from, input.data, at[0] + step[0])); });
      store_rounded(to, output.data, at[1], reducer.finish());
    }
  });
  return {};
}

}  // namespace tenfold::graph
