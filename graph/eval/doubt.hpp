// SPDX-License-Identifier: Apache-2.0
//
// Numbers with a bound on their error. The ops of composite.hpp are written once, over a type of number: Real gives the
// reference, Doubt the bound on what a decomposition into core ops, each rounded to f32 (or f64), may be off by. Its
// arithmetic follows bound.cpp's: u a rounding, 17 u a sum in chains.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "graph/eval/element.hpp"
#include "graph/eval/functions.hpp"
#include "graph/eval/pilot.hpp"

namespace tenfold::graph {

/// `kWide`: all maths is in f64.
template <bool kWide>
struct Doubt {
  Real value = 0;
  double error = 0;

  static constexpr double kUnit = kWide ? 0x1p-52 : 0x1p-24;  ///< twice f64's, for the reference's own error
  static constexpr double kLeast = kWide ? 0x1p-1072 : 0x1p-148;
  static constexpr double kMost = kWide ? 0x1p1022 : 0x1p127;
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static double terms(std::size_t count) { return kWide ? static_cast<double>(count) + 2 : 17; }

  Doubt() = default;
  Doubt(Real exact) : value(exact) {}  // NOLINT(google-explicit-constructor): numbers mix with doubts
  Doubt(Real number, double bound) : value(number), error(bound) {}

  /// `number`, off by `bound` already, after `units` more roundings. Beyond the arithmetic's range nothing is stated,
  /// nor of what is made of that; an infinity or a NaN that inputs decided is exact.
  static Doubt rounded(Real number, double bound, double units = 1) {
    if (!std::isfinite(number)) return {number, std::isfinite(bound) ? 0 : kInfinity};
    const auto magnitude = static_cast<double>(std::fabs(number)) + bound;
    if (!(magnitude < kMost)) return {number, kInfinity};  // a NaN is no bound
    return {number, bound + units * kUnit * magnitude + kLeast};
  }
};

template <bool kWide>
Doubt<kWide> operator+(Doubt<kWide> a, Doubt<kWide> b) {
  return Doubt<kWide>::rounded(a.value + b.value, a.error + b.error);
}
template <bool kWide>
Doubt<kWide> operator-(Doubt<kWide> a, Doubt<kWide> b) {
  return Doubt<kWide>::rounded(a.value - b.value, a.error + b.error);
}
template <bool kWide>
Doubt<kWide> operator*(Doubt<kWide> a, Doubt<kWide> b) {
  const double x = static_cast<double>(std::fabs(a.value));
  const double y = static_cast<double>(std::fabs(b.value));
  // What nothing is stated of may be infinite, and so no number beside a zero.
  if (std::isinf(a.error) || std::isinf(b.error)) return {a.value * b.value, Doubt<kWide>::kInfinity};
  const auto off = [](double value, double error) { return error == 0 ? 0 : value * error; };
  return Doubt<kWide>::rounded(a.value * b.value, off(x, b.error) + off(y, a.error) + a.error * b.error);
}
template <bool kWide>
Doubt<kWide> operator/(Doubt<kWide> a, Doubt<kWide> b) {
  const Real quotient = a.value / b.value;
  const double least = static_cast<double>(std::fabs(b.value)) - b.error;
  if (b.error > 0 && !(least > 0)) return {quotient, Doubt<kWide>::kInfinity};
  const double bound = (a.error + static_cast<double>(std::fabs(quotient)) * b.error) / least;
  return Doubt<kWide>::rounded(quotient, a.error + b.error == 0 ? 0 : bound);
}

inline Real root(Real x) { return std::sqrt(x); }
inline Real exponential(Real x) { return std::exp(x); }
inline Real logarithm(Real x) { return std::log(x); }
inline Real magnitude(Real x) { return std::fabs(x); }
inline Real value_of(Real x) { return x; }

template <bool kWide>
Doubt<kWide> root(Doubt<kWide> x) {
  const Real centre = std::sqrt(x.value);
  const Real down = centre - std::sqrt(std::max<Real>(0, x.value - Real{x.error}));
  // Below, there may be less room than above: a root of 0 that should not be one.
  const Real up = std::sqrt(std::max<Real>(0, x.value + Real{x.error})) - centre;
  return Doubt<kWide>::rounded(centre, x.error == 0 ? 0 : static_cast<double>(std::max(down, up)));
}
/// Looks once; without a guard, which a forked child could find taken for ever.
inline double known_roundings(std::atomic<double>& known, const char* function) {
  if (known.load(std::memory_order_relaxed) == 0)
    known.store(2 * find_function(function)->ulps + 1, std::memory_order_relaxed);
  return known.load(std::memory_order_relaxed);
}
/// The roundings that the published error of a function comes to: units in the last place are at most two each.
inline double exponential_roundings() {
  static std::atomic<double> known;
  return known_roundings(known, "exp");
}
inline double logarithm_roundings() {
  static std::atomic<double> known;
  return known_roundings(known, "log");
}

template <bool kWide>
Doubt<kWide> exponential(Doubt<kWide> x) {
  const Real centre = std::exp(x.value);
  if (std::isinf(x.error)) return {centre, Doubt<kWide>::kInfinity};
  if (std::isinf(x.value)) return {centre, 0};
  // e^error - 1 <= error (1 + error) up to 1.
  const bool little = x.error < 0x1p-8;
  const Real up = little ? centre * Real{x.error * (1 + x.error)} : std::exp(x.value + Real{x.error}) - centre;
  return Doubt<kWide>::rounded(centre, static_cast<double>(up), exponential_roundings());
}
template <bool kWide>
Doubt<kWide> logarithm(Doubt<kWide> x) {
  const Real centre = std::log(x.value);
  if (x.error > 0 && !(Real{x.error} < x.value)) return {centre, Doubt<kWide>::kInfinity};
  const Real down = x.error == 0 ? 0 : -std::log1p(-Real{x.error} / x.value);
  return Doubt<kWide>::rounded(centre, static_cast<double>(down), logarithm_roundings());
}
template <bool kWide>
Doubt<kWide> magnitude(Doubt<kWide> x) {
  return {std::fabs(x.value), x.error};
}
template <bool kWide>
Real value_of(Doubt<kWide> x) {
  return x.value;
}

/// What a norm divides by in place of a zero: 1. Of a zero that roundings may have left otherwise, nothing is stated.
inline Real one_for(Real) { return 1; }
template <bool kWide>
Doubt<kWide> one_for(Doubt<kWide> zero) {
  // Roots of the least error of squares are below it.
  constexpr double kExact = 0x1p-64;
  return {Real{1}, zero.error < kExact ? 0 : Doubt<kWide>::kInfinity};
}

inline Real total(const std::vector<Real>& terms) {
  Real sum = 0;
  for (const Real term : terms) sum += term;
  return sum;
}
/// The mean of no terms is NaN.
inline Real average(const std::vector<Real>& terms) { return total(terms) / static_cast<Real>(terms.size()); }

/// A sum, chained and then in f64, and rounded once to what it is stored as.
/// `deviations`: what f32 may round in place of the terms' magnitudes.
template <bool kWide>
Doubt<kWide> total(const std::vector<Doubt<kWide>>& terms, double deviations = 0) {
  Real sum = 0;
  double magnitudes = 0, errors = 0;
  for (const Doubt<kWide>& term : terms) {
    sum += term.value;
    if (std::isfinite(term.value)) magnitudes += static_cast<double>(std::fabs(term.value));
    errors += term.error;
  }
  const double rounded = std::max(magnitudes, deviations) + errors;
  const double bound = errors + Doubt<kWide>::terms(terms.size()) * Doubt<kWide>::kUnit * rounded;
  // An overflow on the way would spoil even what an infinity decides.
  if (!(magnitudes + errors < Doubt<kWide>::kMost)) return {sum, Doubt<kWide>::kInfinity};
  return bound == 0 ? Doubt<kWide>(sum) : Doubt<kWide>::rounded(sum, bound);
}
template <bool kWide>
Doubt<kWide> average(const std::vector<Doubt<kWide>>& terms, double deviations = 0) {
  const Doubt<kWide> sum = total(terms, deviations);
  const auto count = static_cast<Real>(terms.size());
  return Doubt<kWide>::rounded(sum.value / count, sum.error / static_cast<double>(terms.size()));
}

/// That of a row, beside its variance (pilot.hpp).
inline Real average_by_pilot(const std::vector<Real>& terms) { return average(terms); }
template <bool kWide>
Doubt<kWide> average_by_pilot(const std::vector<Doubt<kWide>>& terms) {
  PilotDeviations deviations;
  for (const Doubt<kWide>& term : terms)
    if (std::isfinite(term.value)) deviations.add(static_cast<double>(term.value));
  return average(terms, kWide ? 0 : deviations.most());
}

/// IEEE 754-2019 maximum, -inf of no terms. Of doubts: none of them exceeds it by more than the greatest error.
template <class T>
T greatest(const std::vector<T>& terms) {
  T extreme(-std::numeric_limits<Real>::infinity());
  for (const T& term : terms)
    if (std::isnan(value_of(term)) || value_of(term) > value_of(extreme)) {
      extreme = term;
      if (std::isnan(value_of(term))) break;
    }
  return extreme;
}
template <bool kWide>
Doubt<kWide> greatest(const std::vector<Doubt<kWide>>& terms) {
  std::vector<Real> values;
  double error = 0;
  for (const Doubt<kWide>& term : terms) {
    values.push_back(term.value);
    error = std::max(error, term.error);
  }
  return {greatest(values), error};
}

}  // namespace tenfold::graph
