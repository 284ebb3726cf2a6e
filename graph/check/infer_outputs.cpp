// SPDX-License-Identifier: Apache-2.0
//
// What each op makes of its inputs' dtypes, and whether what a file says of its output agrees with what follows from
// them. Shapes are output_shapes.cpp's.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/check/report.hpp"
#include "graph/check/rules.hpp"
#include "graph/ir/attribute.hpp"

namespace tenfold::graph {
namespace {

const Value& input(const Graph& graph, const Op& op, std::size_t i) { return graph.values[op.inputs[i]]; }

DType constant_dtype(const Op& op) {
  const Attribute& value = op.attributes[0].value;
  const bool integer =
      std::holds_alternative<std::int64_t>(value) || std::holds_alternative<std::vector<std::int64_t>>(value);
  return integer ? DType::s64 : DType::f32;
}

/// Functions of core.map whose result does not have the dtype that all arguments share.
DType function_dtype(const Graph& graph, const Op& op) {
  if (op.dialect != Dialect::core || op.kind != "map") return DType::undef;
  const std::string function = attribute_or<std::string>(op, "function", "");
  const FunctionFacts* facts = find_function_facts(function);
  if (facts != nullptr && facts->truth) return DType::boolean;
  return function == "pow" ? input(graph, op, 0).dtype : DType::undef;
}

/// The dtype of an output by the table: that of an input of the same symbol, or the only one there is; for elementwise
/// ops also the one that all inputs share.
DType output_dtype(const Graph& graph, const Op& op, Form form, std::size_t index) {
  const schemas::OpVersion* found = version_of(op);
  if (found == nullptr || found->outputs.empty()) return DType::undef;
  const schemas::OpVersion& version = *found;
  if (index > 0 && form == Form::layer_norm && op.dialect == Dialect::onnx) return onnx_stash_dtype(op);
  if (op.dialect == Dialect::onnx && op.kind == "Cast") return onnx_cast_target(op);
  if (form == Form::constant) return constant_dtype(op);
  if (form == Form::quantization)
    if (const DType dtype = onnx_quantized_dtype(graph, op); dtype != DType::undef) return dtype;
  if (const DType dtype = function_dtype(graph, op); dtype != DType::undef) return dtype;
  const schemas::PortDesc& port = version.outputs[std::min(index, version.outputs.size() - 1)];
  const schemas::DTypeSet allowed = version.constraints[port.constraint].allowed;
  for (std::size_t i = 0; i < std::min(version.inputs.size(), op.inputs.size()); ++i)
    if (version.inputs[i].constraint == port.constraint && op.inputs[i] != kNone) return input(graph, op, i).dtype;
  for (const DTypeRow& r : kDTypes)
    if (allowed == schemas::bit(r.dtype)) return r.dtype;
  if (form != Form::elementwise) return DType::undef;
  const DType first = input(graph, op, 0).dtype;
  for (std::size_t i = 1; i < op.inputs.size(); ++i)
    if (input(graph, op, i).dtype != first) return DType::undef;
  return first;
}

}  // namespace

Result<std::vector<Inferred>> infer_outputs(const Graph& graph, const Op& op) {
  const Form form = form_of(op);
  if (form == Form::other) return std::vector<Inferred>{};
  Result<std::vector<std::optional<Dims>>> shapes = infer_shapes(graph, op, form);
  if (!shapes.ok()) return shapes.status();
  std::vector<Inferred> outputs;
  for (std::optional<Dims>& shape : shapes.value()) {
    Inferred inferred;
    inferred.dtype = output_dtype(graph, op, form, outputs.size());
    inferred.ranked = shape.has_value();
    if (shape) inferred.shape = std::move(*shape);
    outputs.push_back(std::move(inferred));
  }
  return outputs;
}

Status check_agreement(const Op& op, const Value& value, const Inferred& inferred) {
  if (!value.ranked || !inferred.ranked || may_agree(value.shape, inferred.shape)) return {};
  const Form form = form_of(op);
  const bool reduction = form == Form::reduction || form == Form::arg_reduction;
  return refuse(Code::invalid_shape, op,
                "output " + describe(value) + " is given as " + show_shape(value) + ", but its inputs" +
                    (reduction ? ", axes and keep_dims" : "") + " make it " + show_dims(inferred.shape),
                reduction ? "reduce.C5" : "shape.E3");
}

}  // namespace tenfold::graph
