// SPDX-License-Identifier: Apache-2.0
#include "graph/eval/formulas.hpp"

#include <cmath>
#include <numbers>

#include "graph/eval/functions.hpp"

namespace tenfold::graph {
namespace {

/// Through unsigned, where overflow wraps.
using Wide = unsigned __int128;

/// No dtype is wider than this.
constexpr Integer kWidest = 64;

template <class T>
T logistic(T x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const T e = std::exp(x);
  return e / (1 + e);
}

/// 1 + erf cancels for negative x.
template <class T>
T gelu_by_erfc(T x) {
  return x / 2 * std::erfc(-x / std::numbers::sqrt2_v<T>);
}

/// 1 + tanh u = 2 logistic(2u), for the same reason.
template <class T>
T gelu_by_logistic(T x) {
  constexpr auto kSqrtTwoByPi = static_cast<T>(0.797884560802865355879892119868763737L);
  return x * logistic(2 * kSqrtTwoByPi * (x + static_cast<T>(0.044715L) * x * x * x));
}

template <class T>
T log_of_exp(T x, T beta) {
  const T z = beta * x;
  return ((z > 0 ? z : 0) + std::log1p(std::exp(-std::fabs(z)))) / beta;
}

template <class T>
T mish_of(T x) {
  return x * std::tanh(log_of_exp(x, T{1}));
}

template <class T>
T swish_of(T x, T alpha) {
  return x * logistic(alpha * x);
}

template <class T>
T celu_of(T x, T alpha) {
  return x < 0 ? alpha * std::expm1(x / alpha) : x;
}

}  // namespace

double sigmoid(double x) noexcept { return logistic(x); }

double gelu_erf(double x, DType dtype) noexcept {
  return dtype == DType::f64 ? static_cast<double>(gelu_by_erfc(Real{x})) : gelu_by_erfc(x);
}

double gelu_tanh(double x, DType dtype) noexcept {
  return dtype == DType::f64 ? static_cast<double>(gelu_by_logistic(Real{x})) : gelu_by_logistic(x);
}

double softplus(double x, double beta, DType dtype) noexcept {
  return dtype == DType::f64 ? static_cast<double>(log_of_exp(Real{x}, Real{beta})) : log_of_exp(x, beta);
}

double mish(double x, DType dtype) noexcept {
  return dtype == DType::f64 ? static_cast<double>(mish_of(Real{x})) : mish_of(x);
}

double swish(double x, double alpha, DType dtype) noexcept {
  return dtype == DType::f64 ? static_cast<double>(swish_of(Real{x}, Real{alpha})) : swish_of(x, alpha);
}

double celu(double x, double alpha, DType dtype) noexcept {
  return dtype == DType::f64 ? static_cast<double>(celu_of(Real{x}, Real{alpha})) : celu_of(x, alpha);
}

double clamp(double x, double low, double high) noexcept { return ieee_minimum(ieee_maximum(x, low), high); }

/// The fraction of a double below 2^52 is exact, and there is none above.
double round_even(double x) noexcept {
  const double below = std::floor(x);
  const double rest = x - below;
  if (!(std::fabs(x) < 0x1p52) || rest == 0) return x;
  const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(below, 2.0) != 0);
  return std::copysign(up ? below + 1 : below, x);
}

double sign_of(double x) noexcept {
  if (std::isnan(x)) return x;
  return x > 0 ? 1 : x < 0 ? -1 : 0;
}

double floored_remainder(double x, double divisor) noexcept {
  const double rest = std::fmod(x, divisor);
  if (rest == 0) return std::copysign(rest, divisor);
  return (rest < 0) != (divisor < 0) ? rest + divisor : rest;
}

Integer wrapping_add(Integer a, Integer b) noexcept {
  return static_cast<Integer>(static_cast<Wide>(a) + static_cast<Wide>(b));
}

Integer wrapping_subtract(Integer a, Integer b) noexcept {
  return static_cast<Integer>(static_cast<Wide>(a) - static_cast<Wide>(b));
}

Integer wrapping_multiply(Integer a, Integer b) noexcept {
  return static_cast<Integer>(static_cast<Wide>(a) * static_cast<Wide>(b));
}

Integer quotient(Integer a, Integer b) noexcept { return b == 0 ? 0 : a / b; }

Integer remainder_of(Integer a, Integer b, bool truncated) noexcept {
  if (b == 0) return 0;
  const Integer rest = a % b;
  if (truncated || rest == 0 || (rest < 0) == (b < 0)) return rest;
  return rest + b;
}

Integer integer_power(Integer x, Integer n) noexcept {
  if (n < 0) {
    if (x != 1 && x != -1) return 0;
    n = -n;
  }
  Integer result = 1;
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) result = wrapping_multiply(result, x);
    x = wrapping_multiply(x, x);
  }
  return result;
}

Integer shifted(Integer x, Integer count, bool left) noexcept {
  if (count < 0) return 0;
  if (left) return count >= kWidest ? 0 : static_cast<Integer>(static_cast<Wide>(x) << static_cast<int>(count));
  return x >> static_cast<int>(count < kWidest ? count : kWidest);
}

}  // namespace tenfold::graph
