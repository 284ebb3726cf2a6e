// SPDX-License-Identifier: Apache-2.0
//
// Bounds of single functions. A function's own error counts in units of its result's last place (functions.hpp); since
// these do not shrink below the normal range, a result that underflows has the same room there. Half a unit more lets
// such a result be rounded twice.
#include "graph/eval/bound_function.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace tenfold::graph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The reference is in double itself: 2 for the library's hyperbolic functions, and the roundings of the formulas.
constexpr double kReferenceUlps = 4;

/// How far a function goes from its value when each argument moves to either end of its interval.
class Corners {
 public:
  /// `moved` is room for the arguments.
  Corners(const FunctionRow& function, const Parameters& parameters, std::span<const double> x,
          std::span<const double> error, std::span<double> moved)
      : function_(function),
        parameters_(parameters),
        x_(x),
        error_(error),
        moved_(moved),
        value_(function.real(x, parameters)) {}

  /// Over all places of the arguments from `k` on.
  void visit(std::size_t k = 0) {
    if (k == x_.size()) return meet(function_.real(moved_.first(x_.size()), parameters_));
    // What does not move stays where it is; a zero does, for it has two signs.
    const bool moves = error_[k] != 0 || x_[k] == 0;
    moved_[k] = x_[k];
    if (!moves) return visit(k + 1);
    for (const double end : {-1.0, 0.0, 1.0}) {
      moved_[k] = x_[k] + end * error_[k];
      visit(k + 1);
    }
  }
  double furthest() const { return furthest_; }

 private:
  void meet(double there) {
    if (!(std::isnan(there) && std::isnan(value_)) && there != value_)
      furthest_ = std::isnan(there - value_) ? kInfinity : std::max(furthest_, std::fabs(there - value_));
    // Rounded to whole numbers, 0.1 and -0.1 are zeros of two signs, and a bound of 0 would ask for one of them.
    if (there == 0 && value_ == 0 && std::signbit(there) != std::signbit(value_))
      furthest_ = std::max(furthest_, std::numeric_limits<double>::denorm_min());
  }

  const FunctionRow& function_;
  const Parameters& parameters_;
  std::span<const double> x_, error_;
  std::span<double> moved_;
  double value_;
  double furthest_ = 0;
};

/// The table's functions are monotone in each argument but near their minima. This is done for each element: the few
/// arguments that most functions have take no memory.
double furthest_corner(const FunctionRow& function, const Parameters& parameters, std::span<const double> x,
                       std::span<const double> error) {
  std::array<double, 4> few{};
  std::vector<double> many(x.size() <= few.size() ? 0 : x.size());
  Corners corners(function, parameters, x, error, many.empty() ? std::span<double>(few) : std::span<double>(many));
  corners.visit();
  return corners.furthest();
}

/// Whether the argument that has a pole at 0 may be on either side of it.
bool may_cross_pole(const FunctionRow& function, std::span<const double> x, std::span<const double> error) {
  const bool divides = function.name == "div" || function.name == "reciprocal";
  if (!divides && function.name != "pow") return false;
  // A negative base has powers of whole numbers alone, and of -0 the odd ones are negative.
  if (!divides && std::signbit(x[0] - error[0]) && error[1] > 0) return true;
  // Anything to the power of 0 is 1: infinity and 0 are not next to it on either side.
  if (!divides && error[1] > 0 && std::fabs(x[1]) <= error[1] && (!std::isfinite(x[0]) || x[0] == 0)) return true;
  const std::size_t k = divides ? x.size() - 1 : 0;
  return error[k] > 0 && std::fabs(x[k]) <= error[k];
}

double spread(const FunctionRow& function, const Parameters& parameters, std::span<const double> x,
              std::span<const double> error) {
  const double sum = std::accumulate(error.begin(), error.end(), 0.0);
  if (sum == 0) return 0;
  // A NaN with an error may be a number: the root of what is just below 0. So may an infinity: what just overflows.
  for (std::size_t k = 0; k < x.size(); ++k)
    if (!std::isfinite(x[k]) && error[k] > 0) return kInfinity;
  switch (function.course) {
    case Course::monotone:
      return may_cross_pole(function, x, error) ? kInfinity : furthest_corner(function, parameters, x, error);
    case Course::gentle: return sum;
    case Course::wild: break;
  }
  return kInfinity;
}

/// A sum of two is the correctly rounded one. Longer sums, and means, may be folded one by one.
double fold_bound(const FunctionRow& function, DType arithmetic, std::span<const double> x) {
  const bool mean = function.name == "mean_of";
  if ((!mean && function.name != "add") || x.size() < (mean ? 2 : 3)) return 0;
  double sum_abs = 0;
  for (const double value : x)
    if (std::isfinite(value)) sum_abs += std::fabs(value);
  const bool wide = arithmetic == DType::f64;
  // What overflows on the way makes a NaN of an infinity that follows.
  if (sum_abs >= (wide ? 0x1p1023 : 0x1p127)) return kInfinity;
  if (std::any_of(x.begin(), x.end(), [](double value) { return !std::isfinite(value); })) return 0;
  const auto count = static_cast<double>(x.size());
  const double bound = (count + 1) * (wide ? 0x1p-53 : 0x1p-24) * sum_abs;
  return mean ? bound / count : bound;
}

/// Zeros and infinities that follow from zeros and infinities.
bool is_special(std::span<const double> x, double value) {
  if (std::isnan(value)) return true;
  if (value != 0 && std::isfinite(value)) return false;
  return std::any_of(x.begin(), x.end(), [](double argument) { return argument == 0 || std::isinf(argument); });
}

/// What the function adds when its value is off by `inherited` already.
double own_bound(const FunctionRow& function, const Parameters& parameters, const Precision& precision,
                 std::span<const double> x, double inherited) {
  const DType arithmetic = precision.arithmetic;
  // One correct rounding to f32 gives the reference's bits, where no rounding to 16 bits follows.
  const bool exact = function.ulps == 0 || (function.ulps <= 0.5 && byte_size(precision.result) != 2);
  if (exact && !precision.by_reciprocal) return 0;
  const double value = function.real(x, parameters);
  // A zero that may be off is no special argument: at its other end the function rounds.
  if (std::isnan(value) || (inherited == 0 && is_special(x, value))) return 0;
  if (exact) return std::fabs(value) < 0x1p-125 ? 0x1p-149 : ulp(arithmetic, value) * 0x1p-20;
  const bool wide = arithmetic == DType::f64;
  const double units = wide ? function.ulps + kReferenceUlps : ulps_of(function, precision.result);
  if (std::isinf(value)) return wide ? units * ulp(arithmetic, std::numeric_limits<double>::max()) : 0;
  double scale = std::fabs(value) + inherited;
  // Its sum may cancel.
  if (function.name == "hardsigmoid") scale += std::fabs(parameters.beta);
  const double bound = units * ulp(arithmetic, scale) + (wide ? 0x1p-1074 : 0x1p-150);
  const bool overflows = is_floating(precision.result) &&
                         std::isinf(round_to(precision.result, Real{std::fabs(value)} - bound - inherited));
  return overflows ? 0 : bound;
}

}  // namespace

bool may_wrap(DType dtype, double value, double error) {
  if (!is_integral(dtype) || dtype == DType::boolean || error == 0) return false;
  const bool is_signed = row(dtype).kind == DTypeKind::signed_integer;
  const double period = std::ldexp(1.0, row(dtype).bits), least = is_signed ? -period / 2 : 0;
  return std::floor((value - error - least) / period) != std::floor((value + error - least) / period);
}

double function_bound(const FunctionRow& function, const Parameters& parameters, const Precision& precision,
                      std::span<const double> x, std::span<const double> error) {
  const double inherited = spread(function, parameters, x, error);
  if (!std::isfinite(inherited)) return inherited;
  if (precision.arithmetic == DType::undef) {
    // Functions of bits, which have no value in reals, are wild: what is off makes them off by anything.
    const bool wraps = inherited > 0 && may_wrap(precision.result, function.real(x, parameters), inherited);
    return wraps ? kInfinity : inherited;
  }
  return inherited + own_bound(function, parameters, precision, x, inherited) +
         fold_bound(function, precision.arithmetic, x);
}

}  // namespace tenfold::graph
