// SPDX-License-Identifier: Apache-2.0
#include "compile/lower/ordered.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "kernel/nodes.hpp"

namespace tenfold::compiler {
namespace {

using kernel::Monoid;

/// One level for each dim, that of the axis reduced, and a load.
kernel::KernelSpec line_spec(const TensorDesc& in, std::size_t axis) {
  kernel::KernelSpec spec;
  for (std::size_t dim = 0; dim < in.shape.size(); ++dim) spec.levels.push_back({in.shape[dim], dim == axis});
  spec.inputs.push_back({in.dtype, strides_of(in)});
  spec.body.push_back(kernel::load_node(0));
  return spec;
}

/// Sums of floats are those of f64, rounded once each.
Result<Lowered> lower_scan(const graph::Graph& graph, const graph::Op& op, std::size_t axis) {
  const TensorDesc in = graph::desc_of(graph.values[op.inputs[0]]);
  kernel::KernelSpec spec = line_spec(in, axis);
  const bool wide = is_floating(in.dtype) && in.dtype != DType::f64;
  const auto add = [&](kernel::Node node) {
    spec.body.push_back(std::move(node));
    return static_cast<int>(spec.body.size()) - 1;
  };
  const int element = wide ? add(kernel::cast_node(DType::f64, 0)) : 0;
  const int sum = add(kernel::scan_node(element, graph::attribute_or<bool>(op, "exclusive", false),
                                        graph::attribute_or<bool>(op, "reverse", false)));
  spec.outputs.push_back({in.dtype, strides_of(graph::desc_of(graph.values[op.outputs[0]]))});
  spec.stores.push_back({0, wide ? add(kernel::cast_node(in.dtype, sum)) : sum});
  Result<kernel::KernelSpec> made = kernel::collapse(std::move(spec));
  if (!made.ok()) return made.status();
  return Lowered{std::move(made).value(), {{op.inputs[0]}}, {{op.outputs[0]}}};
}

Result<Lowered> lower_top_k(const graph::Graph& graph, const graph::Op& op, std::size_t axis) {
  const auto k = graph::attribute_or<std::int64_t>(op, "k", 0);
  if (k < 1) return Status(Code::unsupported_shape, "the first 0 elements");
  const bool largest = graph::attribute_or<bool>(op, "largest", true);
  Lowered lowered{line_spec(graph::desc_of(graph.values[op.inputs[0]]), axis), {{op.inputs[0]}}, {}};
  for (std::size_t which = 0; which < op.outputs.size(); ++which) {
    const TensorDesc out = graph::desc_of(graph.values[op.outputs[which]]);
    const Monoid monoid = which == 0 ? (largest ? Monoid::max : Monoid::min)
                          : largest  ? Monoid::argmax
                                     : Monoid::argmin;
    std::vector<std::int64_t> strides = strides_of(out);
    const std::int64_t apart = std::exchange(strides[axis], 0);
    for (int place = 0; place < k; ++place) {
      lowered.spec.stores.push_back(
          {static_cast<int>(lowered.spec.outputs.size()), static_cast<int>(lowered.spec.body.size())});
      lowered.spec.body.push_back(kernel::rank_node(monoid, place, 0));
      lowered.spec.outputs.push_back({out.dtype, strides});
      lowered.outputs.push_back({op.outputs[which], place * apart * byte_size(out.dtype)});
    }
  }
  Result<kernel::KernelSpec> made = kernel::collapse(std::move(lowered.spec));
  if (!made.ok()) return made.status();
  lowered.spec = std::move(made).value();
  return lowered;
}

}  // namespace

bool is_ordered(const graph::Op& op) noexcept {
  return op.dialect == graph::Dialect::core && (op.kind == "scan" || op.kind == "top_k");
}

Result<Lowered> lower_ordered(const graph::Graph& graph, const graph::Op& op) {
  const TensorDesc in = graph::desc_of(graph.values[op.inputs[0]]);
  if (!has_kernels(in.dtype))
    return Status(Code::unsupported_dtype, "no kernels for " + std::string(to_string(in.dtype)));
  const auto axis = static_cast<std::size_t>(graph::attribute_or<std::int64_t>(op, "axis", 0));
  const std::int64_t extent = in.shape[axis];
  if (extent < 2 || extent >= std::numeric_limits<std::int32_t>::max() / 2)
    return Status(Code::unsupported_shape, "kernels walk lines of 2 to 2^30 elements");
  const Result<std::int64_t> count = numel(in.shape);
  if (!count.ok() || count.value() == 0) return Status(Code::unsupported_shape, "there are no elements");
  return op.kind == "scan" ? lower_scan(graph, op, axis) : lower_top_k(graph, op, axis);
}

}  // namespace tenfold::compiler
