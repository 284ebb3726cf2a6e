// SPDX-License-Identifier: Apache-2.0
//
// Binding of input shapes, and of inputs that decide shapes; see binding.hpp.
#include "api/binding.hpp"

#include <algorithm>
#include <cstring>

#include "api/places.hpp"
#include "graph/check/check.hpp"
#include "graph/ir/attribute.hpp"

namespace tenfold::api {

namespace {

/// An input of an op that decides its outputs' shapes, by the op tables.
struct DecidingUse {
  const graph::Op* op;
  std::string_view port;
  graph::ValueId value;
};

void add_deciding_uses(const graph::Op& op, std::vector<DecidingUse>& uses) {
  const schemas::OpVersion* const version = graph::version_of(op);
  if (version == nullptr) return;
  for (std::size_t i = 0; i < std::min(version->inputs.size(), op.inputs.size()); ++i)
    if (version->inputs[i].decides_shape && op.inputs[i] != graph::kNone)
      uses.push_back({&op, version->inputs[i].name, op.inputs[i]});
}

}  // namespace

std::string values_text(const graph::Graph& graph, const std::vector<graph::ValueId>& places) {
  std::string text;
  for (const graph::ValueId v : places) {
    const graph::Value& value = graph.values[v];
    if (!text.empty()) text += ", ";
    text +=
        std::to_string(value.id) + " (" + std::string(to_string(value.dtype)) + " " + graph::shape_text(value) + ")";
  }
  return text.empty() ? "none" : text;
}

Status bind_input_shapes(graph::Graph& graph, const std::vector<std::pair<TensorId, Dims>>& shapes) {
  bool changed = false;
  const Places places(graph, graph.inputs);
  std::vector<bool> seen(graph.inputs.size());
  for (const auto& [id, shape] : shapes) {
    const std::string what = "input shape for tensor " + std::to_string(id);
    const std::size_t place = places.find(id);
    if (place == Places::kNowhere)
      return Status(Code::invalid_argument,
                    what + ": the graph has no such input; its inputs are " + values_text(graph, graph.inputs));
    if (seen[place]) return Status(Code::invalid_argument, what + ": given more than once");
    seen[place] = true;
    const Result<std::int64_t> count = numel(shape);
    if (!count.ok()) return count.status().about(what);
    graph::Value& value = graph.values[graph.inputs[place]];
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
    open += std::to_string(value.id) + " " + graph::shape_text(value);
  }
  if (open.empty()) return Status();
  return Status(Code::invalid_shape, "graph inputs with unknown dims: " + open + "; give their dims when compiling");
}

Result<std::vector<ShapeInput>> find_shape_inputs(const graph::Graph& core, const graph::Graph& bound) {
  std::vector<ShapeInput> found;
  std::vector<DecidingUse> uses;
  for (const graph::Op& op : core.ops) add_deciding_uses(op, uses);
  if (uses.empty()) return found;
  const Places places(bound, bound.inputs);
  std::vector<bool> seen(core.values.size());
  for (const DecidingUse& use : uses) {
    const graph::Value& value = core.values[use.value];
    if (value.is_constant) continue;
    const std::string what = graph::describe(*use.op) + ": input '" + std::string(use.port) + "' (tensor " +
                             std::to_string(value.id) + "), which decides shapes, ";
    if (value.producer != graph::kNone)
      return Status(Code::unsupported_op, what +
                                              "is computed by another op at run time; only attributes, constants "
                                              "and graph inputs may");
    ShapeInput input;
    input.id = value.id;
    if (seen[use.value]) continue;
    seen[use.value] = true;
    input.input = places.find(input.id);
    if (input.input == Places::kNowhere) return Status(Code::internal_error, what + "is not a graph input");
    const TensorDesc desc = graph::desc_of(bound.values[bound.inputs[input.input]]);
    if (desc.shape.size() > 1 || (desc.dtype != DType::s32 && desc.dtype != DType::s64))
      return Status(Code::invalid_op, what + "is " + std::string(to_string(desc.dtype)) + " " + to_string(desc.shape) +
                                          "; it must be s32 or s64, of rank 0 or 1");
    input.dtype = desc.dtype;
    input.count = desc.shape.empty() ? 1 : desc.shape[0];
    input.stride = desc.shape.empty() ? 1 : strides_of(desc)[0];
    if (input.count > 4 * kMaxRank)
      return Status(Code::invalid_shape,
                    what + "has " + std::to_string(input.count) + " elements, no tensor has that many dims");
    found.push_back(input);
  }
  return found;
}

void fix_shape_inputs(graph::Graph& bound, std::span<const ShapeInput> inputs, std::span<const std::int64_t> values) {
  std::size_t at = 0;
  for (const ShapeInput& input : inputs) {
    graph::Value& value = bound.values[bound.inputs[input.input]];
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
  }
  std::erase_if(bound.inputs, [&](graph::ValueId v) { return bound.values[v].is_constant; });
}

}  // namespace tenfold::api
