// SPDX-License-Identifier: Apache-2.0
//
// What onnx.hpp declares, with protobuf's lite runtime. A model that is read again gives the graph that was written:
// the reader numbers inputs, constants and what the nodes give in that order, which is the one that ids then have.
#include "graph/write/onnx.hpp"

#include <onnx/onnx.pb.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <new>
#include <set>
#include <utility>
#include <vector>

namespace tenfold::graph {
namespace {

/// TensorProto.DataType by dtype; 0: a model's tensors cannot have it.
constexpr std::pair<DType, int> kNumbers[] = {
    {DType::f32, 1},   {DType::u8, 2},       {DType::s8, 3},       {DType::u16, 4},  {DType::s16, 5},  {DType::s32, 6},
    {DType::s64, 7},   {DType::boolean, 9},  {DType::f16, 10},     {DType::f64, 11}, {DType::u32, 12}, {DType::u64, 13},
    {DType::bf16, 16}, {DType::f8_e4m3, 17}, {DType::f8_e5m2, 19}, {DType::u4, 21},  {DType::s4, 22},
};

int number_of(DType dtype) {
  for (const auto& [row, number] : kNumbers)
    if (row == dtype) return number;
  return 0;
}

/// The first format of models that is as old as the opset; 8 is the first with all that we write but the types of 8 and
/// 4 bits, which came with the opsets.
std::int64_t ir_version_of(int opset) { return opset < 19 ? 8 : opset < 21 ? 9 : opset < 23 ? 10 : 11; }

std::string describe_value(const Value& value) {
  return "tensor " + std::to_string(value.id) + (value.name.empty() ? "" : " '" + value.name + "'");
}

class OnnxWriter {
 public:
  explicit OnnxWriter(const Graph& graph) : graph_(graph), used_(graph.values.size(), false) {}

  Result<std::string> run() {
    if (graph_.outputs.empty()) return Status(Code::unsupported_op, "a graph without outputs, which a model has");
    if (Status s = find_opset(); !s.ok()) return s;
    for (const Op& op : graph_.ops)
      for (const ValueId v : op.inputs)
        if (v != kNone) used_[v] = true;
    for (const ValueId v : graph_.outputs) used_[v] = true;
    name_values();
    model_.set_ir_version(ir_version_of(opset_));
    model_.set_producer_name("tenfold");
    model_.add_opset_import()->set_version(opset_);
    model_.mutable_graph()->set_name("graph");
    if (Status s = write_tensors(); !s.ok()) return s;
    for (const Op& op : graph_.ops) write_node(op);
    std::string bytes;
    if (model_.ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      return Status(Code::unsupported_shape, "the model would have " + std::to_string(model_.ByteSizeLong()) +
                                                 " bytes; protobuf files have at most 2^31 - 1");
    if (!model_.SerializeToString(&bytes)) return Status(Code::internal_error, "protobuf cannot write the model");
    return bytes;
  }

 private:
  Status find_opset() {
    if (!graph_.ops.empty()) opset_ = graph_.ops[0].opset;
    for (const Op& op : graph_.ops) {
      if (op.dialect != Dialect::onnx) return Status(Code::unsupported_op, describe(op) + ": it is no op of ONNX");
      if (op.opset == 0 || op.opset != opset_)
        return Status(Code::invalid_graph, describe(op) + ": it is of opset " + std::to_string(op.opset) +
                                               ", the first op of " + std::to_string(opset_) +
                                               "; all ops of a model must be of the same");
    }
    return {};
  }

  void name_values() {
    names_.resize(graph_.values.size());
    std::set<std::string> taken;
    for (std::size_t v = 0; v < names_.size(); ++v)
      if (const std::string& name = graph_.values[v].name; !name.empty() && taken.insert(name).second) names_[v] = name;
    for (std::size_t v = 0; v < names_.size(); ++v) {
      if (!names_[v].empty()) continue;
      std::string name = "t" + std::to_string(graph_.values[v].id);
      while (!taken.insert(name).second) name += "_";
      names_[v] = std::move(name);
    }
  }

  Status write_tensors() {
    std::vector<ValueId> order(graph_.values.size());
    for (std::size_t v = 0; v < order.size(); ++v) order[v] = static_cast<ValueId>(v);
    std::stable_sort(order.begin(), order.end(),
                     [&](ValueId a, ValueId b) { return graph_.values[a].id < graph_.values[b].id; });
    std::vector<bool> listed(graph_.values.size(), false);
    for (const ValueId v : graph_.inputs) listed[v] = true;
    onnx::GraphProto& graph = *model_.mutable_graph();
    for (const ValueId v : order) {
      const Value& value = graph_.values[v];
      if (value.is_constant && used_[v]) {
        write_constant(v, *graph.add_initializer());
      } else if (listed[v]) {
        if (Status s = write_info(v, *graph.add_input()); !s.ok()) return s;
      }
    }
    for (const ValueId v : graph_.outputs) listed[v] = true;
    for (const ValueId v : order) {
      const Value& value = graph_.values[v];
      if (listed[v] || value.is_constant || value.producer == kNone || value.dtype == DType::undef) continue;
      if (Status s = write_info(v, *graph.add_value_info()); !s.ok()) return s;
    }
    for (const ValueId v : graph_.outputs)
      if (Status s = write_info(v, *graph.add_output()); !s.ok()) return s;
    return {};
  }

  Status write_info(ValueId v, onnx::ValueInfoProto& info) {
    const Value& value = graph_.values[v];
    const int number = number_of(value.dtype);
    if (number == 0)
      return Status(Code::unsupported_dtype,
                    describe_value(value) + " is " + std::string(to_string(value.dtype)) + ", which no model can say");
    info.set_name(names_[v]);
    onnx::TypeProto::Tensor& type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(number);
    if (!value.ranked) return {};
    onnx::TensorShapeProto& shape = *type.mutable_shape();
    for (std::size_t i = 0; i < value.shape.size(); ++i) {
      auto& dim = *shape.add_dim();
      if (value.shape[i] != kUnknownDim)
        dim.set_dim_value(value.shape[i]);
      else if (i < value.dim_names.size() && !value.dim_names[i].empty())
        dim.set_dim_param(value.dim_names[i]);
    }
    return {};
  }

  void write_constant(ValueId v, onnx::TensorProto& tensor) {
    const Value& value = graph_.values[v];
    tensor.set_name(names_[v]);
    tensor.set_data_type(number_of(value.dtype));
    for (const std::int64_t dim : value.shape) tensor.add_dims(dim);
    tensor.set_raw_data(value.data.data(), value.data.size());
  }

  void write_node(const Op& op) {
    onnx::NodeProto& node = *model_.mutable_graph()->add_node();
    node.set_op_type(op.kind);
    if (!op.name.empty()) node.set_name(op.name);
    for (const ValueId v : op.inputs) node.add_input(v == kNone ? std::string() : names_[v]);
    for (const ValueId v : op.outputs) node.add_output(v == kNone ? std::string() : names_[v]);
    for (const NamedAttribute& attribute : op.attributes) write_attribute(attribute, *node.add_attribute());
  }

  static void write_attribute(const NamedAttribute& attribute, onnx::AttributeProto& proto) {
    proto.set_name(attribute.name);
    if (const auto* i = std::get_if<std::int64_t>(&attribute.value)) {
      proto.set_type(onnx::AttributeProto::INT);
      proto.set_i(*i);
    } else if (const auto* b = std::get_if<bool>(&attribute.value)) {
      proto.set_type(onnx::AttributeProto::INT);
      proto.set_i(*b ? 1 : 0);
    } else if (const auto* f = std::get_if<double>(&attribute.value)) {
      proto.set_type(onnx::AttributeProto::FLOAT);
      proto.set_f(static_cast<float>(*f));
    } else if (const auto* s = std::get_if<std::string>(&attribute.value)) {
      proto.set_type(onnx::AttributeProto::STRING);
      proto.set_s(*s);
    } else if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&attribute.value)) {
      proto.set_type(onnx::AttributeProto::INTS);
      for (const std::int64_t element : *ints) proto.add_ints(element);
    } else if (const auto* floats = std::get_if<std::vector<double>>(&attribute.value)) {
      proto.set_type(onnx::AttributeProto::FLOATS);
      for (const double element : *floats) proto.add_floats(static_cast<float>(element));
    }
  }

  const Graph& graph_;
  onnx::ModelProto model_;
  std::vector<bool> used_;
  std::vector<std::string> names_;
  int opset_ = 18;  ///< of a graph without ops, too
};

}  // namespace

bool can_write_onnx() noexcept { return true; }

Result<std::string> write_onnx(const Graph& graph) {
  try {
    return OnnxWriter(graph).run();
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory, "out of memory while writing an ONNX model");
  } catch (const std::exception& error) {
    return Status(Code::internal_error, std::string("writing an ONNX model threw: ") + error.what());
  }
}

}  // namespace tenfold::graph
