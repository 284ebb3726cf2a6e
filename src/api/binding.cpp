// SPDX-License-Identifier: Apache-2.0
//
// Binding of input shapes and of run-time axes; see binding.hpp.
#include "api/binding.hpp"

#include <algorithm>
#include <cstring>

#include "graph/check/check.hpp"

namespace tenfold::api {

namespace {

graph::ValueId find_input(const graph::Graph& graph, TensorId id) {
  for (const graph::ValueId v : graph.inputs)
    if (graph.values[v].id == id) return v;
  return graph::kNone;
}

/// Which inputs of an op decide its outputs' shapes by their elements: axes of a reduction, and what ONNX's ops that
/// move elements, and oneDNN's that slide windows, take as tensors. Inputs [first, last).
struct Deciding {
  graph::Dialect dialect;
  std::string_view kind;
  std::size_t first;
  std::size_t last;
};
constexpr Deciding kDeciding[] = {
    {graph::Dialect::core, "reduce", 1, 2},
    {graph::Dialect::onnx, "Expand", 1, 2},
    {graph::Dialect::onnx, "Reshape", 1, 2},
    {graph::Dialect::onnx, "Slice", 1, 5},
    {graph::Dialect::onnx, "Split", 1, 2},
    {graph::Dialect::onnx, "Squeeze", 1, 2},
    {graph::Dialect::onnx, "TopK", 1, 2},
    {graph::Dialect::onnx, "Unsqueeze", 1, 2},
    {graph::Dialect::onednn, "AvgPoolBackward", 1, 2},
    {graph::Dialect::onednn, "ConvTransposeBackwardWeights", 2, 3},
    {graph::Dialect::onednn, "ConvolutionBackwardData", 2, 3},
    {graph::Dialect::onednn, "ConvolutionBackwardWeights", 2, 3},
    {graph::Dialect::onednn, "Interpolate", 1, 2},
    {graph::Dialect::onednn, "InterpolateBackward", 2, 3},
};

std::vector<graph::ValueId> deciding_operands(const graph::Op& op) {
  std::vector<graph::ValueId> found;
  for (const Deciding& row : kDeciding)
    if (row.dialect == op.dialect && row.kind == op.kind)
      for (std::size_t i = row.first; i < std::min(row.last, op.inputs.size()); ++i)
        if (op.inputs[i] != graph::kNone) found.push_back(op.inputs[i]);
  return found;
}

}  // namespace

std::string shape_text(const Dims& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += shape[i] == kUnknownDim ? "?" : std::to_string(shape[i]);
  }
  return text + "]";
}

std::string values_text(const graph::Graph& graph, const std::vector<graph::ValueId>& places) {
  std::string text;
  for (const graph::ValueId v : places) {
    const graph::Value& value = graph.values[v];
    if (!text.empty()) text += ", ";
    text += std::to_string(value.id) + " (" + std::string(to_string(value.dtype)) + " " +
            (value.ranked ? shape_text(value.shape) : "[*]") + ")";
  }
  return text.empty() ? "none" : text;
}

Status bind_input_shapes(graph::Graph& graph, const std::vector<std::pair<TensorId, Dims>>& shapes) {
  bool changed = false;
  std::vector<TensorId> seen;
  for (const auto& [id, shape] : shapes) {
    const std::string what = "input shape for tensor " + std::to_string(id);
    const graph::ValueId v = find_input(graph, id);
    if (v == graph::kNone)
      return Status(Code::invalid_argument,
                    what + ": the graph has no such input; its inputs are " + values_text(graph, graph.inputs));
    if (std::find(seen.begin(), seen.end(), id) != seen.end())
      return Status(Code::invalid_argument, what + ": given more than once");
    seen.push_back(id);
    const Result<std::int64_t> count = numel(shape);
    if (!count.ok()) return Status(count.status().code(), what + ": " + count.status().message());
    graph::Value& value = graph.values[v];
    if (value.ranked && value.shape == shape) continue;
    value.ranked = true;
    value.shape = shape;
    value.strides.clear();
    changed = true;
  }
  if (changed) graph::forget_shapes(graph);
  return Status();
}

Status require_known_inputs(const graph::Graph& graph) {
  std::string open;
  for (const graph::ValueId v : graph.inputs) {
    const graph::Value& value = graph.values[v];
    if (graph::is_static(value)) continue;
    if (!open.empty()) open += ", ";
    open += std::to_string(value.id) + " " + (value.ranked ? shape_text(value.shape) : "[*]");
  }
  if (open.empty()) return Status();
  return Status(Code::invalid_shape, "graph inputs with unknown dims: " + open + "; give their dims when compiling");
}

Result<std::vector<AxesInput>> find_axes_inputs(const graph::Graph& core, const graph::Graph& bound) {
  std::vector<AxesInput> found;
  std::vector<std::pair<std::size_t, graph::ValueId>> operands;
  for (std::size_t i = 0; i < core.ops.size(); ++i)
    for (const graph::ValueId operand : deciding_operands(core.ops[i]))
      if (!core.values[operand].is_constant) operands.emplace_back(i, operand);
  for (const auto& [op_index, axes] : operands) {
    const graph::Op& op = core.ops[op_index];
    const graph::Value& value = core.values[axes];
    const std::string tensor = "tensor " + std::to_string(value.id);
    if (value.producer != graph::kNone)
      return Status(Code::unsupported_op, graph::describe(op) + ": its axes (" + tensor +
                                              ") are computed by another op at run time; only axes that are "
                                              "attributes, constants or graph inputs are supported");
    AxesInput input;
    input.id = value.id;
    if (std::any_of(found.begin(), found.end(), [&](const AxesInput& a) { return a.id == input.id; })) continue;
    const auto place = std::find_if(bound.inputs.begin(), bound.inputs.end(),
                                    [&](graph::ValueId v) { return bound.values[v].id == input.id; });
    if (place == bound.inputs.end())
      return Status(Code::internal_error, graph::describe(op) + ": its axes (" + tensor + ") are not a graph input");
    input.input = static_cast<std::size_t>(place - bound.inputs.begin());
    const TensorDesc desc = graph::desc_of(bound.values[*place]);
    if (desc.shape.size() > 1 || (desc.dtype != DType::s32 && desc.dtype != DType::s64))
      return Status(Code::invalid_op, graph::describe(op) + ": its axes (" + tensor + ") are " +
                                          std::string(to_string(desc.dtype)) + " " + shape_text(desc.shape) +
                                          "; they must be s32 or s64, of rank 0 or 1");
    input.dtype = desc.dtype;
    input.count = desc.shape.empty() ? 1 : desc.shape[0];
    input.stride = desc.shape.empty() ? 1 : strides_of(desc)[0];
    if (input.count > 4 * kMaxRank)
      return Status(Code::invalid_shape, graph::describe(op) + ": its axes (" + tensor + ") are " +
                                             std::to_string(input.count) + " elements, no tensor has that many dims");
    found.push_back(input);
  }
  return found;
}

void fix_axes(graph::Graph& bound, std::span<const AxesInput> axes_inputs, std::span<const std::int64_t> values) {
  std::size_t at = 0;
  for (const AxesInput& input : axes_inputs) {
    graph::Value& value = bound.values[find_input(bound, input.id)];
    const auto size = static_cast<std::size_t>(byte_size(input.dtype));
    std::vector<std::byte> data(static_cast<std::size_t>(input.count) * size);
    for (std::size_t i = 0; i < static_cast<std::size_t>(input.count); ++i, ++at) {
      const auto narrow = static_cast<std::int32_t>(values[at]);
      const void* element = input.dtype == DType::s32 ? static_cast<const void*>(&narrow) : &values[at];
      std::memcpy(data.data() + i * size, element, size);
    }
    value.data = std::move(data);
    value.is_constant = true;
    value.property = graph::Property::constant;
    value.strides.clear();
    std::erase_if(bound.inputs, [&](graph::ValueId v) { return bound.values[v].id == input.id; });
  }
}

}  // namespace tenfold::api
