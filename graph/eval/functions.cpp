// SPDX-License-Identifier: Apache-2.0
//
// The rows; formulas of more than a line are in formulas.cpp. Functions of any number of arguments fold them from left
// to right.
#include "graph/eval/functions.hpp"

#include <cmath>

#include "graph/eval/element.hpp"
#include "graph/eval/formulas.hpp"

namespace tenfold::graph {
namespace {

using P = const Parameters&;
using X = std::span<const double>;
using I = std::span<const Integer>;

constexpr Arity kOne{1, 1};
constexpr Arity kTwo{2, 2};
constexpr Arity kAny{1, kAnyNumber};
constexpr Course kMono = Course::monotone;
constexpr Course kGentle = Course::gentle;
constexpr Course kWild = Course::wild;
constexpr bool kBrief = true;

double real(bool truth) { return truth ? 1 : 0; }

double sum_of(X x) {
  double sum = x[0];
  for (const double term : x.subspan(1)) sum += term;
  return sum;
}

Integer sum_of(I x) {
  Integer sum = x[0];
  for (const Integer term : x.subspan(1)) sum = wrapping_add(sum, term);
  return sum;
}

double greatest_of(X x) {
  double greatest = x[0];
  for (const double value : x.subspan(1)) greatest = ieee_maximum(greatest, value);
  return greatest;
}

Integer greatest_of(I x) {
  Integer greatest = x[0];
  for (const Integer value : x.subspan(1)) greatest = greatest < value ? value : greatest;
  return greatest;
}

double least_of(X x) {
  double least = x[0];
  for (const double value : x.subspan(1)) least = ieee_minimum(least, value);
  return least;
}

Integer least_of(I x) {
  Integer least = x[0];
  for (const Integer value : x.subspan(1)) least = value < least ? value : least;
  return least;
}

double clip(X x) {
  const double above = x.size() > 1 ? ieee_maximum(x[0], x[1]) : x[0];
  return x.size() > 2 ? ieee_minimum(above, x[2]) : above;
}

Integer integer_clamp(Integer x, Integer low, Integer high) {
  const Integer above = x < low ? low : x;
  return above > high ? high : above;
}

Integer clip(I x) {
  const Integer above = x.size() > 1 && x[0] < x[1] ? x[1] : x[0];
  return x.size() > 2 && x[2] < above ? x[2] : above;
}

/// The library's pow tells signalling NaNs from quiet ones; here x^0 and 1^y are 1 for either.
double power(X x, P p) {
  const double exponent = x.size() > 1 ? x[1] : p.beta;
  return exponent == 0 || x[0] == 1 ? 1 : std::pow(x[0], exponent);
}

Integer power(I x, P p) {
  if (x.size() > 1) return integer_power(x[0], x[1]);
  if (std::trunc(p.beta) == p.beta && std::fabs(p.beta) < 0x1p62)
    return integer_power(x[0], static_cast<Integer>(p.beta));
  return to_integer(p.dtype, std::pow(static_cast<Real>(x[0]), static_cast<Real>(p.beta)));
}

Integer complement(Integer x, DType dtype) { return dtype == DType::boolean ? static_cast<Integer>(x == 0) : ~x; }

// Sorted by arity, then name.
constexpr FunctionRow kFunctions[] = {
    {"abs", kOne, kNothing, kMono, 0, [](X x, P) { return std::fabs(x[0]); },
     [](I x, P) { return x[0] < 0 ? wrapping_subtract(0, x[0]) : x[0]; }},
    {"acos", kOne, kNothing, kMono, 4, [](X x, P) { return std::acos(x[0]); }, nullptr},
    {"acosh", kOne, kNothing, kMono, 4, [](X x, P) { return std::acosh(x[0]); }, nullptr},
    {"asin", kOne, kNothing, kMono, 4, [](X x, P) { return std::asin(x[0]); }, nullptr},
    {"asinh", kOne, kNothing, kMono, 4, [](X x, P) { return std::asinh(x[0]); }, nullptr},
    {"atan", kOne, kNothing, kMono, 4, [](X x, P) { return std::atan(x[0]); }, nullptr},
    {"atanh", kOne, kNothing, kMono, 4, [](X x, P) { return std::atanh(x[0]); }, nullptr},
    {"bitwise_not", kOne, kNothing, kWild, 0, nullptr, [](I x, P p) { return complement(x[0], p.dtype); }},
    {"ceil", kOne, kNothing, kMono, 0, [](X x, P) { return std::ceil(x[0]); }, [](I x, P) { return x[0]; }},
    {"celu", kOne, kAlpha, kMono, 4, [](X x, P p) { return celu(x[0], p.alpha, p.dtype); }, nullptr},
    {"clamp", kOne, kMinMax, kMono, 0, [](X x, P p) { return clamp(x[0], p.min, p.max); },
     [](I x, P p) { return integer_clamp(x[0], to_integer(p.dtype, p.min), to_integer(p.dtype, p.max)); }},
    {"cos", kOne, kNothing, kGentle, 4, [](X x, P) { return std::cos(x[0]); }, nullptr},
    {"cosh", kOne, kNothing, kMono, 4, [](X x, P) { return std::cosh(x[0]); }, nullptr},
    {"elu", kOne, kAlpha, kMono, 4, [](X x, P p) { return x[0] < 0 ? p.alpha * std::expm1(x[0]) : x[0]; }, nullptr},
    {"erf", kOne, kNothing, kMono, 4, [](X x, P) { return std::erf(x[0]); },
     [](I x, P) { return static_cast<Integer>(std::erf(static_cast<double>(x[0]))); }, kBrief},
    {"exp", kOne, kNothing, kMono, 4, [](X x, P) { return std::exp(x[0]); }, nullptr},
    {"floor", kOne, kNothing, kMono, 0, [](X x, P) { return std::floor(x[0]); }, [](I x, P) { return x[0]; }},
    {"gelu_erf", kOne, kNothing, kMono, 6, [](X x, P p) { return gelu_erf(x[0], p.dtype); }, nullptr, kBrief},
    {"gelu_tanh", kOne, kNothing, kMono, 4, [](X x, P p) { return gelu_tanh(x[0], p.dtype); }, nullptr, kBrief},
    {"hardsigmoid", kOne, kAlpha | kBeta, kMono, 1, [](X x, P p) { return clamp(p.alpha * x[0] + p.beta, 0, 1); },
     nullptr},
    {"hardswish", kOne, kNothing, kMono, 3, [](X x, P) { return x[0] * (clamp(x[0] + 3, 0, 6) / 6); }, nullptr},
    {"identity", kOne, kNothing, kMono, 0, [](X x, P) { return x[0]; }, [](I x, P) { return x[0]; }},
    {"isinf", kOne, kNothing, kWild, 0,
     [](X x, P p) { return real(std::isinf(x[0]) && (x[0] > 0 ? p.detect_positive : p.detect_negative)); },
     [](I, P) { return Integer{0}; }},
    {"isnan", kOne, kNothing, kWild, 0, [](X x, P) { return real(std::isnan(x[0])); }, [](I, P) { return Integer{0}; }},
    {"leakyrelu", kOne, kAlpha, kMono, 0.5, [](X x, P p) { return x[0] >= 0 ? x[0] : p.alpha * x[0]; }, nullptr},
    {"log", kOne, kNothing, kMono, 4, [](X x, P) { return std::log(x[0]); },
     [](I x, P p) { return to_integer(p.dtype, std::log(static_cast<double>(x[0]))); }},
    {"mish", kOne, kNothing, kMono, 4, [](X x, P p) { return mish(x[0], p.dtype); }, nullptr},
    {"neg", kOne, kNothing, kMono, 0, [](X x, P) { return -x[0]; }, [](I x, P) { return wrapping_subtract(0, x[0]); }},
    {"not", kOne, kNothing, kWild, 0, [](X x, P) { return real(x[0] == 0); },
     [](I x, P) { return static_cast<Integer>(x[0] == 0); }},
    {"reciprocal", kOne, kNothing, kMono, 0, [](X x, P) { return 1 / x[0]; }, nullptr},
    {"relu", kOne, kNothing, kMono, 0, [](X x, P) { return ieee_maximum(x[0], 0); },
     [](I x, P) { return x[0] > 0 ? x[0] : 0; }},
    {"round", kOne, kNothing, kMono, 0, [](X x, P) { return round_even(x[0]); }, [](I x, P) { return x[0]; }},
    {"selu", kOne, kNothing, kMono, 4,
     [](X x, P p) { return p.gamma * (x[0] < 0 ? p.alpha * std::expm1(x[0]) : x[0]); }, nullptr},
    {"sigmoid", kOne, kNothing, kMono, 4, [](X x, P) { return sigmoid(x[0]); }, nullptr},
    {"sign", kOne, kNothing, kMono, 0, [](X x, P) { return sign_of(x[0]); },
     [](I x, P) { return static_cast<Integer>((x[0] > 0) - (x[0] < 0)); }},
    {"sin", kOne, kNothing, kGentle, 4, [](X x, P) { return std::sin(x[0]); }, nullptr},
    {"sinh", kOne, kNothing, kMono, 4, [](X x, P) { return std::sinh(x[0]); }, nullptr},
    {"softplus", kOne, kNothing, kMono, 4, [](X x, P p) { return softplus(x[0], p.beta, p.dtype); }, nullptr},
    {"softsign", kOne, kNothing, kMono, 2, [](X x, P) { return x[0] / (1 + std::fabs(x[0])); }, nullptr},
    {"sqrt", kOne, kNothing, kMono, 0, [](X x, P) { return std::sqrt(x[0]); }, nullptr},
    {"square", kOne, kNothing, kMono, 0, [](X x, P) { return x[0] * x[0]; },
     [](I x, P) { return wrapping_multiply(x[0], x[0]); }},
    {"swish", kOne, kAlpha, kMono, 4, [](X x, P p) { return swish(x[0], p.alpha, p.dtype); }, nullptr},
    {"tan", kOne, kNothing, kWild, 4, [](X x, P) { return std::tan(x[0]); }, nullptr},
    {"tanh", kOne, kNothing, kMono, 4, [](X x, P) { return std::tanh(x[0]); }, nullptr, kBrief},
    {"thresholded_relu", kOne, kAlpha, kMono, 0, [](X x, P p) { return x[0] <= p.alpha ? 0 : x[0]; }, nullptr},
    {"pow", {1, 2}, kBeta, kMono, 4, power, power},
    {"clip", {1, 3}, kNothing, kGentle, 0, [](X x, P) { return clip(x); }, [](I x, P) { return clip(x); }},
    {"and", kTwo, kNothing, kWild, 0, [](X x, P) { return real(x[0] != 0 && x[1] != 0); },
     [](I x, P) { return static_cast<Integer>(x[0] != 0 && x[1] != 0); }},
    {"bit_shift", kTwo, kNothing, kWild, 0, nullptr, [](I x, P p) { return shifted(x[0], x[1], p.left); }},
    {"bitwise_and", kTwo, kNothing, kWild, 0, nullptr, [](I x, P) { return x[0] & x[1]; }},
    {"bitwise_or", kTwo, kNothing, kWild, 0, nullptr, [](I x, P) { return x[0] | x[1]; }},
    {"bitwise_xor", kTwo, kNothing, kWild, 0, nullptr, [](I x, P) { return x[0] ^ x[1]; }},
    {"div", kTwo, kNothing, kMono, 0, [](X x, P) { return x[0] / x[1]; }, [](I x, P) { return quotient(x[0], x[1]); }},
    {"equal", kTwo, kNothing, kWild, 0, [](X x, P) { return real(x[0] == x[1]); },
     [](I x, P) { return static_cast<Integer>(x[0] == x[1]); }},
    {"greater", kTwo, kNothing, kMono, 0, [](X x, P) { return real(x[0] > x[1]); },
     [](I x, P) { return static_cast<Integer>(x[0] > x[1]); }},
    {"greater_equal", kTwo, kNothing, kMono, 0, [](X x, P) { return real(x[0] >= x[1]); },
     [](I x, P) { return static_cast<Integer>(x[0] >= x[1]); }},
    {"less", kTwo, kNothing, kMono, 0, [](X x, P) { return real(x[0] < x[1]); },
     [](I x, P) { return static_cast<Integer>(x[0] < x[1]); }},
    {"less_equal", kTwo, kNothing, kMono, 0, [](X x, P) { return real(x[0] <= x[1]); },
     [](I x, P) { return static_cast<Integer>(x[0] <= x[1]); }},
    {"mod", kTwo, kNothing, kWild, 0,
     [](X x, P p) { return p.fmod ? std::fmod(x[0], x[1]) : floored_remainder(x[0], x[1]); },
     [](I x, P p) { return remainder_of(x[0], x[1], p.fmod); }},
    {"mul", kTwo, kNothing, kMono, 0, [](X x, P) { return x[0] * x[1]; },
     [](I x, P) { return wrapping_multiply(x[0], x[1]); }},
    {"or", kTwo, kNothing, kWild, 0, [](X x, P) { return real(x[0] != 0 || x[1] != 0); },
     [](I x, P) { return static_cast<Integer>(x[0] != 0 || x[1] != 0); }},
    {"prelu", kTwo, kNothing, kMono, 0, [](X x, P) { return x[0] >= 0 ? x[0] : x[0] * x[1]; },
     [](I x, P) { return x[0] >= 0 ? x[0] : wrapping_multiply(x[0], x[1]); }},
    {"squared_difference", kTwo, kNothing, kMono, 2, [](X x, P) { return (x[0] - x[1]) * (x[0] - x[1]); },
     [](I x, P) {
       const Integer d = wrapping_subtract(x[0], x[1]);
       return wrapping_multiply(d, d);
     }},
    {"sub", kTwo, kNothing, kMono, 0, [](X x, P) { return x[0] - x[1]; },
     [](I x, P) { return wrapping_subtract(x[0], x[1]); }},
    {"xor", kTwo, kNothing, kWild, 0, [](X x, P) { return real((x[0] != 0) != (x[1] != 0)); },
     [](I x, P) { return static_cast<Integer>((x[0] != 0) != (x[1] != 0)); }},
    {"add", kAny, kNothing, kGentle, 0, [](X x, P) { return sum_of(x); }, [](I x, P) { return sum_of(x); }},
    {"max", kAny, kNothing, kGentle, 0, [](X x, P) { return greatest_of(x); }, [](I x, P) { return greatest_of(x); }},
    {"mean_of", kAny, kNothing, kGentle, 0, [](X x, P) { return sum_of(x) / static_cast<double>(x.size()); },
     [](I x, P p) { return wrapped(p.dtype, sum_of(x)) / static_cast<Integer>(x.size()); }},
    {"min", kAny, kNothing, kGentle, 0, [](X x, P) { return least_of(x); }, [](I x, P) { return least_of(x); }},
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
