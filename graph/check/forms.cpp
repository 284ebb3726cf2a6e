// SPDX-License-Identifier: Apache-2.0
//
// Which shape rules apply to which op, as rows, and the scalar functions of core.map with the number of their inputs.
// An op of a new dialect that behaves like one here is one more row (or none, when its table category says it all).
#include <string_view>

#include "graph/check/check.hpp"
#include "graph/check/rules.hpp"
#include "graph/ir/attribute.hpp"

namespace tenfold::graph {
namespace {

struct KindRow {
  Dialect dialect;
  std::string_view kind;
  Form form;
};

constexpr KindRow kKinds[] = {
    {Dialect::onednn, "BiasAdd", Form::bias_add},
    {Dialect::onednn, "PReLU", Form::prelu},
    {Dialect::onednn, "Select", Form::select},
    {Dialect::onednn, "TypeCast", Form::cast},
    {Dialect::core, "cast", Form::cast},
    {Dialect::core, "scan", Form::cast},
    {Dialect::core, "select", Form::select},
    {Dialect::core, "reshape", Form::movement},
    {Dialect::core, "broadcast", Form::movement},
    {Dialect::core, "concat", Form::movement},
    {Dialect::core, "iota", Form::movement},
    {Dialect::core, "slice", Form::movement},
    {Dialect::core, "top_k", Form::movement},
    {Dialect::core, "transpose", Form::movement},
    {Dialect::onednn, "Concat", Form::movement},
    {Dialect::onednn, "GenIndex", Form::movement},
    {Dialect::onednn, "Reorder", Form::cast},
    {Dialect::onednn, "StaticReshape", Form::movement},
    {Dialect::onednn, "StaticTranspose", Form::movement},
    {Dialect::onednn, "Dequantize", Form::quantization},
    {Dialect::onednn, "DynamicDequantize", Form::quantization},
    {Dialect::onednn, "DynamicQuantize", Form::quantization},
    {Dialect::onednn, "Quantize", Form::quantization},
    {Dialect::onnx, "Concat", Form::movement},
    {Dialect::onnx, "CumSum", Form::cast},
    {Dialect::onnx, "DequantizeLinear", Form::quantization},
    {Dialect::onnx, "DynamicQuantizeLinear", Form::quantization},
    {Dialect::onnx, "Expand", Form::movement},
    {Dialect::onnx, "Flatten", Form::movement},
    {Dialect::onnx, "QuantizeLinear", Form::quantization},
    {Dialect::onnx, "Reshape", Form::movement},
    {Dialect::onnx, "Shape", Form::movement},
    {Dialect::onnx, "Size", Form::movement},
    {Dialect::onnx, "Slice", Form::movement},
    {Dialect::onnx, "Split", Form::movement},
    {Dialect::onnx, "Squeeze", Form::movement},
    {Dialect::onnx, "TopK", Form::movement},
    {Dialect::onnx, "Transpose", Form::movement},
    {Dialect::onnx, "Unsqueeze", Form::movement},
    {Dialect::onednn, "AbsBackward", Form::backward},
    {Dialect::onednn, "BiasAddBackward", Form::backward},
    {Dialect::onednn, "ClampBackward", Form::backward},
    {Dialect::onednn, "EluBackward", Form::backward},
    {Dialect::onednn, "GELUBackward", Form::backward},
    {Dialect::onednn, "HardSigmoidBackward", Form::backward},
    {Dialect::onednn, "HardSwishBackward", Form::backward},
    {Dialect::onednn, "MishBackward", Form::backward},
    {Dialect::onednn, "PReLUBackward", Form::backward},
    {Dialect::onednn, "ReLUBackward", Form::backward},
    {Dialect::onednn, "SigmoidBackward", Form::backward},
    {Dialect::onednn, "SoftPlusBackward", Form::backward},
    {Dialect::onednn, "SqrtBackward", Form::backward},
    {Dialect::onednn, "TanhBackward", Form::backward},
    {Dialect::core, "arg_reduce", Form::arg_reduction},
    {Dialect::onnx, "ArgMax", Form::arg_reduction},
    {Dialect::onnx, "ArgMin", Form::arg_reduction},
    {Dialect::onnx, "Where", Form::select},
    {Dialect::onednn, "BatchNormForwardTraining", Form::channel_norm},
    {Dialect::onednn, "BatchNormInference", Form::channel_norm},
    {Dialect::onednn, "BatchNormTrainingBackward", Form::channel_norm},
    {Dialect::onednn, "Dropout", Form::dropout},
    {Dialect::onednn, "GroupNorm", Form::group_norm},
    {Dialect::onednn, "LayerNorm", Form::layer_norm},
    {Dialect::onednn, "LayerNormBackward", Form::layer_norm_backward},
    {Dialect::onednn, "LogSoftmax", Form::axis_norm},
    {Dialect::onednn, "LogSoftmaxBackward", Form::axis_norm},
    {Dialect::onednn, "RMSNorm", Form::layer_norm},
    {Dialect::onednn, "SoftMax", Form::axis_norm},
    {Dialect::onednn, "SoftMaxBackward", Form::axis_norm},
    {Dialect::onnx, "BatchNormalization", Form::channel_norm},
    {Dialect::onnx, "GlobalAveragePool", Form::global_pool},
    {Dialect::onnx, "GlobalMaxPool", Form::global_pool},
    {Dialect::onnx, "GroupNormalization", Form::group_norm},
    {Dialect::onnx, "Hardmax", Form::axis_norm},
    {Dialect::onnx, "InstanceNormalization", Form::channel_norm},
    {Dialect::onnx, "LayerNormalization", Form::layer_norm},
    {Dialect::onnx, "LogSoftmax", Form::axis_norm},
    {Dialect::onnx, "LpNormalization", Form::axis_norm},
    {Dialect::onnx, "MeanVarianceNormalization", Form::mean_variance_norm},
    {Dialect::onnx, "RMSNormalization", Form::layer_norm},
    {Dialect::onnx, "Softmax", Form::axis_norm},
    {Dialect::onnx, "Clip", Form::clip},
    {Dialect::onnx, "Cast", Form::cast},
    {Dialect::onnx, "CastLike", Form::cast},
    {Dialect::onnx, "Constant", Form::constant},
    {Dialect::onnx, "PRelu", Form::prelu},
};

struct CategoryRow {
  std::string_view category;
  Form form;
};

constexpr CategoryRow kCategories[] = {
    {"unary", Form::elementwise},       {"binary", Form::elementwise},  {"map", Form::elementwise},
    {"variadic", Form::elementwise},    {"reduction", Form::reduction}, {"matmul", Form::matmul},
    {"convolution", Form::convolution}, {"pooling", Form::pool},        {"resampling", Form::interpolation},
};

constexpr FunctionFacts kFunctions[] = {
    {"abs", 1, 1},
    {"acos", 1, 1},
    {"acosh", 1, 1},
    {"asin", 1, 1},
    {"asinh", 1, 1},
    {"atan", 1, 1},
    {"atanh", 1, 1},
    {"bitwise_not", 1, 1},
    {"ceil", 1, 1},
    {"celu", 1, 1},
    {"clamp", 1, 1},
    {"cos", 1, 1},
    {"cosh", 1, 1},
    {"elu", 1, 1},
    {"erf", 1, 1},
    {"exp", 1, 1},
    {"floor", 1, 1},
    {"gelu_erf", 1, 1},
    {"gelu_tanh", 1, 1},
    {"hardsigmoid", 1, 1},
    {"hardswish", 1, 1},
    {"identity", 1, 1},
    {"leakyrelu", 1, 1},
    {"log", 1, 1},
    {"mish", 1, 1},
    {"neg", 1, 1},
    {"reciprocal", 1, 1},
    {"relu", 1, 1},
    {"round", 1, 1},
    {"selu", 1, 1},
    {"sigmoid", 1, 1},
    {"sign", 1, 1},
    {"sin", 1, 1},
    {"sinh", 1, 1},
    {"softplus", 1, 1},
    {"softsign", 1, 1},
    {"sqrt", 1, 1},
    {"square", 1, 1},
    {"swish", 1, 1},
    {"tan", 1, 1},
    {"tanh", 1, 1},
    {"thresholded_relu", 1, 1},
    {"isinf", 1, 1, true},
    {"isnan", 1, 1, true},
    {"not", 1, 1, true},
    {"pow", 1, 2},
    {"clip", 1, 3},
    {"bit_shift", 2, 2},
    {"bitwise_and", 2, 2},
    {"bitwise_or", 2, 2},
    {"bitwise_xor", 2, 2},
    {"div", 2, 2},
    {"mod", 2, 2},
    {"mul", 2, 2},
    {"prelu", 2, 2},
    {"squared_difference", 2, 2},
    {"sub", 2, 2},
    {"and", 2, 2, true},
    {"equal", 2, 2, true},
    {"greater", 2, 2, true},
    {"greater_equal", 2, 2, true},
    {"less", 2, 2, true},
    {"less_equal", 2, 2, true},
    {"or", 2, 2, true},
    {"xor", 2, 2, true},
    {"add", 1, kAnyInputs},
    {"max", 1, kAnyInputs},
    {"mean_of", 1, kAnyInputs},
    {"min", 1, kAnyInputs},
};

}  // namespace

Form form_of(const Op& op) {
  for (const KindRow& row : kKinds)
    if (row.dialect == op.dialect && row.kind == op.kind) return row.form;
  const schemas::OpDesc* desc = schemas::find_op(op.dialect, op.kind);
  if (desc == nullptr) return Form::other;
  for (const CategoryRow& row : kCategories)
    if (row.category == desc->category) return row.form;
  return Form::other;
}

bool has_legacy_broadcast(const Op& op) {
  if (op.dialect != Dialect::onnx) return false;
  const schemas::OpDesc* desc = schemas::find_op(op.dialect, op.kind);
  const schemas::OpVersion* version = version_of(op);
  if (desc == nullptr || version == nullptr) return false;
  return (desc->category == "binary" && version->since_version < 7) ||
         (desc->category == "variadic" && version->since_version < 8);
}

const FunctionFacts* find_function_facts(std::string_view name) noexcept {
  for (const FunctionFacts& row : kFunctions)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace tenfold::graph
