// SPDX-License-Identifier: Apache-2.0
//
// decompose(): composite ops of the dialects become several core ops each, by a table of functions. What one of them
// cannot say in core ops stays as it is, for the reference evaluator.
#include "graph/pass/decompose.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/pass/pass.hpp"

namespace tenfold::graph {
namespace {

struct Row {
  Dialect dialect;
  std::string_view kind;
  bool (*decompose)(Composer& make, const Op& op);
};

constexpr Row kComposites[] = {
    {Dialect::onednn, "Dequantize", decompose_dequantize},
    {Dialect::onednn, "DynamicDequantize", decompose_dequantize},
    {Dialect::onednn, "DynamicQuantize", decompose_quantize},
    {Dialect::onednn, "Quantize", decompose_quantize},
    {Dialect::onnx, "DequantizeLinear", decompose_dequantize},
    {Dialect::onnx, "DynamicQuantizeLinear", decompose_dynamic_quantize},
    {Dialect::onnx, "QuantizeLinear", decompose_quantize},
    {Dialect::onnx, "Split", decompose_split},
    {Dialect::onnx, "Hardmax", decompose_hardmax},
    {Dialect::onnx, "CumSum", decompose_cum_sum},
    {Dialect::onnx, "TopK", decompose_top_k},
    {Dialect::core, "iota", decompose_iota},
    {Dialect::onednn, "AbsBackward", decompose_backward},
    {Dialect::onednn, "ClampBackward", decompose_backward},
    {Dialect::onednn, "EluBackward", decompose_backward},
    {Dialect::onednn, "GELUBackward", decompose_backward},
    {Dialect::onednn, "HardSigmoidBackward", decompose_backward},
    {Dialect::onednn, "HardSwishBackward", decompose_backward},
    {Dialect::onednn, "MishBackward", decompose_backward},
    {Dialect::onednn, "ReLUBackward", decompose_backward},
    {Dialect::onednn, "SigmoidBackward", decompose_backward},
    {Dialect::onednn, "SoftPlusBackward", decompose_backward},
    {Dialect::onednn, "SqrtBackward", decompose_backward},
    {Dialect::onednn, "TanhBackward", decompose_backward},
    {Dialect::onednn, "PReLUBackward", decompose_prelu_backward},
    {Dialect::onednn, "BiasAddBackward", decompose_bias_add_backward},
    {Dialect::onednn, "BatchNormForwardTraining", decompose_batch_norm_training},
    {Dialect::onednn, "BatchNormInference", decompose_batch_norm},
    {Dialect::onednn, "BatchNormTrainingBackward", decompose_batch_norm_backward},
    {Dialect::onednn, "GroupNorm", decompose_group_norm},
    {Dialect::onednn, "LayerNorm", decompose_layer_norm},
    {Dialect::onednn, "LayerNormBackward", decompose_layer_norm_backward},
    {Dialect::onednn, "LogSoftmax", decompose_softmax},
    {Dialect::onednn, "LogSoftmaxBackward", decompose_softmax_backward},
    {Dialect::onednn, "AvgPool", decompose_heavy},
    {Dialect::onednn, "AvgPoolBackward", decompose_heavy},
    {Dialect::onednn, "ConvTranspose", decompose_heavy},
    {Dialect::onednn, "ConvTransposeBackwardData", decompose_heavy},
    {Dialect::onednn, "ConvTransposeBackwardWeights", decompose_heavy},
    {Dialect::onednn, "Convolution", decompose_heavy},
    {Dialect::onednn, "ConvolutionBackwardData", decompose_heavy},
    {Dialect::onednn, "ConvolutionBackwardWeights", decompose_heavy},
    {Dialect::onednn, "Interpolate", decompose_heavy},
    {Dialect::onednn, "InterpolateBackward", decompose_heavy},
    {Dialect::onednn, "MatMul", decompose_heavy},
    {Dialect::onednn, "MaxPool", decompose_heavy},
    {Dialect::onednn, "MaxPoolBackward", decompose_heavy},
    {Dialect::onednn, "RMSNorm", decompose_rms_norm},
    {Dialect::onednn, "SoftMax", decompose_softmax},
    {Dialect::onednn, "SoftMaxBackward", decompose_softmax_backward},
    {Dialect::onnx, "BatchNormalization", decompose_batch_norm},
    {Dialect::onnx, "Gemm", decompose_gemm},
    {Dialect::onnx, "GroupNormalization", decompose_group_norm},
    {Dialect::onnx, "InstanceNormalization", decompose_instance_norm},
    {Dialect::onnx, "LayerNormalization", decompose_layer_norm},
    {Dialect::onnx, "LogSoftmax", decompose_softmax},
    {Dialect::onnx, "LpNormalization", decompose_lp_norm},
    {Dialect::onnx, "MeanVarianceNormalization", decompose_mean_variance_norm},
    {Dialect::onnx, "RMSNormalization", decompose_rms_norm},
    {Dialect::onnx, "Softmax", decompose_softmax},
};

const Row* find_row(const Op& op) {
  const auto* row = std::find_if(std::begin(kComposites), std::end(kComposites),
                                 [&](const Row& r) { return r.dialect == op.dialect && r.kind == op.kind; });
  return row == std::end(kComposites) ? nullptr : row;
}

bool is_known(const Graph& graph, const std::vector<ValueId>& values) {
  return std::all_of(values.begin(), values.end(), [&](ValueId v) {
    return v == kNone || (graph.values[v].ranked && graph.values[v].dtype != DType::undef);
  });
}

}  // namespace

Status decompose(Graph& graph) {
  Composer make(graph);
  std::vector<Op> done;
  done.reserve(graph.ops.size());
  for (Op& op : graph.ops) {
    const Row* row = find_row(op);
    if (row != nullptr && is_known(graph, op.inputs) && is_known(graph, op.outputs)) {
      make.begin(op);
      if (row->decompose(make, op)) {
        for (Op& made : make.finish()) done.push_back(std::move(made));
        continue;
      }
      make.drop();
    }
    done.push_back(std::move(op));
  }
  graph.ops = std::move(done);
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    for (const ValueId v : graph.ops[i].outputs) graph.values[v].producer = static_cast<OpId>(i);
  return {};
}

}  // namespace tenfold::graph
