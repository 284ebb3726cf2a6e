// SPDX-License-Identifier: Apache-2.0
#include "compile/lower_copies.hpp"

#include <string>

#include "compile/body.hpp"

namespace tenfold::compiler {
namespace {

/// What a copy walks: `shape`, with the steps and the first element of either side, in elements.
struct Walk {
  Dims shape, from_strides, to_strides;
  std::int64_t from = 0, to = 0;
};

Result<Lowered> copy(const graph::Graph& graph, graph::ValueId from, graph::ValueId to, const Walk& walk) {
  const DType dtype = graph.values[to].dtype;
  if (!has_kernels(dtype)) return Status(Code::unsupported_dtype, "no kernels for " + std::string(to_string(dtype)));
  kernel::KernelSpec spec;
  for (const std::int64_t extent : walk.shape) spec.levels.push_back({extent, false});
  spec.inputs.push_back({dtype, walk.from_strides});
  spec.outputs.push_back({dtype, walk.to_strides});
  BodyWriter body(spec);
  spec.stores.push_back({0, body.load(0)});
  Result<kernel::KernelSpec> collapsed = kernel::collapse(std::move(spec));
  if (!collapsed.ok()) return collapsed.status();
  return Lowered{
      std::move(collapsed).value(), {from}, {to}, {walk.from * byte_size(dtype)}, {walk.to * byte_size(dtype)}};
}

Result<std::vector<Lowered>> slice(const graph::Graph& graph, const graph::Op& op) {
  const graph::ValueId from = op.inputs[0], to = op.outputs[0];
  const Dims starts = graph::attribute_or<Dims>(op, "starts", {}), steps = graph::attribute_or<Dims>(op, "steps", {});
  Walk walk{graph.values[to].shape, strides_of(graph::desc_of(graph.values[from])),
            strides_of(graph::desc_of(graph.values[to])), 0, 0};
  for (std::size_t dim = 0; dim < walk.shape.size(); ++dim) {
    walk.from += starts[dim] * walk.from_strides[dim];
    walk.from_strides[dim] *= steps[dim];
  }
  Result<Lowered> made = copy(graph, from, to, walk);
  if (!made.ok()) return made.status();
  return std::vector<Lowered>{std::move(made).value()};
}

Result<std::vector<Lowered>> concat(const graph::Graph& graph, const graph::Op& op) {
  const graph::ValueId to = op.outputs[0];
  const Dims strides = strides_of(graph::desc_of(graph.values[to]));
  std::int64_t axis = graph::attribute_or<std::int64_t>(op, "axis", 0);
  if (axis < 0) axis += static_cast<std::int64_t>(strides.size());
  std::vector<Lowered> copies;
  std::int64_t done = 0;
  for (const graph::ValueId from : op.inputs) {
    const TensorDesc desc = graph::desc_of(graph.values[from]);
    const Walk walk{desc.shape, strides_of(desc), strides, 0, done * strides[static_cast<std::size_t>(axis)]};
    done += desc.shape[static_cast<std::size_t>(axis)];
    const Result<std::int64_t> count = numel(desc.shape);
    if (!count.ok() || count.value() == 0) continue;
    Result<Lowered> made = copy(graph, from, to, walk);
    if (!made.ok()) return made.status();
    copies.push_back(std::move(made).value());
  }
  return copies;
}

}  // namespace

bool is_movement(const graph::Op& op) noexcept {
  return op.dialect == graph::Dialect::core && (op.kind == "slice" || op.kind == "concat");
}

Result<std::vector<Lowered>> lower_copies(const graph::Graph& graph, const graph::Op& op) {
  return op.kind == "slice" ? slice(graph, op) : concat(graph, op);
}

}  // namespace tenfold::compiler
