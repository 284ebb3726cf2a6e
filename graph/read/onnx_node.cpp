// SPDX-License-Identifier: Apache-2.0
//
// See onnx_node.hpp.
#include "graph/read/onnx_node.hpp"

#include <onnx/onnx.pb.h>

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "graph/read/location.hpp"

namespace tenfold::graph {
namespace {

using Proto = onnx::AttributeProto;

/// Names are compared in pairs; ONNX's richest op has some twenty.
constexpr int kMostAttributes = 256;

/// Models of IR version 1 give no type; the field that is set tells it. Empty lists do not, and are taken as integers.
Proto::AttributeType type_of(const Proto& attribute) {
  if (attribute.type() != Proto::UNDEFINED) return attribute.type();
  if (attribute.has_f()) return Proto::FLOAT;
  if (attribute.has_s()) return Proto::STRING;
  if (attribute.has_t()) return Proto::TENSOR;
  if (attribute.has_g()) return Proto::GRAPH;
  if (attribute.floats_size() > 0) return Proto::FLOATS;
  if (attribute.strings_size() > 0) return Proto::STRINGS;
  if (attribute.tensors_size() > 0) return Proto::TENSORS;
  if (attribute.graphs_size() > 0) return Proto::GRAPHS;
  return attribute.has_i() ? Proto::INT : Proto::INTS;
}

std::string_view type_name(Proto::AttributeType type) {
  switch (type) {
    case Proto::TENSOR: return "a tensor";
    case Proto::TENSORS: return "tensors";
    case Proto::GRAPH:
    case Proto::GRAPHS: return "a graph";
    case Proto::STRINGS: return "a list of strings";
    case Proto::SPARSE_TENSOR:
    case Proto::SPARSE_TENSORS: return "a sparse tensor";
    case Proto::TYPE_PROTO:
    case Proto::TYPE_PROTOS: return "a type";
    default: return "a value of no known type";
  }
}

Status refuse(const std::string& what, const Proto& attribute) {
  const Proto::AttributeType type = type_of(attribute);
  const bool graph = type == Proto::GRAPH || type == Proto::GRAPHS;
  return Status(Code::unsupported_op, what + ": attribute " + shown(attribute.name()) + " holds " +
                                          std::string(type_name(type)) +
                                          (graph ? "; control flow is not supported" : ", which is not supported"));
}

std::optional<Attribute> value_of(const Proto& attribute) {
  switch (type_of(attribute)) {
    case Proto::INT: return attribute.i();
    case Proto::FLOAT: return static_cast<double>(attribute.f());
    case Proto::STRING: return attribute.s();
    case Proto::INTS: return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
    case Proto::FLOATS: return std::vector<double>(attribute.floats().begin(), attribute.floats().end());
    default: return std::nullopt;
  }
}

/// What may give a Constant its value. The op tables lack some, as no graph file can hold them.
struct ConstantForm {
  std::string_view name;
  std::int64_t since_opset;
};
constexpr ConstantForm kConstantForms[] = {{"value", 1},         {"sparse_value", 11}, {"value_float", 12},
                                           {"value_floats", 12}, {"value_int", 12},    {"value_ints", 12},
                                           {"value_string", 12}, {"value_strings", 12}};

Status check_constant_form(const std::string& name, const std::string& what, std::int64_t opset) {
  for (const ConstantForm& form : kConstantForms)
    if (form.name == name && form.since_opset > opset)
      return Status(Code::invalid_op, what + ": attribute " + shown(name) + " is not known in opset " +
                                          std::to_string(opset) + "; it is since opset " +
                                          std::to_string(form.since_opset));
  return {};
}

template <class T, class List>
Value constant_of(DType dtype, bool is_list, const List& elements) {
  Value value;
  value.dtype = dtype;
  value.ranked = true;
  if (is_list) value.shape.push_back(static_cast<std::int64_t>(elements.size()));
  value.property = Property::constant;
  value.is_constant = true;
  std::vector<std::byte> data;
  for (const T element : elements) {
    data.resize(data.size() + sizeof(T));
    std::memcpy(data.data() + data.size() - sizeof(T), &element, sizeof(T));
  }
  value.data = std::move(data);
  return value;
}

}  // namespace

std::string describe_node(const onnx::NodeProto& node, std::int64_t id) {
  std::string text = "op " + std::to_string(id);
  if (!node.name().empty()) text += " " + shown(node.name());
  const std::string type = shown(node.op_type());
  return text + " (" + type.substr(1, type.size() - 2) + ")";
}

Status read_attributes(const onnx::NodeProto& node, const std::string& what, Op& op) {
  if (node.attribute_size() > kMostAttributes)
    return Status(Code::invalid_file, what + ": " + std::to_string(node.attribute_size()) + " attributes; at most " +
                                          std::to_string(kMostAttributes) + " are read");
  for (const Proto& attribute : node.attribute()) {
    if (attribute.name().empty()) return Status(Code::invalid_file, what + ": an attribute has no name");
    if (find_attribute(op, attribute.name()) != nullptr)
      return Status(Code::invalid_op, what + ": attribute " + shown(attribute.name()) + " is given twice");
    if (!attribute.ref_attr_name().empty())
      return Status(Code::invalid_op, what + ": attribute " + shown(attribute.name()) +
                                          " refers to a function's attribute outside of a function");
    std::optional<Attribute> value = value_of(attribute);
    if (!value) return refuse(what, attribute);
    op.attributes.push_back({attribute.name(), std::move(*value)});
  }
  return {};
}

Result<Value> read_constant_node(const onnx::NodeProto& node, const std::string& what, std::int64_t opset,
                                 OnnxBudget& budget) {
  if (node.input_size() != 0 || node.output_size() != 1)
    return Status(Code::invalid_op, what + ": it has " + std::to_string(node.input_size()) + " inputs and " +
                                        std::to_string(node.output_size()) + " outputs, not 0 and 1");
  if (node.attribute_size() != 1)
    return Status(Code::invalid_op,
                  what + ": " + std::to_string(node.attribute_size()) + " attributes; exactly one gives its value");
  const Proto& attribute = node.attribute(0);
  const std::string& name = attribute.name();
  if (Status s = check_constant_form(name, what, opset); !s.ok()) return s;
  const Proto::AttributeType type = type_of(attribute);
  if (name == "value" && type == Proto::TENSOR) return onnx_constant(attribute.t(), what, budget);
  if (name == "value_float" && type == Proto::FLOAT)
    return constant_of<float>(DType::f32, false, std::vector<float>{attribute.f()});
  if (name == "value_floats" && type == Proto::FLOATS) return constant_of<float>(DType::f32, true, attribute.floats());
  if (name == "value_int" && type == Proto::INT)
    return constant_of<std::int64_t>(DType::s64, false, std::vector<std::int64_t>{attribute.i()});
  if (name == "value_ints" && (type == Proto::INTS))
    return constant_of<std::int64_t>(DType::s64, true, attribute.ints());
  if (name == "value_string" || name == "value_strings" || name == "sparse_value")
    return Status(Code::unsupported_dtype, what + ": " + shown(name) + " is no dense tensor of numbers");
  return Status(Code::invalid_op, what + ": attribute " + shown(name) + " gives no value to a constant");
}

Result<Value> read_fill_value(const onnx::NodeProto& node, const std::string& what, OnnxBudget& budget) {
  if (node.attribute_size() == 0) return constant_of<float>(DType::f32, false, std::vector<float>{0});
  const Proto& attribute = node.attribute(0);
  if (node.attribute_size() != 1 || attribute.name() != "value" || type_of(attribute) != Proto::TENSOR)
    return Status(Code::invalid_op, what + ": its only attribute is 'value', a tensor of one element");
  Result<Value> value = onnx_constant(attribute.t(), what, budget);
  if (!value.ok()) return value;
  const Result<std::int64_t> count = numel(value.value().shape);
  if (!count.ok() || count.value() != 1)
    return Status(Code::invalid_op, what + ": attribute 'value' must be a tensor of one element");
  value.value().shape.clear();
  return value;
}

}  // namespace tenfold::graph
