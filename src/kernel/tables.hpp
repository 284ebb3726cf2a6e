// SPDX-License-Identifier: Apache-2.0
//
// The function table and the monoid table: one row per scalar function and per way to combine values, with all that the
// rooms from here on know of them but how lanes compute them (jit/function/functions.cpp, jit/state/kinds.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tenfold::kernel {

/// Scalar functions of kernels. Arguments and results have one dtype but where the row says otherwise. Attributes of
/// ops are arguments here, as constants: leakyrelu(x, alpha).
enum class Function : std::uint8_t {
  abs,
  acos,
  acosh,
  asin,
  asinh,
  atan,
  atanh,
  bitwise_not,
  ceil,
  cos,
  cosh,
  erf,
  exp,
  floor,
  gelu_erf,
  gelu_tanh,
  hardswish,
  identity,
  is_infinite,
  is_negative_infinity,
  is_positive_infinity,
  isnan,
  log,
  mish,
  neg,
  logical_not,
  reciprocal,
  relu,
  round,
  sigmoid,
  sign,
  sin,
  sinh,
  softsign,
  sqrt,
  square,
  tan,
  tanh,
  add,
  logical_and,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  celu,
  div,
  elu,
  equal,
  greater,
  greater_equal,
  leakyrelu,
  less,
  less_equal,
  max,
  min,
  mod,
  mul,
  logical_or,
  pow,
  prelu,
  remainder,
  shift_left,
  shift_right,
  softplus,
  squared_difference,
  sub,
  swish,
  thresholded_relu,
  logical_xor,
  clamp,
  hardsigmoid,
  select,
  selu,
};

/// What a function gives.
enum class Gives : std::uint8_t {
  same,   ///< a value of its arguments' dtype, rounded to it
  exact,  ///< one that needs no rounding: an argument, or that with another sign, or a whole number
  boolean
};

/// What a step of lanes costs: an operation or a few, a division or a root, or a polynomial and what is around it.
enum class Effort : std::uint8_t { light, division, polynomial };

struct FunctionRow {
  Function function;
  std::string_view name;
  int arity;
  Gives gives;
  Effort effort;
};

inline constexpr std::array<FunctionRow, 72> kFunctions{{
    {Function::abs, "abs", 1, Gives::exact, Effort::light},
    {Function::acos, "acos", 1, Gives::same, Effort::polynomial},
    {Function::acosh, "acosh", 1, Gives::same, Effort::polynomial},
    {Function::asin, "asin", 1, Gives::same, Effort::polynomial},
    {Function::asinh, "asinh", 1, Gives::same, Effort::polynomial},
    {Function::atan, "atan", 1, Gives::same, Effort::polynomial},
    {Function::atanh, "atanh", 1, Gives::same, Effort::polynomial},
    {Function::bitwise_not, "bitwise_not", 1, Gives::same, Effort::light},
    {Function::ceil, "ceil", 1, Gives::exact, Effort::light},
    {Function::cos, "cos", 1, Gives::same, Effort::polynomial},
    {Function::cosh, "cosh", 1, Gives::same, Effort::polynomial},
    {Function::erf, "erf", 1, Gives::same, Effort::polynomial},
    {Function::exp, "exp", 1, Gives::same, Effort::polynomial},
    {Function::floor, "floor", 1, Gives::exact, Effort::light},
    {Function::gelu_erf, "gelu_erf", 1, Gives::same, Effort::polynomial},
    {Function::gelu_tanh, "gelu_tanh", 1, Gives::same, Effort::polynomial},
    {Function::hardswish, "hardswish", 1, Gives::same, Effort::division},
    {Function::identity, "identity", 1, Gives::exact, Effort::light},
    {Function::is_infinite, "is_infinite", 1, Gives::boolean, Effort::light},
    {Function::is_negative_infinity, "is_negative_infinity", 1, Gives::boolean, Effort::light},
    {Function::is_positive_infinity, "is_positive_infinity", 1, Gives::boolean, Effort::light},
    {Function::isnan, "isnan", 1, Gives::boolean, Effort::light},
    {Function::log, "log", 1, Gives::same, Effort::polynomial},
    {Function::mish, "mish", 1, Gives::same, Effort::polynomial},
    {Function::neg, "neg", 1, Gives::exact, Effort::light},
    {Function::logical_not, "logical_not", 1, Gives::boolean, Effort::light},
    {Function::reciprocal, "reciprocal", 1, Gives::same, Effort::division},
    {Function::relu, "relu", 1, Gives::exact, Effort::light},
    {Function::round, "round", 1, Gives::exact, Effort::light},
    {Function::sigmoid, "sigmoid", 1, Gives::same, Effort::polynomial},
    {Function::sign, "sign", 1, Gives::exact, Effort::light},
    {Function::sin, "sin", 1, Gives::same, Effort::polynomial},
    {Function::sinh, "sinh", 1, Gives::same, Effort::polynomial},
    {Function::softsign, "softsign", 1, Gives::same, Effort::division},
    {Function::sqrt, "sqrt", 1, Gives::same, Effort::division},
    {Function::square, "square", 1, Gives::same, Effort::light},
    {Function::tan, "tan", 1, Gives::same, Effort::polynomial},
    {Function::tanh, "tanh", 1, Gives::same, Effort::polynomial},
    {Function::add, "add", 2, Gives::same, Effort::light},
    {Function::logical_and, "logical_and", 2, Gives::boolean, Effort::light},
    {Function::bitwise_and, "bitwise_and", 2, Gives::same, Effort::light},
    {Function::bitwise_or, "bitwise_or", 2, Gives::same, Effort::light},
    {Function::bitwise_xor, "bitwise_xor", 2, Gives::same, Effort::light},
    {Function::celu, "celu", 2, Gives::same, Effort::polynomial},  // x, alpha
    {Function::div, "div", 2, Gives::same, Effort::division},
    {Function::elu, "elu", 2, Gives::same, Effort::polynomial},  // x, alpha
    {Function::equal, "equal", 2, Gives::boolean, Effort::light},
    {Function::greater, "greater", 2, Gives::boolean, Effort::light},
    {Function::greater_equal, "greater_equal", 2, Gives::boolean, Effort::light},
    {Function::leakyrelu, "leakyrelu", 2, Gives::same, Effort::light},  // x, alpha
    {Function::less, "less", 2, Gives::boolean, Effort::light},
    {Function::less_equal, "less_equal", 2, Gives::boolean, Effort::light},
    {Function::max, "max", 2, Gives::exact, Effort::light},
    {Function::min, "min", 2, Gives::exact, Effort::light},
    {Function::mod, "mod", 2, Gives::same, Effort::polynomial},  // the remainder, with the divisor's sign
    {Function::mul, "mul", 2, Gives::same, Effort::light},
    {Function::logical_or, "logical_or", 2, Gives::boolean, Effort::light},
    {Function::pow, "pow", 2, Gives::same, Effort::polynomial},
    {Function::prelu, "prelu", 2, Gives::same, Effort::light},               // x, slope
    {Function::remainder, "remainder", 2, Gives::same, Effort::polynomial},  // with the dividend's sign (C's fmod)
    {Function::shift_left, "shift_left", 2, Gives::same, Effort::light},
    {Function::shift_right, "shift_right", 2, Gives::same, Effort::light},
    {Function::softplus, "softplus", 2, Gives::same, Effort::polynomial},  // x, beta
    {Function::squared_difference, "squared_difference", 2, Gives::same, Effort::light},
    {Function::sub, "sub", 2, Gives::same, Effort::light},
    {Function::swish, "swish", 2, Gives::same, Effort::polynomial},                   // x, alpha
    {Function::thresholded_relu, "thresholded_relu", 2, Gives::same, Effort::light},  // x, alpha
    {Function::logical_xor, "logical_xor", 2, Gives::boolean, Effort::light},
    {Function::clamp, "clamp", 3, Gives::same, Effort::light},              // x, low, high
    {Function::hardsigmoid, "hardsigmoid", 3, Gives::same, Effort::light},  // x, alpha, beta
    {Function::select, "select", 3, Gives::exact, Effort::light},           // condition (boolean), yes, no
    {Function::selu, "selu", 3, Gives::same, Effort::polynomial},           // x, alpha, gamma
}};

enum class Monoid : std::uint8_t { sum, prod, max, min, argmax, argmin };

/// How a reduction keeps what it has seen.
enum class State : std::uint8_t {
  /// f32 lanes for a short chain, then f64: Sum, Prod. The chain's length and the lane tree are fixed (numerics.md).
  chained,
  /// Three integer extremes of the raw bits (greatest signed, greatest unsigned, least unsigned). They give the
  /// extreme, its zero's sign and whether a NaN was seen, exactly, in any order: Max, Min.
  order,
  /// The extreme so far and its index, side by side; a NaN beats every number. Among equals the first index wins, or
  /// with Node::last the last: ArgMax, ArgMin.
  arg,
};

/// One row per reduction.
struct MonoidRow {
  Monoid monoid;
  std::string_view name;
  State state;
  Function combine;  ///< of two values; of arg-reductions, of the extremes
  double identity;   ///< the start value, and the result on the empty set (which arg-reductions refuse)
};

inline constexpr double kInf = __builtin_inf();
inline constexpr std::array<MonoidRow, 6> kMonoids{{
    {Monoid::sum, "sum", State::chained, Function::add, 0.0},
    {Monoid::prod, "prod", State::chained, Function::mul, 1.0},
    {Monoid::max, "max", State::order, Function::max, -kInf},
    {Monoid::min, "min", State::order, Function::min, kInf},
    {Monoid::argmax, "argmax", State::arg, Function::max, -kInf},
    {Monoid::argmin, "argmin", State::arg, Function::min, kInf},
}};

template <class Rows, class Key>
constexpr bool rows_follow(const Rows& rows, Key key) {
  for (std::size_t index = 0; index < rows.size(); ++index)
    if (static_cast<std::size_t>(rows[index].*key) != index) return false;
  return true;
}
static_assert(rows_follow(kFunctions, &FunctionRow::function) && rows_follow(kMonoids, &MonoidRow::monoid));

constexpr const MonoidRow& row(Monoid m) { return kMonoids[static_cast<std::size_t>(m)]; }
constexpr const FunctionRow& row(Function f) { return kFunctions[static_cast<std::size_t>(f)]; }

/// Whether elements may come in any order, whatever their dtype.
constexpr bool is_order_free(Monoid m) { return row(m).state == State::order; }

constexpr std::optional<Monoid> monoid_from_name(std::string_view name) {
  for (const MonoidRow& r : kMonoids)
    if (r.name == name) return r.monoid;
  return std::nullopt;
}
constexpr std::optional<Function> function_from_name(std::string_view name) {
  for (const FunctionRow& r : kFunctions)
    if (r.name == name) return r.function;
  return std::nullopt;
}

}  // namespace tenfold::kernel
