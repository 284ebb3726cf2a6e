// SPDX-License-Identifier: Apache-2.0
#include "compile/lower/arg.hpp"

#include <optional>
#include <string>

#include "compile/lower/body.hpp"
#include "graph/check/check.hpp"

namespace tenfold::compiler {
namespace {

using kernel::Monoid;
using kernel::Node;

/// What both ops of a pair say of themselves in the same words.
struct Extreme {
  bool is_index = false;
  bool greatest = false;
  std::int64_t axis = 0;
};

std::optional<std::int64_t> single_axis(const graph::Graph& graph, const graph::Op& op, const Dims& written) {
  const int rank = static_cast<int>(graph.values[op.inputs[0]].shape.size());
  const Result<Dims> axes = graph::normalize_axes(written, rank, graph::describe(op));
  if (!axes.ok() || axes.value().size() != 1) return std::nullopt;
  return axes.value()[0];
}

/// Nothing for any other op.
std::optional<Extreme> read_extreme(const graph::Graph& graph, const graph::Op& op) {
  if (op.dialect != graph::Dialect::core || op.inputs.size() != 1 || op.outputs.size() != 1) return std::nullopt;
  Extreme extreme;
  std::optional<std::int64_t> axis;
  if (op.kind == "arg_reduce") {
    extreme.is_index = true;
    extreme.greatest = graph::attribute_or<std::string>(op, "mode", "") == "argmax";
    axis = single_axis(graph, op, {graph::attribute_or<std::int64_t>(op, "axis", 0)});
  } else if (op.kind == "reduce") {
    const std::string reduction = graph::attribute_or<std::string>(op, "reduction", "");
    if (reduction != "max" && reduction != "min") return std::nullopt;
    extreme.greatest = reduction == "max";
    axis = single_axis(graph, op, graph::attribute_or<Dims>(op, "axes", {}));
  }
  if (!axis) return std::nullopt;
  extreme.axis = *axis;
  return extreme;
}

/// The output's strides along the input's dims: 0 along the axis.
std::vector<std::int64_t> strides_along(const graph::Graph& graph, const graph::Op& op, std::int64_t axis) {
  const std::size_t rank = graph.values[op.inputs[0]].shape.size();
  const Dims strides = strides_of(graph::desc_of(graph.values[op.outputs[0]]));
  std::vector<std::int64_t> along;
  std::size_t out_dim = 0;
  for (std::size_t dim = 0; dim < rank; ++dim) {
    const bool reduced = static_cast<std::int64_t>(dim) == axis;
    along.push_back(reduced ? 0 : strides[out_dim]);
    if (!reduced || strides.size() == rank) ++out_dim;
  }
  return along;
}

}  // namespace

Result<Lowered> lower_arg_reduce(const graph::Graph& graph, const graph::Op& arg, const graph::Op* extreme) {
  const TensorDesc in = graph::desc_of(graph.values[arg.inputs[0]]);
  const std::optional<Extreme> asked = read_extreme(graph, arg);
  if (!asked) return Status(Code::unsupported_op, "no kernel for " + graph::describe(arg));
  if (!has_kernels(in.dtype))
    return Status(Code::unsupported_dtype, "no kernels for " + std::string(to_string(in.dtype)));
  if (in.shape[static_cast<std::size_t>(asked->axis)] == 0)
    return Status(Code::unsupported_shape, "an arg-reduction along an axis of no elements");
  kernel::KernelSpec spec;
  for (std::size_t dim = 0; dim < in.shape.size(); ++dim)
    spec.levels.push_back({in.shape[dim], static_cast<std::int64_t>(dim) == asked->axis});
  spec.inputs.push_back({in.dtype, strides_of(in)});
  BodyWriter body(spec);
  const int value = body.load(0);
  const auto add = [&](const graph::Op& op, Monoid monoid, bool last) {
    const DType dtype = graph.values[op.outputs[0]].dtype;
    const int output = static_cast<int>(spec.outputs.size());
    spec.outputs.push_back({dtype, strides_along(graph, op, asked->axis)});
    spec.stores.push_back({output, body.reduce(monoid, value, last)});
  };
  add(arg, asked->greatest ? Monoid::argmax : Monoid::argmin, graph::attribute_or<bool>(arg, "select_last", false));
  if (extreme != nullptr) add(*extreme, asked->greatest ? Monoid::max : Monoid::min, false);
  Result<kernel::KernelSpec> collapsed = kernel::collapse(std::move(spec));
  if (!collapsed.ok()) return collapsed.status();
  Lowered lowered{std::move(collapsed).value(), {{arg.inputs[0]}}, {{arg.outputs[0]}}};
  if (extreme != nullptr) lowered.outputs.push_back({extreme->outputs[0]});
  return lowered;
}

Result<Lowered> lower_pair(const graph::Graph& graph, const graph::Op& a, const graph::Op& b) {
  return a.kind == "arg_reduce" ? lower_arg_reduce(graph, a, &b) : lower_arg_reduce(graph, b, &a);
}

bool is_arg_pair(const graph::Graph& graph, const graph::Op& a, const graph::Op& b) {
  if (a.inputs.empty() || b.inputs.empty() || a.inputs[0] != b.inputs[0]) return false;
  const std::optional<Extreme> one = read_extreme(graph, a), other = read_extreme(graph, b);
  return one && other && one->is_index != other->is_index && one->greatest == other->greatest &&
         one->axis == other->axis;
}

}  // namespace tenfold::compiler
