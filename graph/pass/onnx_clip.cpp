// SPDX-License-Identifier: Apache-2.0
//
// Clip: its bounds are attributes up to version 6 and tensors since 11, and each may be missing. core.map's clamp takes
// both as f32 attributes, which a kernel can hold in registers; so constants go there when f32 holds them exactly.
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/ir/attribute.hpp"
#include "graph/pass/constants.hpp"
#include "graph/pass/core_form.hpp"

namespace tenfold::graph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The one element of a constant, where f32 holds it exactly and double can tell.
std::optional<double> exact_scalar(const Value& value) {
  if (!is_floating(value.dtype) && byte_size(value.dtype) > 2) return std::nullopt;
  const std::optional<double> element = scalar_of(value);
  // A NaN bound has no place in an attribute that files may hold.
  if (!element || std::isnan(*element)) return std::nullopt;
  if (std::isfinite(*element) && std::fabs(*element) > static_cast<double>(std::numeric_limits<float>::max()))
    return std::nullopt;
  if (static_cast<double>(static_cast<float>(*element)) != *element) return std::nullopt;
  return element;
}

/// The bound as an attribute; `missing` stands for one that is left out of floats.
std::optional<double> bound(const Graph& graph, const Op& op, std::size_t input, double missing) {
  if (op.inputs.size() > input && op.inputs[input] != kNone) {
    const Value& value = graph.values[op.inputs[input]];
    return exact_scalar(value);
  }
  const DType dtype = graph.values[op.inputs[0]].dtype;
  const bool real = dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16;
  return real ? std::optional(missing) : std::nullopt;
}

void to_function(Op& op, std::string_view function, std::vector<NamedAttribute> bounds) {
  op.attributes = {{"function", std::string(function)}};
  for (NamedAttribute& attribute : bounds) op.attributes.push_back(std::move(attribute));
  become(op, "map");
}

/// The value of the version's attribute, its default, or `missing`.
double attribute_bound(const Op& op, std::string_view name, double missing) {
  if (const Attribute* given = find_attribute(op, name)) return std::get<double>(*given);
  return version_of(op)->since_version == 1 ? missing : std::copysign(std::numeric_limits<float>::max(), missing);
}

}  // namespace

void clip_to_map(const Graph& graph, Op& op) {
  const bool has_min = op.inputs.size() > 1 && op.inputs[1] != kNone;
  const bool has_max = op.inputs.size() > 2 && op.inputs[2] != kNone;
  if (version_of(op)->inputs.size() == 1) {
    const double low = attribute_bound(op, "min", -kInfinity);
    const double high = attribute_bound(op, "max", kInfinity);
    return to_function(op, "clamp", {{"min", low}, {"max", high}});
  }
  if (!has_min && !has_max) {
    op.inputs.resize(1);
    return to_function(op, "identity", {});
  }
  const std::optional<double> low = bound(graph, op, 1, -kInfinity);
  const std::optional<double> high = bound(graph, op, 2, kInfinity);
  if (low && high) {
    op.inputs.resize(1);
    return to_function(op, "clamp", {{"min", *low}, {"max", *high}});
  }
  if (has_min && has_max) return to_function(op, "clip", {});
  // One bound alone is the greater or the lesser of two tensors.
  op.inputs = {op.inputs[0], op.inputs[has_min ? 1 : 2]};
  to_function(op, has_min ? "max" : "min", {});
}

}  // namespace tenfold::graph
