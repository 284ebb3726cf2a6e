// SPDX-License-Identifier: Apache-2.0
//
// The gradients of elementwise ops, element by element, written once over a type of number (doubt.hpp): Real gives the
// reference, Doubt its bound. Only for the eval room.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>
#include <string_view>

#include "graph/eval/composite.hpp"
#include "graph/eval/doubt.hpp"
#include "graph/ir/attribute.hpp"

namespace tenfold::graph {

/// What an op's gradient depends on beside its operands.
struct GradientFacts {
  explicit GradientFacts(const Op& op)
      : kind(op.kind),
        by_dst(flag(op, "use_dst", true) && declares_use_dst(op.kind)),
        tanh_form(attribute_or<std::string>(op, "mode", "gelu_erf") == "gelu_tanh"),
        alpha(f32_attribute(op, "alpha")),
        beta(f32_attribute(op, "beta")),
        min(f32_attribute(op, "min")),
        max(f32_attribute(op, "max")) {}

  static bool declares_use_dst(std::string_view kind) {
    for (const std::string_view name :
         {"ClampBackward", "EluBackward", "ReLUBackward", "SigmoidBackward", "SqrtBackward", "TanhBackward"})
      if (name == kind) return true;
    return false;
  }

  std::string_view kind;
  bool by_dst;  ///< the first operand is what the op gave, not what it took
  bool tanh_form;
  double alpha, beta, min, max;
};

/// A constant that f32 rounds.
inline Real inexact(Real, Real constant) { return constant; }
template <bool kWide>
Doubt<kWide> inexact(Doubt<kWide>, Real constant) {
  return Doubt<kWide>::rounded(constant, 0);
}

inline Real limited(Real x, Real limit) { return std::isnan(x) ? x : std::min(std::max(x, -limit), limit); }
template <bool kWide>
Doubt<kWide> limited(Doubt<kWide> x, Real limit) {
  return {limited(x.value, limit), x.error};
}

/// `above` where x > bound, else `other`. Where x may be on either side of it, both may come out.
inline Real pick(Real x, Real bound, Real above, Real other) { return x > bound ? above : other; }
template <bool kWide>
Doubt<kWide> pick(Doubt<kWide> x, Real bound, Doubt<kWide> above, Doubt<kWide> other) {
  Doubt<kWide> chosen = x.value > bound ? above : other;
  if (x.error > 0 && !(std::fabs(x.value - bound) > Real{x.error}))
    chosen.error = std::max(above.error, other.error) + static_cast<double>(std::fabs(above.value - other.value));
  return chosen;
}

/// A monotone function; its published error is in units of the last place, each at most two roundings.
inline Real apply(std::string_view, Real (*function)(Real), Real x) { return function(x); }
template <bool kWide>
Doubt<kWide> apply(std::string_view name, Real (*function)(Real), Doubt<kWide> x) {
  const Real centre = function(x.value);
  // What nothing is stated of may be no number.
  if (std::isinf(x.error)) return {centre, Doubt<kWide>::kInfinity};
  const Real up = std::fabs(function(x.value + Real{x.error}) - centre);
  const Real down = std::fabs(function(x.value - Real{x.error}) - centre);
  const auto bound = x.error == 0 ? 0 : static_cast<double>(std::max(up, down));
  return Doubt<kWide>::rounded(centre, bound, 2 * find_function(name)->ulps + 1);
}

template <class T>
T logistic_of(T x) {
  return apply(
      "sigmoid", [](Real v) { return v >= 0 ? 1 / (1 + std::exp(-v)) : std::exp(v) / (1 + std::exp(v)); }, x);
}
template <class T>
T tanh_of(T x) {
  return apply(
      "tanh", [](Real v) { return std::tanh(v); }, x);
}
template <class T>
T softplus_of(T x) {
  return apply(
      "softplus", [](Real v) { return std::max<Real>(v, 0) + std::log1p(std::exp(-std::fabs(v))); }, x);
}

/// Beyond this the derivative of GELU is 0 or 1 in f32, and of Mish beyond its square.
inline constexpr Real kGeluLimit = 16;
inline constexpr Real kMishLimit = 128;

/// P(x) + x p(x), P and p being the normal distribution's.
template <class T>
T gelu_erf_slope(T wide) {
  const T x = limited(wide, kGeluLimit);
  // GELU(x) / x: one rounding more than GELU has.
  const T share = apply(
                      "gelu_erf", [](Real v) { return std::erfc(-v / std::numbers::sqrt2_v<Real>) / 2; }, x) *
                  T(Real{1});
  const T density =
      exponential(x * x * T(Real{-0.5L})) * inexact(x, std::numbers::inv_sqrtpi_v<Real> / std::numbers::sqrt2_v<Real>);
  return share + x * density;
}

/// With v = 2 sqrt(2 / pi) (x + 0.044715 x^3): s(v) (1 + x s(-v) v').
template <class T>
T gelu_tanh_slope(T wide) {
  const T x = limited(wide, kGeluLimit);
  const T factor = inexact(x, 2 * std::numbers::sqrt2_v<Real> * std::numbers::inv_sqrtpi_v<Real>);
  const T square = x * x;
  const T v = x * (square * inexact(x, 0.044715L) + T(Real{1})) * factor;
  const T slope = (square * inexact(x, 3 * 0.044715L) + T(Real{1})) * factor;
  return logistic_of(v) * (x * logistic_of(T(Real{0}) - v) * slope + T(Real{1}));
}

/// With t = tanh(softplus(x)) and n = s(-x): t + x s(x) 4 n^2 / (1 + n^2)^2, the last factor being 1 - t^2.
template <class T>
T mish_slope(T wide) {
  const T x = limited(wide, kMishLimit);
  const T n = logistic_of(T(Real{0}) - x);
  const T square = n * n;
  const T sum = square + T(Real{1});
  return x * logistic_of(x) * (square * T(Real{4}) / (sum * sum)) + tanh_of(softplus_of(x));
}

/// diff_src of one element: `x` is what the op took, or gave under `by_dst`; `d` is diff_dst.
template <class T>
T gradient(const GradientFacts& f, T x, T d) {
  const T zero(Real{0});
  const T one(Real{1});
  if (f.kind == "AbsBackward") return pick(x, 0, d, pick(zero - x, 0, zero - d, zero));
  if (f.kind == "ReLUBackward") return pick(x, 0, d, zero);
  if (f.kind == "ClampBackward") return pick(x, f.min, pick(zero - x, -Real{f.max}, d, zero), zero);
  if (f.kind == "EluBackward")
    return pick(x, 0, d, d * (f.by_dst ? x + T(Real{f.alpha}) : exponential(x) * T(Real{f.alpha})));
  if (f.kind == "GELUBackward") return d * (f.tanh_form ? gelu_tanh_slope(x) : gelu_erf_slope(x));
  if (f.kind == "HardSigmoidBackward") {
    const T line = x * T(Real{f.alpha}) + T(Real{f.beta});
    return pick(line, 0, pick(zero - line, -1, d * T(Real{f.alpha}), zero), zero);
  }
  if (f.kind == "HardSwishBackward") {
    const T slope = (x * T(Real{2}) + T(Real{3})) / T(Real{6});
    return pick(x, -3, pick(zero - x, -3, d * slope, d), zero);
  }
  if (f.kind == "MishBackward") return d * mish_slope(x);
  if (f.kind == "SigmoidBackward") return f.by_dst ? d * (x * (one - x)) : d * (logistic_of(x) * logistic_of(zero - x));
  if (f.kind == "SoftPlusBackward") return d * logistic_of(x * T(Real{f.beta}));
  if (f.kind == "SqrtBackward") return d / ((f.by_dst ? x : root(x)) * T(Real{2}));
  if (f.by_dst) return d * ((one - x) * (one + x));
  const T twice = x * T(Real{2});
  return d * (logistic_of(twice) * logistic_of(zero - twice) * T(Real{4}));
}

}  // namespace tenfold::graph
