// SPDX-License-Identifier: Apache-2.0
//
// The op rows of both dialects and of core, and the attributes that their ops share.
#include "graph/eval/op_rows.hpp"

#include <algorithm>
#include <limits>

#include "graph/ir/attribute.hpp"

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
    {Dialect::onednn, "Pow", Family::map, "pow", 1},
    {Dialect::onednn, "ReLU", Family::map, "relu"},
    {Dialect::onednn, "Reciprocal", Family::map, "reciprocal"},
    {Dialect::onednn, "Round", Family::map, "round"},
    {Dialect::onednn, "Sigmoid", Family::map, "sigmoid"},
    {Dialect::onednn, "SoftPlus", Family::map, "softplus"},
    {Dialect::onednn, "Sqrt", Family::map, "sqrt"},
    {Dialect::onednn, "Square", Family::map, "square"},
    {Dialect::onednn, "Tanh", Family::map, "tanh"},
    {Dialect::onednn, "Add", Family::map, "add", 2},
    {Dialect::onednn, "BiasAdd", Family::channel_map, "add", 2},
    {Dialect::onednn, "Divide", Family::map, "div"},
    {Dialect::onednn, "GreaterEqual", Family::map, "greater_equal"},
    {Dialect::onednn, "Maximum", Family::map, "max", 2},
    {Dialect::onednn, "Minimum", Family::map, "min", 2},
    {Dialect::onednn, "Multiply", Family::map, "mul"},
    {Dialect::onednn, "PReLU", Family::channel_map, "prelu"},
    {Dialect::onednn, "SquaredDifference", Family::map, "squared_difference"},
    {Dialect::onednn, "Subtract", Family::map, "sub"},
    {Dialect::onednn, "Select", Family::select, ""},
    {Dialect::onednn, "TypeCast", Family::cast, ""},
    {Dialect::onednn, "Reorder", Family::cast, ""},
    {Dialect::onednn, "End", Family::end, ""},
    {Dialect::onnx, "ReduceL1", Family::reduce, "l1"},
    {Dialect::onnx, "ReduceL2", Family::reduce, "l2"},
    {Dialect::onnx, "ReduceLogSum", Family::reduce, "log_sum"},
    {Dialect::onnx, "ReduceLogSumExp", Family::reduce, "log_sum_exp"},
    {Dialect::onnx, "ReduceMax", Family::reduce, "max"},
    {Dialect::onnx, "ReduceMean", Family::reduce, "mean"},
    {Dialect::onnx, "ReduceMin", Family::reduce, "min"},
    {Dialect::onnx, "ReduceProd", Family::reduce, "prod"},
    {Dialect::onnx, "ReduceSum", Family::reduce, "sum"},
    {Dialect::onnx, "ReduceSumSquare", Family::reduce, "sum_square"},
    {Dialect::onnx, "ArgMax", Family::arg_reduce, "argmax"},
    {Dialect::onnx, "ArgMin", Family::arg_reduce, "argmin"},
    {Dialect::onnx, "Abs", Family::map, "abs"},
    {Dialect::onnx, "Acos", Family::map, "acos"},
    {Dialect::onnx, "Acosh", Family::map, "acosh"},
    {Dialect::onnx, "Asin", Family::map, "asin"},
    {Dialect::onnx, "Asinh", Family::map, "asinh"},
    {Dialect::onnx, "Atan", Family::map, "atan"},
    {Dialect::onnx, "Atanh", Family::map, "atanh"},
    {Dialect::onnx, "BitwiseNot", Family::map, "bitwise_not"},
    {Dialect::onnx, "Ceil", Family::map, "ceil"},
    {Dialect::onnx, "Celu", Family::map, "celu"},
    {Dialect::onnx, "Cos", Family::map, "cos"},
    {Dialect::onnx, "Cosh", Family::map, "cosh"},
    {Dialect::onnx, "Elu", Family::map, "elu"},
    {Dialect::onnx, "Erf", Family::map, "erf"},
    {Dialect::onnx, "Exp", Family::map, "exp"},
    {Dialect::onnx, "Floor", Family::map, "floor"},
    {Dialect::onnx, "Gelu", Family::map, "gelu"},
    {Dialect::onnx, "HardSigmoid", Family::map, "hardsigmoid"},
    {Dialect::onnx, "HardSwish", Family::map, "hardswish"},
    {Dialect::onnx, "IsInf", Family::map, "isinf"},
    {Dialect::onnx, "IsNaN", Family::map, "isnan"},
    {Dialect::onnx, "LeakyRelu", Family::map, "leakyrelu"},
    {Dialect::onnx, "Log", Family::map, "log"},
    {Dialect::onnx, "Mish", Family::map, "mish"},
    {Dialect::onnx, "Neg", Family::map, "neg"},
    {Dialect::onnx, "Not", Family::map, "not"},
    {Dialect::onnx, "Reciprocal", Family::map, "reciprocal"},
    {Dialect::onnx, "Relu", Family::map, "relu"},
    {Dialect::onnx, "Round", Family::map, "round"},
    {Dialect::onnx, "Selu", Family::map, "selu"},
    {Dialect::onnx, "Sigmoid", Family::map, "sigmoid"},
    {Dialect::onnx, "Sign", Family::map, "sign"},
    {Dialect::onnx, "Sin", Family::map, "sin"},
    {Dialect::onnx, "Sinh", Family::map, "sinh"},
    {Dialect::onnx, "Softplus", Family::map, "softplus"},
    {Dialect::onnx, "Softsign", Family::map, "softsign"},
    {Dialect::onnx, "Sqrt", Family::map, "sqrt"},
    {Dialect::onnx, "Swish", Family::map, "swish"},
    {Dialect::onnx, "Tan", Family::map, "tan"},
    {Dialect::onnx, "Tanh", Family::map, "tanh"},
    {Dialect::onnx, "ThresholdedRelu", Family::map, "thresholded_relu"},
    {Dialect::onnx, "Add", Family::map, "add", 2},
    {Dialect::onnx, "And", Family::map, "and"},
    {Dialect::onnx, "BitShift", Family::map, "bit_shift"},
    {Dialect::onnx, "BitwiseAnd", Family::map, "bitwise_and"},
    {Dialect::onnx, "BitwiseOr", Family::map, "bitwise_or"},
    {Dialect::onnx, "BitwiseXor", Family::map, "bitwise_xor"},
    {Dialect::onnx, "Div", Family::map, "div"},
    {Dialect::onnx, "Equal", Family::map, "equal"},
    {Dialect::onnx, "Greater", Family::map, "greater"},
    {Dialect::onnx, "GreaterOrEqual", Family::map, "greater_equal"},
    {Dialect::onnx, "Less", Family::map, "less"},
    {Dialect::onnx, "LessOrEqual", Family::map, "less_equal"},
    {Dialect::onnx, "Mod", Family::map, "mod"},
    {Dialect::onnx, "Mul", Family::map, "mul"},
    {Dialect::onnx, "Or", Family::map, "or"},
    {Dialect::onnx, "PRelu", Family::map, "prelu"},
    {Dialect::onnx, "Sub", Family::map, "sub"},
    {Dialect::onnx, "Xor", Family::map, "xor"},
    {Dialect::onnx, "Pow", Family::map, "pow", 2},
    {Dialect::onnx, "Clip", Family::map, "clip"},
    {Dialect::onnx, "Max", Family::map, "max"},
    {Dialect::onnx, "Mean", Family::map, "mean_of"},
    {Dialect::onnx, "Min", Family::map, "min"},
    {Dialect::onnx, "Sum", Family::map, "add"},
    {Dialect::onnx, "Where", Family::select, ""},
    {Dialect::onnx, "Cast", Family::cast, ""},
    {Dialect::onnx, "CastLike", Family::cast, ""},
    {Dialect::onnx, "Identity", Family::cast, ""},
    {Dialect::core, "reduce", Family::reduce, ""},
    {Dialect::core, "arg_reduce", Family::arg_reduce, ""},
    {Dialect::core, "map", Family::map, ""},
    {Dialect::core, "cast", Family::cast, ""},
    {Dialect::core, "select", Family::select, ""},
    {Dialect::core, "reshape", Family::reshape, ""},
};

/// Defaults of the attributes that a function needs, in core and where no version of an ONNX op says its own.
struct Defaults {
  std::string_view function;
  std::uint8_t needs;
  Parameters values;
};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Defaults kDefaults[] = {
    {"celu", kAlpha, {.alpha = 1}},
    {"clamp", kMinMax, {.min = -kInfinity, .max = kInfinity}},
    {"elu", kAlpha, {.alpha = 1}},
    {"hardsigmoid", kAlpha | kBeta, {.alpha = static_cast<double>(0.2F), .beta = 0.5}},
    {"leakyrelu", kAlpha, {.alpha = static_cast<double>(0.01F)}},
    {"selu", kNothing, {.alpha = 1.67326319217681884765625, .gamma = 1.05070102214813232421875}},
    {"swish", kAlpha, {.alpha = 1}},
    {"thresholded_relu", kAlpha, {.alpha = 1}},
};

/// Sets the function's defaults and tells which of its needs they meet.
std::uint8_t apply_function_defaults(std::string_view function, Parameters& parameters) noexcept {
  for (const Defaults& row : kDefaults) {
    if (row.function != function) continue;
    const DType dtype = parameters.dtype;
    parameters = row.values;
    parameters.dtype = dtype;
    return row.needs;
  }
  return kNothing;
}

struct Named {
  std::string_view name;
  std::uint8_t need;
  double Parameters::*value;
};
constexpr Named kNamed[] = {{"alpha", kAlpha, &Parameters::alpha},
                            {"beta", kBeta, &Parameters::beta},
                            {"gamma", kNothing, &Parameters::gamma},
                            {"min", kMinMax, &Parameters::min},
                            {"max", kMinMax, &Parameters::max}};

/// The same with what the version of an ONNX op that the op's opset sees says: Selu's have changed.
std::uint8_t apply_defaults(const Op& op, std::string_view function, Parameters& parameters) {
  std::uint8_t met = apply_function_defaults(function, parameters);
  const schemas::OpVersion* version = onnx_version(op);
  if (version == nullptr) return met;
  for (const schemas::AttrDesc& attribute : version->attributes) {
    const auto* named =
        std::find_if(std::begin(kNamed), std::end(kNamed), [&](const Named& n) { return n.name == attribute.name; });
    if (named == std::end(kNamed) || attribute.default_text.empty()) continue;
    parameters.*named->value = f32_attribute(op, attribute.name);
    met |= named->need;
  }
  return met;
}

}  // namespace

const OpRow* find_op_row(const Op& op) noexcept {
  for (const OpRow& row : kOpRows)
    if (row.dialect == op.dialect && row.kind == op.kind) return &row;
  return nullptr;
}

const schemas::OpVersion* onnx_version(const Op& op) noexcept {
  return op.dialect == Dialect::onnx ? version_of(op) : nullptr;
}

bool declares_attribute(const Op& op, std::string_view name) noexcept {
  const schemas::OpVersion* version = onnx_version(op);
  return version != nullptr && std::any_of(version->attributes.begin(), version->attributes.end(),
                                           [&](const schemas::AttrDesc& a) { return a.name == name; });
}

std::string function_name(const Op& op, const OpRow& row) {
  std::string name(row.name);
  if (name.empty()) {
    if (row.family == Family::reduce) return attribute_or<std::string>(op, "reduction", "");
    if (row.family == Family::arg_reduce) return attribute_or<std::string>(op, "mode", "");
    if (row.family == Family::map) name = attribute_or<std::string>(op, "function", "");
  }
  if (name == "clip" && (declares_attribute(op, "min") || find_attribute(op, "min") || find_attribute(op, "max")))
    return "clamp";
  if (name != "gelu") return name;
  if (op.dialect != Dialect::onnx) return attribute_or<std::string>(op, "mode", "gelu_erf");
  const auto approximate = attribute_or<std::string>(op, "approximate", "none");
  return approximate == "none" ? "gelu_erf" : "gelu_" + approximate;
}

Result<Parameters> read_parameters(const Op& op, const FunctionRow& function, std::size_t inputs, DType dtype) {
  Parameters parameters;
  parameters.dtype = dtype;
  std::uint8_t needs = inputs == 1 ? function.needs : std::uint8_t{kNothing};
  if (op.dialect != Dialect::onednn) needs &= static_cast<std::uint8_t>(~apply_defaults(op, function.name, parameters));
  for (const Named& named : kNamed) {
    const Attribute* given = find_attribute(op, named.name);
    const bool is_number = given != nullptr && std::holds_alternative<double>(*given);
    if (!is_number && (needs & named.need) != 0)
      return fail(op, Code::invalid_op, "attribute '" + std::string(named.name) + "' is missing or not a number");
    parameters.*named.value = f32_attribute(op, named.name, parameters.*named.value);
  }
  parameters.fmod = flag(op, "fmod", false);
  parameters.left = attribute_or<std::string>(op, "direction", "") == "LEFT";
  parameters.detect_negative = flag(op, "detect_negative", true);
  parameters.detect_positive = flag(op, "detect_positive", true);
  return parameters;
}

bool keeps_dims(const Op& op) noexcept {
  return op.dialect == Dialect::onnx ? flag(op, "keepdims", true) : flag(op, "keep_dims", false);
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

Status fail(const Op& op, Code code, const std::string& text) { return fail(op, Status(code, text)); }

Status fail(const Op& op, const Status& failure) { return failure.about(describe(op)); }

}  // namespace tenfold::graph
