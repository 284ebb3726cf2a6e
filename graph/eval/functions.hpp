// SPDX-License-Identifier: Apache-2.0
//
// The table of scalar functions as the reference knows them: one row a function, under the name that core.map uses.
// To add a function is to add a row (and an op row in op_rows.cpp when a dialect has an op of its own for it).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "graph/eval/element.hpp"

namespace tenfold::graph {

/// The attributes that functions may read. f32 attributes have f32 values: 0.1 is the float nearest to it.
struct Parameters {
  double alpha = 1;
  double beta = 1;
  double min = 0;
  double max = 0;
};

/// Which of them an op must carry.
enum Needs : std::uint8_t { kNothing = 0, kAlpha = 1, kBeta = 2, kMinMax = 4 };

using RealFunction = double (*)(const double* arguments, const Parameters& parameters);
using IntegerFunction = Integer (*)(const Integer* arguments);

inline constexpr int kMaxArity = 2;

struct FunctionRow {
  std::string_view name;
  int arity;
  std::uint8_t needs;  ///< a set of Needs
  RealFunction real;
  IntegerFunction integer;  ///< null: not defined on integers
};

std::span<const FunctionRow> all_functions() noexcept;
const FunctionRow* find_function(std::string_view name) noexcept;

/// IEEE 754-2019 maximum and minimum: a NaN wins over everything, +0 is above -0.
double ieee_maximum(double a, double b) noexcept;
double ieee_minimum(double a, double b) noexcept;

}  // namespace tenfold::graph
