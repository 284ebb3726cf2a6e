// SPDX-License-Identifier: Apache-2.0
//
// The monoid table and the function table: one row per reduction and per scalar function. Names, identities, the
// emitter and the test matrix all read the rows; to add a reduction is to add a row.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tenfold::kernel {

enum class Monoid : std::uint8_t { sum, prod, max, min };

/// How a reduction keeps what it has seen.
enum class State : std::uint8_t {
  /// f32 lanes for a short chain, then f64: Sum, Prod. The chain's length and the lane tree are fixed (numerics.md).
  chained,
  /// Three integer extremes of the raw bits (greatest signed, greatest unsigned, least unsigned). They give the
  /// extreme, its zero's sign and whether a NaN was seen, exactly, in any order: Max, Min.
  order,
};

/// One row per reduction.
struct MonoidRow {
  Monoid monoid;
  std::string_view name;
  State state;
  double identity;  ///< the start value, and the result on the empty set
};

inline constexpr double kInf = __builtin_inf();
inline constexpr std::array<MonoidRow, 4> kMonoids{{
    {Monoid::sum, "sum", State::chained, 0.0},
    {Monoid::prod, "prod", State::chained, 1.0},
    {Monoid::max, "max", State::order, -kInf},
    {Monoid::min, "min", State::order, kInf},
}};

/// Scalar functions of kernels. Before a reduction they run in f32 lanes, after it in the reduction's own type.
enum class Function : std::uint8_t { abs, square, sqrt, div };

struct FunctionRow {
  Function function;
  std::string_view name;
  int arity;
};

inline constexpr std::array<FunctionRow, 4> kFunctions{{
    {Function::abs, "abs", 1},
    {Function::square, "square", 1},
    {Function::sqrt, "sqrt", 1},
    {Function::div, "div", 2},
}};

constexpr const MonoidRow& row(Monoid m) { return kMonoids[static_cast<std::size_t>(m)]; }
constexpr const FunctionRow& row(Function f) { return kFunctions[static_cast<std::size_t>(f)]; }

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
