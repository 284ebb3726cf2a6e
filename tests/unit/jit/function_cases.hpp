// SPDX-License-Identifier: Apache-2.0
//
// Which functions the tests run with which constant arguments, as what op of the reference, and how far they may be
// off: the table "Measured errors" of docs/numerics.md says the same.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/eval/element.hpp"
#include "graph/eval/functions.hpp"
#include "jit/function/brief.hpp"
#include "jit/function/functions.hpp"
#include "kernel/spec.hpp"
#include "kernel/tables.hpp"

namespace tenfold::jit {

using kernel::Function;

/// Arguments after the first `tensors` are constants.
struct FunctionCase {
  Function function;
  int tensors = 1;
  std::vector<double> constants;
};

inline std::vector<FunctionCase> all_cases() {
  std::vector<FunctionCase> cases;
  for (const kernel::FunctionRow& row : kernel::kFunctions) cases.push_back({row.function, row.arity, {}});
  const auto with = [&](Function function, int tensors, std::vector<std::vector<double>> sets) {
    std::erase_if(cases, [&](const FunctionCase& c) { return c.function == function; });
    for (std::vector<double>& set : sets) cases.push_back({function, tensors, std::move(set)});
  };
  with(Function::elu, 1, {{1}, {0.1F}, {-2.5}});
  with(Function::celu, 1, {{1}, {0.3F}, {1e5F}, {-2.5}});
  with(Function::selu, 1, {{1.6732632F, 1.0507010F}, {0.5, 3}});
  with(Function::leakyrelu, 1, {{0.01F}, {-3}});
  with(Function::softplus, 1, {{1}, {0.1F}, {-2.5}, {20}, {-1e18F}, {-3e38F}});
  with(Function::swish, 1, {{1}, {1.702F}, {-2.5}, {0}, {1e30F}, {1e-30F}, {-6e-37F}});
  with(Function::thresholded_relu, 1, {{1}, {-0.5}});
  with(Function::hardsigmoid, 1, {{0.2F, 0.5}, {1.0F / 6, 0.5}, {-1, 0}});
  with(Function::clamp, 1, {{-1, 1}, {0, 6}, {-0.0, 100}, {-3, -0.0}, {-7, 0.0}});
  with(Function::pow, 1, {{1}, {2}, {3}, {-1}, {0.5}, {-0.5}, {4}, {1.7F}, {0}, {-2}, {9}, {63}});
  cases.push_back({Function::pow, 2, {}});
  cases.push_back({Function::max, 1, {0}});
  cases.push_back({Function::min, 1, {-0.0}});
  return cases;
}

inline bool takes_condition(const FunctionCase& c) { return c.function == Function::select; }

/// Whether the constants are values of `dtype`: of integers, lowering refuses others.
inline bool takes(const FunctionCase& c, DType dtype) {
  if (!has_function(c.function, dtype)) return false;
  for (const double value : c.constants)
    if (c.function == Function::pow && !is_floating(dtype) &&
        static_cast<double>(graph::to_integer(dtype, value)) != value)
      return false;
  return true;
}

/// `narrow`: the type of all lanes, if not lane_type().
inline LaneProgram program_of(const FunctionCase& c, DType dtype, std::optional<LaneType> narrow = {}) {
  LaneBuilder builder;
  std::vector<Lane> args;
  const LaneType type = narrow.value_or(lane_type(dtype));
  for (int i = 0; i < c.tensors; ++i)
    args.push_back(builder.input(i, i == 0 && takes_condition(c) ? narrow.value_or(LaneType::i32) : type));
  for (const double value : c.constants) {
    const auto as_integer = [&] { return static_cast<std::uint64_t>(graph::to_integer(dtype, value)); };
    args.push_back(is_floating(dtype) ? builder.constant(type, value) : builder.bits(type, as_integer()));
  }
  builder.result(apply_function(c.function, dtype, args));
  return builder.finish();
}

/// Bound of a result's error in units in the last place, f32 and f64. 0: the reference's bits.
struct Bound {
  Function function;
  double single_ulps;
  double double_ulps;
};

inline constexpr Bound kBounds[] = {
    {Function::acos, 1, 4},      {Function::acosh, 1, 4},         {Function::asin, 1, 4},
    {Function::asinh, 1, 4},     {Function::atan, 1, 4},          {Function::atanh, 1, 4},
    {Function::celu, 4, 4},      {Function::cos, 1, 2},           {Function::cosh, 1, 4},
    {Function::elu, 4, 4},       {Function::erf, 4, 4},           {Function::exp, 1.25, 2},
    {Function::gelu_erf, 6, 4},  {Function::gelu_tanh, 4, 4},     {Function::hardsigmoid, 1, 1},
    {Function::hardswish, 3, 3}, {Function::leakyrelu, 0.5, 0.5}, {Function::log, 1, 2},
    {Function::mish, 4, 4},      {Function::pow, 2, 4},           {Function::selu, 4, 4},
    {Function::sigmoid, 4, 4},   {Function::sin, 1, 2},           {Function::sinh, 1, 4},
    {Function::softplus, 4, 4},  {Function::softsign, 2, 2},      {Function::squared_difference, 2, 2},
    {Function::swish, 4, 4},     {Function::tan, 1, 3},           {Function::tanh, 4, 4},
};

/// Of results of `dtype`; in units of f32 where it has 16 bits.
inline double bound_of(Function function, DType dtype) {
  if (byte_size(dtype) == 2 && brief_function(function) != nullptr) return graph::kBriefUlps;
  for (const Bound& bound : kBounds)
    if (bound.function == function) return dtype == DType::f64 ? bound.double_ulps : bound.single_ulps;
  return 0;
}

}  // namespace tenfold::jit
