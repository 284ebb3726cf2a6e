// SPDX-License-Identifier: Apache-2.0
#include "compile/lower_copies.hpp"

#include <algorithm>
#include <string>
#include <utility>

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
  const graph::ValueId to = op.outputs[0];
  SliceWalk of = slice_walk(graph, to, {&graph.values[to].producer, 1});
  const Walk walk{graph.values[to].shape, std::move(of.strides), strides_of(graph::desc_of(graph.values[to])), of.first,
                  0};
  Result<Lowered> made = copy(graph, of.root, to, walk);
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

bool is_slice(const graph::Op& op) noexcept { return op.dialect == graph::Dialect::core && op.kind == "slice"; }

bool is_forward_slice(const graph::Op& op) {
  const Dims steps = graph::attribute_or<Dims>(op, "steps", {});
  return is_slice(op) && std::all_of(steps.begin(), steps.end(), [](std::int64_t step) { return step > 0; });
}

SliceWalk slice_walk(const graph::Graph& graph, graph::ValueId value, std::span<const graph::OpId> through) {
  std::vector<graph::OpId> slices;
  for (graph::OpId id = graph.values[value].producer;
       id != graph::kNone && is_slice(graph.ops[id]) && std::find(through.begin(), through.end(), id) != through.end();
       id = graph.values[value].producer) {
    slices.push_back(id);
    value = graph.ops[id].inputs[0];
  }
  SliceWalk walk{value, 0, strides_of(graph::desc_of(graph.values[value]))};
  for (auto id = slices.rbegin(); id != slices.rend(); ++id) {  // NOLINT(modernize-loop-convert): from the last on
    const Dims starts = graph::attribute_or<Dims>(graph.ops[*id], "starts", {});
    const Dims steps = graph::attribute_or<Dims>(graph.ops[*id], "steps", {});
    for (std::size_t dim = 0; dim < walk.strides.size(); ++dim) {
      walk.first += starts[dim] * walk.strides[dim];
      walk.strides[dim] *= steps[dim];
    }
  }
  return walk;
}

bool is_movement(const graph::Op& op) noexcept {
  return op.dialect == graph::Dialect::core && (op.kind == "slice" || op.kind == "concat");
}

Result<std::vector<Lowered>> lower_copies(const graph::Graph& graph, const graph::Op& op) {
  return op.kind == "slice" ? slice(graph, op) : concat(graph, op);
}

}  // namespace tenfold::compiler
