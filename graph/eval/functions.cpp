// SPDX-License-Identifier: Apache-2.0
//
// Scalar functions in double, in the form of their formula that neither cancels nor overflows on the way.
#include "graph/eval/functions.hpp"

#include <cmath>
#include <numbers>

namespace tenfold::graph {
namespace {

using P = const Parameters&;
using X = const double*;
using I = const Integer*;

double sigmoid(double x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const double e = std::exp(x);
  return e / (1 + e);
}

/// 0.5 x (1 + erf(x / sqrt 2)), by erfc: 1 + erf cancels for negative x.
double gelu_erf(double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }

/// 0.5 x (1 + tanh u) with u = sqrt(2 / pi) (x + 0.044715 x^3), by 1 + tanh u = 2 sigmoid(2u) for the same reason.
double gelu_tanh(double x) {
  constexpr double kSqrtTwoByPi = 0.79788456080286535588;
  return x * sigmoid(2 * kSqrtTwoByPi * (x + 0.044715 * x * x * x));
}

double softplus(double x, double beta) {
  const double z = beta * x;
  return ((z > 0 ? z : 0) + std::log1p(std::exp(-std::fabs(z)))) / beta;
}

double clamp(double x, double low, double high) { return ieee_minimum(ieee_maximum(x, low), high); }

/// Half to even; the fraction of a double below 2^52 is exact, and there is none above.
double round_even(double x) {
  const double below = std::floor(x);
  const double rest = x - below;
  if (!(std::fabs(x) < 0x1p52) || rest == 0) return x;
  const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(below, 2.0) != 0);
  return std::copysign(up ? below + 1 : below, x);
}

/// Through unsigned, where overflow wraps.
using Wide = unsigned __int128;
Integer wrap(Wide value) { return static_cast<Integer>(value); }
Wide wide(Integer value) { return static_cast<Wide>(value); }

// Sorted by arity, then name.
constexpr FunctionRow kFunctions[] = {
    {"abs", 1, kNothing, [](X x, P) { return std::fabs(x[0]); },
     [](I x) { return x[0] < 0 ? wrap(Wide{0} - wide(x[0])) : x[0]; }},
    {"clamp", 1, kMinMax, [](X x, P p) { return clamp(x[0], p.min, p.max); }, nullptr},
    {"elu", 1, kAlpha, [](X x, P p) { return x[0] < 0 ? p.alpha * std::expm1(x[0]) : x[0]; }, nullptr},
    {"exp", 1, kNothing, [](X x, P) { return std::exp(x[0]); }, nullptr},
    {"gelu_erf", 1, kNothing, [](X x, P) { return gelu_erf(x[0]); }, nullptr},
    {"gelu_tanh", 1, kNothing, [](X x, P) { return gelu_tanh(x[0]); }, nullptr},
    {"hardsigmoid", 1, kAlpha | kBeta, [](X x, P p) { return clamp(p.alpha * x[0] + p.beta, 0, 1); }, nullptr},
    {"hardswish", 1, kNothing, [](X x, P) { return x[0] * clamp(x[0] + 3, 0, 6) / 6; }, nullptr},
    {"leakyrelu", 1, kAlpha, [](X x, P p) { return x[0] >= 0 ? x[0] : p.alpha * x[0]; }, nullptr},
    {"log", 1, kNothing, [](X x, P) { return std::log(x[0]); }, nullptr},
    {"mish", 1, kNothing, [](X x, P) { return x[0] * std::tanh(softplus(x[0], 1)); }, nullptr},
    {"pow", 1, kBeta, [](X x, P p) { return std::pow(x[0], p.beta); }, nullptr},
    {"reciprocal", 1, kNothing, [](X x, P) { return 1 / x[0]; }, nullptr},
    {"relu", 1, kNothing, [](X x, P) { return ieee_maximum(x[0], 0); }, [](I x) { return x[0] > 0 ? x[0] : 0; }},
    {"round", 1, kNothing, [](X x, P) { return round_even(x[0]); }, nullptr},
    {"sigmoid", 1, kNothing, [](X x, P) { return sigmoid(x[0]); }, nullptr},
    {"softplus", 1, kNothing, [](X x, P p) { return softplus(x[0], p.beta); }, nullptr},
    {"sqrt", 1, kNothing, [](X x, P) { return std::sqrt(x[0]); }, nullptr},
    {"square", 1, kNothing, [](X x, P) { return x[0] * x[0]; }, [](I x) { return wrap(wide(x[0]) * wide(x[0])); }},
    {"tanh", 1, kNothing, [](X x, P) { return std::tanh(x[0]); }, nullptr},
    {"add", 2, kNothing, [](X x, P) { return x[0] + x[1]; }, [](I x) { return wrap(wide(x[0]) + wide(x[1])); }},
    {"div", 2, kNothing, [](X x, P) { return x[0] / x[1]; }, nullptr},
    {"greater_equal", 2, kNothing, [](X x, P) { return x[0] >= x[1] ? 1.0 : 0.0; },
     [](I x) { return static_cast<Integer>(x[0] >= x[1]); }},
    {"max", 2, kNothing, [](X x, P) { return ieee_maximum(x[0], x[1]); },
     [](I x) { return x[0] < x[1] ? x[1] : x[0]; }},
    {"min", 2, kNothing, [](X x, P) { return ieee_minimum(x[0], x[1]); },
     [](I x) { return x[1] < x[0] ? x[1] : x[0]; }},
    {"mul", 2, kNothing, [](X x, P) { return x[0] * x[1]; }, [](I x) { return wrap(wide(x[0]) * wide(x[1])); }},
    {"prelu", 2, kNothing, [](X x, P) { return x[0] >= 0 ? x[0] : x[0] * x[1]; }, nullptr},
    {"squared_difference", 2, kNothing, [](X x, P) { return (x[0] - x[1]) * (x[0] - x[1]); },
     [](I x) {
       const Wide d = wide(x[0]) - wide(x[1]);
       return wrap(d * d);
     }},
    {"sub", 2, kNothing, [](X x, P) { return x[0] - x[1]; }, [](I x) { return wrap(wide(x[0]) - wide(x[1])); }},
};

}  // namespace

double ieee_maximum(double a, double b) noexcept {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

double ieee_minimum(double a, double b) noexcept {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

std::span<const FunctionRow> all_functions() noexcept { return kFunctions; }

const FunctionRow* find_function(std::string_view name) noexcept {
  for (const FunctionRow& row : kFunctions)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace tenfold::graph
