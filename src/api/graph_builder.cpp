// SPDX-License-Identifier: Apache-2.0
//
// GraphBuilder: collects ops into the IR in oneDNN's dialect. It checks only what a file cannot get wrong (ids, data);
// the rules of the ops are verify()'s, at finish() (finish.hpp).
#include "tenfold/graph_builder.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/finish.hpp"
#include "api/guard.hpp"
#include "graph/ir/graph.hpp"
#include "schemas/op_table.hpp"

namespace tenfold {

namespace {

/// What op() returns after a mistake; using it in later calls makes no further noise.
constexpr TensorId kBadTensor = -1;

const schemas::OpVersion* newest_version(const std::string& kind) {
  const schemas::OpDesc* desc = schemas::find_op(schemas::Dialect::onednn, kind);
  return desc == nullptr ? nullptr : schemas::version_for(*desc, 0);
}

/// Integers written where the table wants reals, such as {"alpha", 1}, become reals.
graph::Attribute fit_to_table(const schemas::OpVersion* version, const std::string& name, graph::Attribute value) {
  if (version == nullptr) return value;
  for (const schemas::AttrDesc& attribute : version->attributes) {
    if (attribute.name != name) continue;
    if (const auto* one = std::get_if<std::int64_t>(&value); one != nullptr && attribute.type == schemas::AttrType::f32)
      return static_cast<double>(*one);
    if (const auto* many = std::get_if<std::vector<std::int64_t>>(&value);
        many != nullptr && attribute.type == schemas::AttrType::f32s) {
      std::vector<double> reals;
      for (const std::int64_t i : *many) reals.push_back(static_cast<double>(i));
      return reals;
    }
  }
  return value;
}

}  // namespace

struct GraphBuilder::Impl {
  graph::Graph graph;  ///< a value's index is its tensor id
  Status error;        ///< the first mistake

  TensorId fail(Status mistake) {
    if (error.ok()) error = std::move(mistake);
    return kBadTensor;
  }
  TensorId fail(Code code, const std::string& message) { return fail(Status(code, message)); }
  bool known(TensorId id) const { return id >= 0 && id < static_cast<TensorId>(graph.values.size()); }

  graph::Value& add_value(const TensorDesc& desc) {
    graph::Value value;
    value.id = static_cast<TensorId>(graph.values.size());
    value.dtype = desc.dtype;
    value.ranked = true;
    value.shape = desc.shape;
    value.strides = desc.strides;
    graph.values.push_back(std::move(value));
    return graph.values.back();
  }

  bool accept(const TensorDesc& desc, const char* what) {
    const Result<std::int64_t> span = least_span_bytes(desc);
    if (!span.ok()) fail(span.status().about(what));
    if (desc.dtype == DType::undef) fail(Code::invalid_dtype, std::string(what) + ": the dtype is undef");
    if (!is_known(desc.shape) && !desc.strides.empty())
      fail(Code::invalid_shape, std::string(what) + ": strides are given, but not every dim is known");
    return error.ok();
  }

  std::optional<DType> dtype_of_output(const graph::Op& op, const schemas::OpVersion& version, std::size_t port);
  TensorId add_op(graph::Op op, DType output_dtype);
};

/// The dtype that the op's table row fixes: of an input with the same symbol, the only one allowed, or, for an op that
/// does not convert, the first input's. Nothing when the caller must say.
std::optional<DType> GraphBuilder::Impl::dtype_of_output(const graph::Op& op, const schemas::OpVersion& version,
                                                         std::size_t port) {
  const std::uint8_t constraint = version.outputs[port].constraint;
  for (std::size_t i = 0; i < op.inputs.size() && i < version.inputs.size(); ++i)
    if (version.inputs[i].constraint == constraint) return graph.values[op.inputs[i]].dtype;
  const schemas::DTypeSet allowed = version.constraints[constraint].allowed;
  for (const DTypeRow& r : kDTypes)
    if (schemas::bit(r.dtype) == allowed) return r.dtype;
  const schemas::OpDesc* desc = schemas::find_op(schemas::Dialect::onednn, op.kind);
  const bool converts = desc->category == "conversion" || desc->category == "quantization";
  if (converts || op.inputs.empty()) return std::nullopt;
  return graph.values[op.inputs[0]].dtype;
}

TensorId GraphBuilder::Impl::add_op(graph::Op op, DType output_dtype) {
  const schemas::OpVersion* version = newest_version(op.kind);
  const std::size_t ports = version == nullptr ? 1 : version->outputs.size();
  TensorId first = kBadTensor;
  for (std::size_t port = 0; port < ports; ++port) {
    if (port > 0 && version->outputs[port].optional) break;
    std::optional<DType> dtype = output_dtype;
    if (output_dtype == DType::undef || port > 0)
      dtype = version == nullptr ? DType::f32 : dtype_of_output(op, *version, port);
    if (!dtype) return fail(Code::invalid_dtype, graph::describe(op) + ": the output's dtype must be given");
    graph::Value& value = add_value(TensorDesc{*dtype, {}, {}});
    value.ranked = false;
    op.outputs.push_back(static_cast<graph::ValueId>(value.id));
    if (port == 0) first = value.id;
  }
  graph.ops.push_back(std::move(op));
  return first;
}

GraphBuilder::GraphBuilder() : impl_(std::make_unique<Impl>()) {}
GraphBuilder::~GraphBuilder() = default;
GraphBuilder::GraphBuilder(GraphBuilder&&) noexcept = default;
GraphBuilder& GraphBuilder::operator=(GraphBuilder&&) noexcept = default;

TensorId GraphBuilder::input(TensorDesc desc) {  // NOLINT(performance-unnecessary-value-param): the API's
  const std::string what = "input " + std::to_string(impl_->graph.values.size());
  return impl_->accept(desc, what.c_str()) ? impl_->add_value(desc).id : kBadTensor;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): the API's
TensorId GraphBuilder::constant(TensorDesc desc, const void* data) {
  const std::string what = "constant " + std::to_string(impl_->graph.values.size());
  if (!impl_->accept(desc, what.c_str())) return kBadTensor;
  // Constant data are row-major and without gaps, also of dtypes of which a byte holds two.
  const Result<std::int64_t> bytes = span_bytes({desc.dtype, desc.shape, {}});
  if (!bytes.ok()) return impl_->fail(bytes.status().about(what));
  if (data == nullptr && bytes.value() > 0) return impl_->fail(Code::invalid_argument, what + ": the data is null");
  graph::Value& value = impl_->add_value(desc);
  // The desc's strides have nothing to say about it.
  value.strides.clear();
  value.property = graph::Property::constant;
  value.is_constant = true;
  const auto* first = static_cast<const std::byte*>(data);
  value.data = std::vector<std::byte>(first, first + bytes.value());
  return value.id;
}

// NOLINTBEGIN(performance-unnecessary-value-param): the API's
TensorId GraphBuilder::op(std::string kind, std::vector<TensorId> inputs,
                          std::vector<std::pair<std::string, AttributeValue>> attributes, DType output_dtype) {
  // NOLINTEND(performance-unnecessary-value-param)
  if (!impl_->error.ok()) return kBadTensor;
  graph::Op op;
  op.id = static_cast<std::int64_t>(impl_->graph.ops.size());
  op.name = kind + "_" + std::to_string(op.id);
  op.kind = std::move(kind);
  for (const TensorId id : inputs) {
    if (!impl_->known(id))
      return impl_->fail(Code::invalid_graph,
                         graph::describe(op) + ": input " + std::to_string(id) + " is no tensor of this graph");
    op.inputs.push_back(static_cast<graph::ValueId>(id));
  }
  const schemas::OpVersion* version = newest_version(op.kind);
  for (auto& [name, value] : attributes) {
    if (graph::find_attribute(op, name) != nullptr)
      return impl_->fail(Code::invalid_op, graph::describe(op) + ": attribute '" + name + "' is given twice");
    graph::set_attribute(op, name, fit_to_table(version, name, std::move(value)));
  }
  return impl_->add_op(std::move(op), output_dtype);
}

Result<Graph> GraphBuilder::finish(std::vector<TensorId> outputs) {
  return api::guarded([&]() -> Result<Graph> {
    if (!impl_->error.ok()) return impl_->error;
    return api::finish_graph(impl_->graph, outputs);
  });
}

}  // namespace tenfold
