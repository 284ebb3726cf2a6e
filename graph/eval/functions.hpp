// SPDX-License-Identifier: Apache-2.0
//
// The table of scalar functions as the reference knows them: one row a function, under the name that core.map uses.
// To add a function is to add a row (and an op row in op_rows.cpp when a dialect has an op of its own for it).
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "graph/eval/element.hpp"

namespace tenfold::graph {

/// The attributes that functions may read. f32 attributes have f32 values: 0.1 is the float nearest to it.
struct Parameters {
  double alpha = 1;
  double beta = 1;
  double gamma = 1;
  double min = 0;
  double max = 0;
  bool fmod = false;  ///< Mod: the remainder has the dividend's sign, not the divisor's
  bool left = false;  ///< BitShift
  bool detect_negative = true;
  bool detect_positive = true;
  DType dtype = DType::undef;  ///< of the first argument
};

/// Which of them an op must carry when the function has one argument.
enum Needs : std::uint8_t { kNothing = 0, kAlpha = 1, kBeta = 2, kMinMax = 4 };

using RealFunction = double (*)(std::span<const double> arguments, const Parameters& parameters);
using IntegerFunction = Integer (*)(std::span<const Integer> arguments, const Parameters& parameters);

struct Arity {
  std::size_t least;
  std::size_t most;
  bool takes(std::size_t count) const noexcept { return least <= count && count <= most; }
};
inline constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

/// What an argument's error does to the value: `monotone` is bounded by the values at the ends of its interval;
/// `gentle` by the sum of the arguments' errors; nothing can be said for `wild`.
enum class Course : std::uint8_t { monotone, gentle, wild };

struct FunctionRow {
  std::string_view name;
  Arity arity;
  std::uint8_t needs;  ///< a set of Needs
  Course course;
  /// By how many units in the last place of an f32 result (f64 for f64) a compiled kernel may be off before it rounds
  /// to bf16 or f16. 0: one correctly rounded step, so the same bits. Up to 0.5: that too, but an f32 attribute makes
  /// the exact result wider than 16-bit formats bear to round twice.
  double ulps;
  RealFunction real;        ///< null: not defined on reals
  IntegerFunction integer;  ///< null: not defined on integers
  bool is_brief = false;    ///< of bf16 and f16 within kBriefUlps, where these are more
};

/// Units of f32 that functions which are shorter for bf16 and f16 may be off by before they round to these: a 51st of a
/// unit of f16, a 410th of one of bf16.
inline constexpr double kBriefUlps = 160;

/// The row's units for results of `dtype`.
inline double ulps_of(const FunctionRow& row, DType dtype) {
  return row.is_brief && byte_size(dtype) == 2 ? kBriefUlps : row.ulps;
}

std::span<const FunctionRow> all_functions() noexcept;
const FunctionRow* find_function(std::string_view name) noexcept;

/// IEEE 754-2019 maximum and minimum: a NaN wins over everything, +0 is above -0.
double ieee_maximum(double a, double b) noexcept;
double ieee_minimum(double a, double b) noexcept;

}  // namespace tenfold::graph
