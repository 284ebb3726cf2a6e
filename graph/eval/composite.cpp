// SPDX-License-Identifier: Apache-2.0
//
// See composite.hpp. The rows name functions of the files by family, which normalize.hpp and its like declare.
#include "graph/eval/composite.hpp"

#include <string>

#include "graph/eval/backward.hpp"
#include "graph/eval/batch_norm.hpp"
#include "graph/eval/constant.hpp"
#include "graph/eval/convolution.hpp"
#include "graph/eval/dropout.hpp"
#include "graph/eval/evaluate_op.hpp"
#include "graph/eval/interpolate.hpp"
#include "graph/eval/movement.hpp"
#include "graph/eval/normalize.hpp"
#include "graph/eval/pool.hpp"
#include "graph/eval/products.hpp"
#include "graph/eval/quantize.hpp"
#include "graph/eval/shapes.hpp"
#include "graph/eval/softmax.hpp"

namespace tenfold::graph {
namespace {

constexpr CompositeRow kComposites[] = {
    {Dialect::onednn, "LogSoftmax", softmax_shapes, evaluate_softmax, bound_softmax},
    {Dialect::onednn, "LogSoftmaxBackward", softmax_backward_shapes, evaluate_softmax_backward, bound_softmax_backward},
    {Dialect::onednn, "SoftMax", softmax_shapes, evaluate_softmax, bound_softmax},
    {Dialect::onednn, "SoftMaxBackward", softmax_backward_shapes, evaluate_softmax_backward, bound_softmax_backward},
    {Dialect::onnx, "Hardmax", softmax_shapes, evaluate_hardmax, bound_hardmax},
    {Dialect::onnx, "LogSoftmax", softmax_shapes, evaluate_softmax, bound_softmax},
    {Dialect::onnx, "Softmax", softmax_shapes, evaluate_softmax, bound_softmax},
    {Dialect::onednn, "BatchNormInference", norm_shapes, evaluate_norm, bound_norm},
    {Dialect::onednn, "GroupNorm", norm_shapes, evaluate_norm, bound_norm},
    {Dialect::onednn, "LayerNorm", norm_shapes, evaluate_norm, bound_norm},
    {Dialect::onednn, "LayerNormBackward", norm_backward_shapes, evaluate_norm_backward, bound_norm_backward},
    {Dialect::onednn, "RMSNorm", norm_shapes, evaluate_norm, bound_norm},
    {Dialect::onnx, "BatchNormalization", norm_shapes, evaluate_norm, bound_norm},
    {Dialect::onnx, "GroupNormalization", norm_shapes, evaluate_norm, bound_norm},
    {Dialect::onnx, "InstanceNormalization", norm_shapes, evaluate_norm, bound_norm},
    {Dialect::onnx, "LayerNormalization", norm_shapes, evaluate_norm, bound_norm},
    {Dialect::onnx, "LpNormalization", norm_shapes, evaluate_norm, bound_norm},
    {Dialect::onnx, "MeanVarianceNormalization", norm_shapes, evaluate_norm, bound_norm},
    {Dialect::onnx, "RMSNormalization", norm_shapes, evaluate_norm, bound_norm},
    {Dialect::onnx, "GlobalAveragePool", global_pool_shapes, evaluate_global_pool, bound_global_pool},
    {Dialect::onnx, "GlobalMaxPool", global_pool_shapes, evaluate_global_pool, bound_global_pool},
    {Dialect::core, "broadcast", view_shapes, evaluate_view, bound_view},
    {Dialect::core, "slice", view_shapes, evaluate_view, bound_view},
    {Dialect::core, "transpose", view_shapes, evaluate_view, bound_view},
    {Dialect::onednn, "StaticTranspose", view_shapes, evaluate_view, bound_view},
    {Dialect::onnx, "Expand", view_shapes, evaluate_view, bound_view},
    {Dialect::onnx, "Slice", view_shapes, evaluate_view, bound_view},
    {Dialect::onnx, "Split", view_shapes, evaluate_view, bound_view},
    {Dialect::onnx, "Transpose", view_shapes, evaluate_view, bound_view},
    {Dialect::core, "concat", concat_shapes, evaluate_concat, bound_concat},
    {Dialect::onednn, "Concat", concat_shapes, evaluate_concat, bound_concat},
    {Dialect::onnx, "Concat", concat_shapes, evaluate_concat, bound_concat},
    {Dialect::core, "iota", shape_op_shapes, evaluate_shape_op, bound_shape_op},
    {Dialect::onednn, "GenIndex", shape_op_shapes, evaluate_shape_op, bound_shape_op},
    {Dialect::onnx, "Constant", constant_shapes, evaluate_constant, bound_constant},
    {Dialect::onnx, "Shape", shape_op_shapes, evaluate_shape_op, bound_shape_op},
    {Dialect::onnx, "Size", shape_op_shapes, evaluate_shape_op, bound_shape_op},
    {Dialect::onednn, "StaticReshape", reshape_shapes, evaluate_reshape, bound_reshape},
    {Dialect::onnx, "Flatten", reshape_shapes, evaluate_reshape, bound_reshape},
    {Dialect::onnx, "Reshape", reshape_shapes, evaluate_reshape, bound_reshape},
    {Dialect::onnx, "Squeeze", reshape_shapes, evaluate_reshape, bound_reshape},
    {Dialect::onnx, "Unsqueeze", reshape_shapes, evaluate_reshape, bound_reshape},
    {Dialect::core, "scan", scan_shapes, evaluate_scan, bound_scan},
    {Dialect::core, "top_k", scan_shapes, evaluate_scan, bound_scan},
    {Dialect::onnx, "CumSum", scan_shapes, evaluate_scan, bound_scan},
    {Dialect::onnx, "TopK", scan_shapes, evaluate_scan, bound_scan},
    {Dialect::onednn, "Dequantize", quantize_shapes, evaluate_quantize, bound_quantize},
    {Dialect::onednn, "DynamicDequantize", quantize_shapes, evaluate_quantize, bound_quantize},
    {Dialect::onednn, "DynamicQuantize", quantize_shapes, evaluate_quantize, bound_quantize},
    {Dialect::onednn, "Quantize", quantize_shapes, evaluate_quantize, bound_quantize},
    {Dialect::onnx, "DequantizeLinear", quantize_shapes, evaluate_quantize, bound_quantize},
    {Dialect::onnx, "QuantizeLinear", quantize_shapes, evaluate_quantize, bound_quantize},
    {Dialect::onnx, "DynamicQuantizeLinear", dynamic_quantize_shapes, evaluate_dynamic_quantize,
     bound_dynamic_quantize},
    {Dialect::onednn, "AbsBackward", backward_shapes, evaluate_backward, bound_backward},
    {Dialect::onednn, "ClampBackward", backward_shapes, evaluate_backward, bound_backward},
    {Dialect::onednn, "EluBackward", backward_shapes, evaluate_backward, bound_backward},
    {Dialect::onednn, "GELUBackward", backward_shapes, evaluate_backward, bound_backward},
    {Dialect::onednn, "HardSigmoidBackward", backward_shapes, evaluate_backward, bound_backward},
    {Dialect::onednn, "HardSwishBackward", backward_shapes, evaluate_backward, bound_backward},
    {Dialect::onednn, "MishBackward", backward_shapes, evaluate_backward, bound_backward},
    {Dialect::onednn, "ReLUBackward", backward_shapes, evaluate_backward, bound_backward},
    {Dialect::onednn, "SigmoidBackward", backward_shapes, evaluate_backward, bound_backward},
    {Dialect::onednn, "SoftPlusBackward", backward_shapes, evaluate_backward, bound_backward},
    {Dialect::onednn, "SqrtBackward", backward_shapes, evaluate_backward, bound_backward},
    {Dialect::onednn, "TanhBackward", backward_shapes, evaluate_backward, bound_backward},
    {Dialect::onednn, "ConvTranspose", convolution_shapes, evaluate_convolution, bound_convolution},
    {Dialect::onednn, "ConvTransposeBackwardData", convolution_shapes, evaluate_convolution, bound_convolution},
    {Dialect::onednn, "ConvTransposeBackwardWeights", convolution_shapes, evaluate_convolution, bound_convolution},
    {Dialect::onednn, "Convolution", convolution_shapes, evaluate_convolution, bound_convolution},
    {Dialect::onednn, "ConvolutionBackwardData", convolution_shapes, evaluate_convolution, bound_convolution},
    {Dialect::onednn, "ConvolutionBackwardWeights", convolution_shapes, evaluate_convolution, bound_convolution},
    {Dialect::onednn, "AvgPool", pool_shapes, evaluate_average_pool, bound_average_pool},
    {Dialect::onednn, "AvgPoolBackward", pool_shapes, evaluate_average_pool, bound_average_pool},
    {Dialect::onednn, "MaxPool", pool_shapes, evaluate_max_pool, bound_max_pool},
    {Dialect::onednn, "MaxPoolBackward", pool_shapes, evaluate_max_pool, bound_max_pool},
    {Dialect::onednn, "Interpolate", interpolate_shapes, evaluate_interpolate, bound_interpolate},
    {Dialect::onednn, "InterpolateBackward", interpolate_shapes, evaluate_interpolate, bound_interpolate},
    {Dialect::onednn, "BatchNormForwardTraining", batch_norm_shapes, evaluate_batch_norm, bound_batch_norm},
    {Dialect::onednn, "BatchNormTrainingBackward", batch_norm_shapes, evaluate_batch_norm, bound_batch_norm},
    {Dialect::onednn, "Dropout", dropout_shapes, evaluate_dropout, bound_dropout},
    {Dialect::onednn, "MatMul", matmul_shapes, evaluate_matmul, bound_matmul},
    {Dialect::onnx, "AveragePool", pool_shapes, evaluate_average_pool, bound_average_pool},
    {Dialect::onnx, "Conv", convolution_shapes, evaluate_convolution, bound_convolution},
    {Dialect::onnx, "ConvTranspose", convolution_shapes, evaluate_convolution, bound_convolution},
    {Dialect::onnx, "Gemm", matmul_shapes, evaluate_matmul, bound_matmul},
    {Dialect::onnx, "MatMul", matmul_shapes, evaluate_matmul, bound_matmul},
    {Dialect::onnx, "MaxPool", pool_shapes, evaluate_max_pool, bound_max_pool},
    {Dialect::onednn, "BiasAddBackward", summing_backward_shapes, evaluate_summing_backward, bound_summing_backward},
    {Dialect::onednn, "PReLUBackward", summing_backward_shapes, evaluate_summing_backward, bound_summing_backward},
};

}  // namespace

const CompositeRow* find_composite(const Op& op) noexcept {
  for (const CompositeRow& row : kComposites)
    if (row.dialect == op.dialect && row.kind == op.kind) return &row;
  return nullptr;
}

Status evaluate_composite(const CompositeRow& row, const Op& op, Inputs inputs, Outputs outputs) {
  Result<std::vector<Dims>> shapes = row.shapes(op, inputs);
  if (!shapes.ok()) return shapes.status();
  if (outputs.empty() || outputs.size() > shapes.value().size())
    return fail(op, Code::invalid_op,
                std::to_string(outputs.size()) + " outputs, not 1 to " + std::to_string(shapes.value().size()));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (Status s = expect_shape(op, outputs[i], shapes.value()[i]); !s.ok()) return s;
  return row.evaluate(op, inputs, outputs);
}

bool has_input(Inputs inputs, std::size_t index) noexcept {
  return index < inputs.size() && !is_missing(inputs[index]);
}

}  // namespace tenfold::graph
