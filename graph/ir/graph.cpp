// SPDX-License-Identifier: Apache-2.0
//
// What graph.hpp declares: attribute look-up, names for messages, and connect(), which derives a graph's edges.
#include "graph/ir/graph.hpp"

#include "graph/ir/dims.hpp"

namespace tenfold::graph {

const Attribute* find_attribute(const Op& op, std::string_view name) noexcept {
  for (const NamedAttribute& attribute : op.attributes)
    if (attribute.name == name) return &attribute.value;
  return nullptr;
}

void set_attribute(Op& op, std::string_view name, Attribute value) {
  for (NamedAttribute& attribute : op.attributes) {
    if (attribute.name == name) {
      attribute.value = std::move(value);
      return;
    }
  }
  op.attributes.push_back({std::string(name), std::move(value)});
}

bool names_source(const NamedAttribute& attribute) noexcept {
  return attribute.name == "source_kind" || attribute.name == "source_id";
}

std::string describe(const Op& op) {
  std::string text = "op " + std::to_string(attribute_or(op, "source_id", op.id));
  if (!op.name.empty()) text += " '" + op.name + "'";
  // The user knows the op by its kind before it was canonicalized, and a part of an op by that op.
  return text + " (" + (op.dialect == Dialect::onnx ? op.kind : attribute_or(op, "source_kind", op.kind)) + ")";
}

bool is_static(const Value& value) noexcept { return value.ranked && is_known(value.shape); }

std::string shape_text(const Value& value) { return value.ranked ? tenfold::to_string(value.shape) : "[*]"; }

bool may_agree(const Value& a, const Value& b) { return !a.ranked || !b.ranked || may_agree(a.shape, b.shape); }

void complete_shape(Value& known, const Value& said) {
  if (!said.ranked) return;
  if (!known.ranked) known.shape = said.shape;
  known.ranked = true;
  for (std::size_t i = 0; i < said.shape.size(); ++i)
    if (known.shape[i] == kUnknownDim) known.shape[i] = said.shape[i];
}

TensorDesc desc_of(const Value& value) { return {value.dtype, value.shape, value.strides}; }

void connect(Graph& graph, const std::vector<ValueId>& keep_outputs) {
  enum : unsigned char { kUsed = 1, kLeaves = 2, kListed = 4 };
  std::vector<unsigned char> marks(graph.values.size(), 0);
  for (Value& value : graph.values) value.producer = kNone;
  graph.inputs.clear();
  graph.outputs.clear();

  for (OpId id = 0; id < graph.ops.size(); ++id)
    for (const ValueId output : graph.ops[id].outputs)
      if (output != kNone) graph.values[output].producer = id;

  for (const Op& op : graph.ops) {
    const bool is_end = op.dialect == Dialect::onednn && op.kind == "End";
    for (const ValueId input : op.inputs) {
      if (input == kNone) continue;
      const Value& value = graph.values[input];
      if ((marks[input] & (kUsed | kLeaves)) == 0 && value.producer == kNone && !value.is_constant)
        graph.inputs.push_back(input);
      marks[input] |= is_end ? kLeaves : kUsed;
    }
  }
  for (const ValueId kept : keep_outputs) marks[kept] |= kLeaves;

  const auto list = [&](ValueId id) {
    if ((marks[id] & kListed) == 0) graph.outputs.push_back(id);
    marks[id] |= kListed;
  };
  for (const Op& op : graph.ops)
    for (const ValueId output : op.outputs)
      if (output != kNone && ((marks[output] & kLeaves) != 0 || (marks[output] & kUsed) == 0)) list(output);
  // What leaves without being produced (an End, or a kept output, of a graph input) comes last.
  for (ValueId id = 0; id < graph.values.size(); ++id)
    if ((marks[id] & kLeaves) != 0) list(id);
}

std::string_view to_string(Layout layout) noexcept {
  switch (layout) {
    case Layout::undef: return "undef";
    case Layout::any: return "any";
    case Layout::strided: return "strided";
    case Layout::opaque: return "opaque";
  }
  return "unknown";
}

std::string_view to_string(Property property) noexcept {
  switch (property) {
    case Property::undef: return "undef";
    case Property::variable: return "variable";
    case Property::constant: return "constant";
    case Property::host_scalar: return "host_scalar";
  }
  return "unknown";
}

}  // namespace tenfold::graph
