// SPDX-License-Identifier: Apache-2.0
//
// The op rows of oneDNN Graph's dialect and of core.
#include "graph/eval/op_rows.hpp"

#include <algorithm>

namespace tenfold::graph {
namespace {

constexpr OpRow kOpRows[] = {
    {Dialect::onednn, "ReduceL1", Family::reduce, "l1"},
    {Dialect::onednn, "ReduceL2", Family::reduce, "l2"},
    {Dialect::onednn, "ReduceMax", Family::reduce, "max"},
    {Dialect::onednn, "ReduceMean", Family::reduce, "mean"},
    {Dialect::onednn, "ReduceMin", Family::reduce, "min"},
    {Dialect::onednn, "ReduceProd", Family::reduce, "prod"},
    {Dialect::onednn, "ReduceSum", Family::reduce, "sum"},
    {Dialect::onednn, "Abs", Family::map, "abs"},
    {Dialect::onednn, "Clamp", Family::map, "clamp"},
    {Dialect::onednn, "Elu", Family::map, "elu"},
    {Dialect::onednn, "Exp", Family::map, "exp"},
    {Dialect::onednn, "GELU", Family::map, "gelu"},
    {Dialect::onednn, "HardSigmoid", Family::map, "hardsigmoid"},
    {Dialect::onednn, "HardSwish", Family::map, "hardswish"},
    {Dialect::onednn, "LeakyReLU", Family::map, "leakyrelu"},
    {Dialect::onednn, "Log", Family::map, "log"},
    {Dialect::onednn, "Mish", Family::map, "mish"},
    {Dialect::onednn, "Pow", Family::map, "pow"},
    {Dialect::onednn, "ReLU", Family::map, "relu"},
    {Dialect::onednn, "Reciprocal", Family::map, "reciprocal"},
    {Dialect::onednn, "Round", Family::map, "round"},
    {Dialect::onednn, "Sigmoid", Family::map, "sigmoid"},
    {Dialect::onednn, "SoftPlus", Family::map, "softplus"},
    {Dialect::onednn, "Sqrt", Family::map, "sqrt"},
    {Dialect::onednn, "Square", Family::map, "square"},
    {Dialect::onednn, "Tanh", Family::map, "tanh"},
    {Dialect::onednn, "Add", Family::map, "add"},
    {Dialect::onednn, "BiasAdd", Family::channel_map, "add"},
    {Dialect::onednn, "Divide", Family::map, "div"},
    {Dialect::onednn, "GreaterEqual", Family::map, "greater_equal"},
    {Dialect::onednn, "Maximum", Family::map, "max"},
    {Dialect::onednn, "Minimum", Family::map, "min"},
    {Dialect::onednn, "Multiply", Family::map, "mul"},
    {Dialect::onednn, "PReLU", Family::channel_map, "prelu"},
    {Dialect::onednn, "SquaredDifference", Family::map, "squared_difference"},
    {Dialect::onednn, "Subtract", Family::map, "sub"},
    {Dialect::onednn, "Select", Family::select, ""},
    {Dialect::onednn, "TypeCast", Family::cast, ""},
    {Dialect::onednn, "End", Family::end, ""},
    {Dialect::core, "reduce", Family::reduce, ""},
    {Dialect::core, "map", Family::map, ""},
    {Dialect::core, "cast", Family::cast, ""},
    {Dialect::core, "select", Family::select, ""},
    {Dialect::core, "reshape", Family::reshape, ""},
};

/// An attribute of type f32, which a reader may have kept as an integer.
const Attribute* find_number(const Op& op, std::string_view name, double& value) noexcept {
  const Attribute* attribute = find_attribute(op, name);
  if (attribute == nullptr) return nullptr;
  if (const auto* real = std::get_if<double>(attribute))
    value = static_cast<double>(static_cast<float>(*real));
  else if (const auto* integer = std::get_if<std::int64_t>(attribute))
    value = static_cast<double>(static_cast<float>(*integer));
  else
    return nullptr;
  return attribute;
}

}  // namespace

const OpRow* find_op_row(const Op& op) noexcept {
  for (const OpRow& row : kOpRows)
    if (row.dialect == op.dialect && row.kind == op.kind) return &row;
  return nullptr;
}

std::string function_name(const Op& op, const OpRow& row) {
  std::string name(row.name);
  if (row.family == Family::reduce && name.empty()) name = attribute_or<std::string>(op, "reduction", "");
  if (row.family == Family::map && name.empty()) name = attribute_or<std::string>(op, "function", "");
  return name == "gelu" ? attribute_or<std::string>(op, "mode", "gelu_erf") : name;
}

Result<Parameters> read_parameters(const Op& op, const FunctionRow& function) {
  Parameters parameters;
  struct Row {
    std::string_view name;
    std::uint8_t need;
    double& value;
  };
  const Row rows[] = {{"alpha", kAlpha, parameters.alpha},
                      {"beta", kBeta, parameters.beta},
                      {"min", kMinMax, parameters.min},
                      {"max", kMinMax, parameters.max}};
  for (const Row& row : rows)
    if (find_number(op, row.name, row.value) == nullptr && (function.needs & row.need) != 0)
      return fail(op, Code::invalid_op, "attribute '" + std::string(row.name) + "' is missing or not a number");
  return parameters;
}

bool flag(const Op& op, std::string_view name, bool fallback) noexcept {
  const Attribute* attribute = find_attribute(op, name);
  if (attribute == nullptr) return fallback;
  if (const auto* boolean = std::get_if<bool>(attribute)) return *boolean;
  if (const auto* integer = std::get_if<std::int64_t>(attribute)) return *integer != 0;
  return fallback;
}

std::vector<std::int64_t> integers(const Op& op, std::string_view name) {
  const Attribute* attribute = find_attribute(op, name);
  if (attribute == nullptr) return {};
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(attribute)) return *list;
  if (const auto* one = std::get_if<std::int64_t>(attribute)) return {*one};
  return {};
}

int channel_dim(const Op& op, int rank) {
  const bool second = attribute_or<std::string>(op, "data_format", "NXC") == "NCX";
  return second ? std::min(1, rank - 1) : rank - 1;
}

Status fail(const Op& op, Code code, const std::string& text) { return Status(code, describe(op) + ": " + text); }

}  // namespace tenfold::graph
