// SPDX-License-Identifier: Apache-2.0
//
// Ops of both dialects that only move elements, as core ops: all that changes the shape alone becomes core.reshape,
// whatever it is called. What needs numbers that come at run time stays in its dialect.
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/check/movement.hpp"
#include "graph/pass/core_form.hpp"
#include "graph/pass/decompose.hpp"

namespace tenfold::graph {
namespace {

enum class To : std::uint8_t { reshape, transpose, broadcast, slice, concat, iota };

struct Row {
  Dialect dialect;
  std::string_view kind;
  To to;
};

constexpr Row kRows[] = {
    {Dialect::onednn, "Concat", To::concat},
    {Dialect::onednn, "GenIndex", To::iota},
    {Dialect::onednn, "StaticReshape", To::reshape},
    {Dialect::onednn, "StaticTranspose", To::transpose},
    {Dialect::onnx, "Concat", To::concat},
    {Dialect::onnx, "Expand", To::broadcast},
    {Dialect::onnx, "Flatten", To::reshape},
    {Dialect::onnx, "Reshape", To::reshape},
    {Dialect::onnx, "Slice", To::slice},
    {Dialect::onnx, "Squeeze", To::reshape},
    {Dialect::onnx, "Transpose", To::transpose},
    {Dialect::onnx, "Unsqueeze", To::reshape},
};

bool is_unknown(std::int64_t dim) { return dim == kUnknownDim; }

void turn(Op& op, std::string_view kind, std::vector<NamedAttribute> attributes) {
  op.attributes = std::move(attributes);
  if (kind != "concat") op.inputs.resize(1);
  become(op, kind);
}

/// A shape that a caller gives at run time must be looked at then, even where only one is possible.
bool is_shaped_by_caller(const Graph& graph, const Op& op) {
  if (op.inputs.size() < 2 || op.inputs[1] == kNone) return false;
  const Value& given = graph.values[op.inputs[1]];
  return !given.is_constant && given.producer == kNone;
}

void to_reshape(const Graph& graph, Op& op) {
  const Value& result = graph.values[op.outputs[0]];
  if (is_shaped_by_caller(graph, op)) return;
  if (!result.ranked || std::count_if(result.shape.begin(), result.shape.end(), is_unknown) > 1) return;
  Dims shape = result.shape;
  std::replace(shape.begin(), shape.end(), kUnknownDim, std::int64_t{-1});
  turn(op, "reshape", {{"shape", std::move(shape)}});
}

void to_transpose(const Graph& graph, Op& op) {
  const Value& source = graph.values[op.inputs[0]];
  if (!source.ranked) return;
  Result<Integers> permutation = permutation_of(op, source.shape.size());
  if (permutation.ok()) turn(op, "transpose", {{"permutation", std::move(permutation).value()}});
}

void to_slice(const Graph& graph, Op& op) {
  const Result<std::optional<SlicePlan>> plan = slice_plan(graph, op);
  if (!plan.ok() || !plan.value() || !plan.value()->exact) return;
  if (!is_known(plan.value()->shape)) return;
  turn(op, "slice", {{"starts", plan.value()->starts}, {"steps", plan.value()->steps}, {"shape", plan.value()->shape}});
}

/// Axes count from the front in core ops.
void to_axis_op(const Graph& graph, Op& op, std::string_view kind) {
  const Value& source = graph.values[op.inputs[0]];
  std::int64_t axis = attribute_or<std::int64_t>(op, "axis", 1);
  if (axis < 0 && !source.ranked) return;
  if (axis < 0) axis += static_cast<std::int64_t>(source.shape.size());
  turn(op, kind, {{"axis", axis}});
}

void append(std::vector<std::byte>& data, std::int64_t element) {
  data.resize(data.size() + sizeof element);
  std::memcpy(data.data() + data.size() - sizeof element, &element, sizeof element);
}

}  // namespace

void move_to_core(const Graph& graph, Op& op) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows),
                                 [&](const Row& r) { return r.dialect == op.dialect && r.kind == op.kind; });
  if (row == std::end(kRows)) return;
  switch (row->to) {
    case To::reshape: to_reshape(graph, op); break;
    case To::transpose: to_transpose(graph, op); break;
    case To::slice: to_slice(graph, op); break;
    case To::concat: to_axis_op(graph, op, "concat"); break;
    case To::iota: to_axis_op(graph, op, "iota"); break;
    case To::broadcast:
      if (const Value& result = graph.values[op.outputs[0]]; is_static(result))
        turn(op, "broadcast", {{"shape", result.shape}});
      break;
  }
}

bool become_shape(const Graph& graph, const Op& op, Value& value) {
  if (op.dialect != Dialect::onnx || (op.kind != "Shape" && op.kind != "Size")) return false;
  const Value& source = graph.values[op.inputs[0]];
  if (!source.ranked) return false;
  std::vector<std::byte> data;
  if (op.kind == "Shape") {
    const DimRange told = dim_range(op, source.shape.size());
    for (std::size_t i = told.first; i < told.last; ++i) {
      if (is_unknown(source.shape[i])) return false;
      append(data, source.shape[i]);
    }
  } else {
    const Result<std::int64_t> count = numel(source.shape);
    if (!count.ok()) return false;
    append(data, count.value());
  }
  value.data = std::move(data);
  value.is_constant = true;
  value.property = Property::constant;
  value.producer = kNone;
  return true;
}

bool decompose_split(Composer& make, const Op& op) {
  const Result<std::optional<SplitPlan>> plan = split_plan(make.graph(), op);
  if (!plan.ok() || !plan.value()) return false;
  const ValueId source = op.inputs[0];
  Dims shape = make.shape(source);
  const std::size_t axis = plan.value()->axis;
  Integers starts(shape.size(), 0);
  const Integers steps(shape.size(), 1);
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    shape[axis] = plan.value()->sizes[i];
    if (!is_known(shape)) return false;
    // A part without elements begins nowhere.
    Integers first = starts;
    if (shape[axis] == 0) first[axis] = 0;
    make.give(i, make.add("slice", {source}, {{"starts", first}, {"steps", steps}, {"shape", shape}},
                          make.dtype(source), shape));
    starts[axis] += shape[axis];
  }
  return true;
}

}  // namespace tenfold::graph
