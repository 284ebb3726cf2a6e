// SPDX-License-Identifier: Apache-2.0
//
// ONNX's ops that walk the lines of a tensor along one axis in order, with what is an input there as an attribute:
// CumSum is core.scan, TopK core.top_k. Where that input is no constant they stay as they are.
#include <optional>
#include <utility>

#include "graph/check/check.hpp"
#include "graph/pass/constants.hpp"
#include "graph/pass/decompose.hpp"

namespace tenfold::graph {
namespace {

/// Input 1, a constant of one element.
std::optional<std::int64_t> number_of(const Composer& make, const Op& op) {
  const Value& value = make.graph().values[op.inputs[1]];
  const std::optional<double> number = value.is_constant ? scalar_of(value) : std::nullopt;
  return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

std::optional<std::int64_t> axis_of(const Composer& make, const Op& op, std::int64_t written) {
  const auto rank = static_cast<int>(make.shape(op.inputs[0]).size());
  const Result<std::vector<std::int64_t>> axes = normalize_axes({written}, rank, describe(op));
  return axes.ok() ? std::optional(axes.value().front()) : std::nullopt;
}

bool is_set(const Op& op, std::string_view name, bool otherwise) {
  return attribute_or<std::int64_t>(op, name, otherwise ? 1 : 0) != 0;
}

/// `kind` of input 0 in place of the composite.
void give_all(Composer& make, const Op& op, std::string_view kind, std::vector<NamedAttribute> attributes) {
  Op core = op;
  core.dialect = Dialect::core;
  core.opset = 0;
  core.kind = kind;
  core.attributes = std::move(attributes);
  core.attributes.push_back({"source_kind", op.kind});
  std::vector<DType> dtypes;
  for (const ValueId output : op.outputs) dtypes.push_back(make.dtype(output));
  const std::vector<ValueId> made = make.again({op.inputs[0]}, dtypes, std::move(core));
  for (std::size_t i = 0; i < made.size(); ++i) make.give(i, made[i]);
}

}  // namespace

bool decompose_cum_sum(Composer& make, const Op& op) {
  const std::optional<std::int64_t> written = number_of(make, op);
  const std::optional<std::int64_t> axis = written ? axis_of(make, op, *written) : std::nullopt;
  if (!axis) return false;
  give_all(make, op, "scan",
           {{"axis", *axis}, {"exclusive", is_set(op, "exclusive", false)}, {"reverse", is_set(op, "reverse", false)}});
  return true;
}

bool decompose_top_k(Composer& make, const Op& op) {
  const Attribute* const given = find_attribute(op, "k");
  const std::optional<std::int64_t> k =
      given != nullptr ? std::optional(std::get<std::int64_t>(*given)) : number_of(make, op);
  const std::optional<std::int64_t> axis = axis_of(make, op, attribute_or<std::int64_t>(op, "axis", -1));
  if (!k || !axis) return false;
  give_all(make, op, "top_k", {{"axis", *axis}, {"k", *k}, {"largest", is_set(op, "largest", true)}});
  return true;
}

}  // namespace tenfold::graph
