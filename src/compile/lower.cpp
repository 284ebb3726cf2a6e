// SPDX-License-Identifier: Apache-2.0
#include "compile/lower.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "compile/lower_arg.hpp"
#include "graph/check/check.hpp"

namespace tenfold::compiler {
namespace {

using kernel::Function;
using kernel::Monoid;
using kernel::Node;

/// What core.reduce's `reduction` names mean in rows of the kernel tables.
struct ReductionRow {
  std::string_view name;
  std::optional<Function> before;
  Monoid monoid;
  bool divide_by_count;
  bool square_root;
};
constexpr std::array<ReductionRow, 8> kReductions{{
    {"max", std::nullopt, Monoid::max, false, false},
    {"min", std::nullopt, Monoid::min, false, false},
    {"sum", std::nullopt, Monoid::sum, false, false},
    {"prod", std::nullopt, Monoid::prod, false, false},
    {"mean", std::nullopt, Monoid::sum, true, false},
    {"l1", Function::abs, Monoid::sum, false, false},
    {"l2", Function::square, Monoid::sum, false, true},
    {"sum_square", Function::square, Monoid::sum, false, false},
}};
/// A reduction along no axis copies: an order state keeps every bit of what is not a NaN.
constexpr ReductionRow kCopy{"copy", std::nullopt, Monoid::max, false, false};

void write_body(const ReductionRow& reduction, kernel::KernelSpec& spec) {
  const auto add = [&spec](Node node) {
    spec.body.push_back(std::move(node));
    return static_cast<int>(spec.body.size()) - 1;
  };
  int value = add(Node{});
  if (reduction.before) value = add({Node::Kind::apply, 0, *reduction.before, Monoid::sum, {value}});
  value = add({Node::Kind::reduce, 0, Function::abs, reduction.monoid, {value}});
  if (reduction.divide_by_count) {
    const int count = add({Node::Kind::count, 0, Function::abs, Monoid::sum, {}});
    value = add({Node::Kind::apply, 0, Function::div, Monoid::sum, {value, count}});
  }
  if (reduction.square_root) value = add({Node::Kind::apply, 0, Function::sqrt, Monoid::sum, {value}});
  spec.stores.push_back({0, value});
}

/// One level per dim of the input; the output's stride is 0 along reduced ones.
void write_space(const TensorDesc& in, const TensorDesc& out, const std::vector<std::int64_t>& axes, bool keep_dims,
                 kernel::KernelSpec& spec) {
  const Dims in_strides = strides_of(in);
  const Dims out_strides = strides_of(out);
  spec.inputs.push_back({in.dtype, in_strides});
  spec.outputs.push_back({out.dtype, {}});
  std::size_t out_dim = 0;
  for (std::size_t dim = 0; dim < in.shape.size(); ++dim) {
    const bool reduced = std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(dim));
    spec.levels.push_back({in.shape[dim], reduced});
    spec.outputs[0].strides.push_back(reduced ? 0 : out_strides[out_dim]);
    if (!reduced || keep_dims) ++out_dim;
  }
}

Result<Lowered> lower_reduce(const graph::Graph& graph, const graph::Op& op) {
  const TensorDesc in = graph::desc_of(graph.values[op.inputs[0]]);
  const TensorDesc out = graph::desc_of(graph.values[op.outputs[0]]);
  if (in.dtype == DType::undef || row(in.dtype).bits < 8 || in.dtype == DType::f8_e5m2 || in.dtype == DType::f8_e4m3)
    return Status(Code::unsupported_dtype, "no kernels for " + std::string(to_string(in.dtype)));
  const auto written = graph::attribute_or<std::vector<std::int64_t>>(op, "axes", {});
  Result<std::vector<std::int64_t>> axes =
      graph::normalize_axes(written, static_cast<int>(in.shape.size()), graph::describe(op));
  if (!axes.ok()) return axes.status();
  const std::string name = graph::attribute_or<std::string>(op, "reduction", "");
  const auto* row =
      std::find_if(kReductions.begin(), kReductions.end(), [&name](const ReductionRow& r) { return r.name == name; });
  if (row == kReductions.end()) return Status(Code::unsupported_op, "no kernel for reduction '" + name + "'");
  // ONNX's empty axes are all axes, or with the noop flag each element alone; without that attribute they copy.
  const graph::Attribute* const noop = graph::find_attribute(op, "noop_with_empty_axes");
  const bool copies = axes.value().empty() && noop == nullptr;
  if (axes.value().empty() && noop != nullptr && !graph::attribute_or<bool>(op, "noop_with_empty_axes", false))
    for (std::size_t dim = 0; dim < in.shape.size(); ++dim) axes.value().push_back(static_cast<std::int64_t>(dim));
  kernel::KernelSpec spec;
  write_space(in, out, axes.value(), graph::attribute_or<bool>(op, "keep_dims", false), spec);
  write_body(copies ? kCopy : *row, spec);
  Result<kernel::KernelSpec> collapsed = kernel::collapse(std::move(spec));
  if (!collapsed.ok()) return collapsed.status();
  return Lowered{std::move(collapsed).value(), {op.inputs[0]}, {op.outputs[0]}};
}

}  // namespace

Result<Lowered> lower(const graph::Graph& graph, const graph::Op& op) {
  if (op.dialect == graph::Dialect::core) {
    if (op.kind == "reduce") return lower_reduce(graph, op);
    if (op.kind == "arg_reduce") return lower_arg_reduce(graph, op);
    if (op.kind == "map" || op.kind == "cast" || op.kind == "select") return lower_elementwise(graph, op);
  }
  return Status(Code::unsupported_op, "kernels of this version run reductions and elementwise ops; this is " + op.kind);
}

}  // namespace tenfold::compiler
