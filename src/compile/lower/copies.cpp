// SPDX-License-Identifier: Apache-2.0
#include "compile/lower/copies.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "compile/lower/body.hpp"
#include "compile/lower/strided.hpp"

namespace tenfold::compiler {
namespace {

Result<std::vector<Lowered>> slice(const graph::Graph& graph, const graph::Op& op) {
  const graph::ValueId to = op.outputs[0];
  StridedWalk of = slice_walk(graph, to, {&graph.values[to].producer, 1});
  const CopyWalk walk{graph.values[to].shape, std::move(of.strides), strides_of(graph::desc_of(graph.values[to])),
                      of.first, 0};
  Result<Lowered> made = lower_copy(graph, of.root, to, walk);
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
    const CopyWalk walk{desc.shape, strides_of(desc), strides, 0, done * strides[static_cast<std::size_t>(axis)]};
    done += desc.shape[static_cast<std::size_t>(axis)];
    const Result<std::int64_t> count = numel(desc.shape);
    if (!count.ok() || count.value() == 0) continue;
    Result<Lowered> made = lower_copy(graph, from, to, walk);
    if (!made.ok()) return made.status();
    copies.push_back(std::move(made).value());
  }
  return copies;
}

}  // namespace

bool is_slice(const graph::Op& op) noexcept { return op.dialect == graph::Dialect::core && op.kind == "slice"; }

bool is_forward_slice(const graph::Op& op) {
  const Dims steps = graph::attribute_or<Dims>(op, "steps", {});
  return is_slice(op) && std::all_of(steps.begin(), steps.end(), [](std::int64_t step) { return step > 0; });
}

Result<Lowered> lower_copy(const graph::Graph& graph, graph::ValueId from, graph::ValueId to, const CopyWalk& walk) {
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
      std::move(collapsed).value(), {{from, walk.from * byte_size(dtype)}}, {{to, walk.to * byte_size(dtype)}}};
}

bool is_movement(const graph::Op& op) noexcept {
  return op.dialect == graph::Dialect::core && (op.kind == "slice" || op.kind == "concat");
}

Result<std::vector<Lowered>> lower_copies(const graph::Graph& graph, const graph::Op& op) {
  return op.kind == "slice" ? slice(graph, op) : concat(graph, op);
}

}  // namespace tenfold::compiler
