// SPDX-License-Identifier: Apache-2.0
#include "compile/lower/selection.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "compile/lower/lower.hpp"
#include "compile/lower/strided.hpp"
#include "kernel/nodes.hpp"

namespace tenfold::compiler {
namespace {

/// What a kernel finds at most, as it has an output for each place and for each index.
constexpr std::int64_t kMostOfKernel = kernel::kMaxOutputs / 2;
/// Lines of so many neighbours and more are faster selected from than walked by a kernel.
constexpr std::int64_t kLeastLine = 4096;
/// Blocks skip enough where there are so many elements for each place.
constexpr std::int64_t kLeastOfBlocks = 16;
constexpr std::int64_t kLeastBlock = 8, kMostBlock = 1024;

std::int64_t places_of(const graph::Op& op) { return graph::attribute_or<std::int64_t>(op, "k", 0); }

std::size_t axis_of(const graph::Op& op) {
  return static_cast<std::size_t>(graph::attribute_or<std::int64_t>(op, "axis", 0));
}

/// An extreme costs some sixteen times what an element of a block does that is not skipped; and where there are but few
/// blocks for each place, most of them are not.
std::int64_t block_of(std::int64_t extent, std::int64_t places) {
  const std::int64_t of_place = extent / places;
  if (of_place < kLeastOfBlocks) return 0;
  const double best = std::min(std::sqrt(16.0 * static_cast<double>(of_place)), static_cast<double>(of_place) / 2);
  return std::clamp<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(best)), kLeastBlock, kMostBlock);
}

Result<kernel::KernelSpec> extremes_of_blocks(const Selection& selection) {
  kernel::KernelSpec spec;
  const TensorDesc& in = selection.input;
  const Dims in_strides = strides_of(in);
  Dims made = in.shape;
  made[selection.axis] = selection.blocks();
  const Dims out_strides = row_major_strides(made);
  kernel::Operand input{in.dtype, {}}, output{in.dtype, {}};
  const auto add = [&](std::int64_t extent, bool reduced, std::int64_t from, std::int64_t to) {
    spec.levels.push_back({extent, reduced});
    input.strides.push_back(from);
    output.strides.push_back(to);
  };
  for (std::size_t dim = 0; dim < made.size(); ++dim) {
    const bool is_axis = dim == selection.axis;
    add(made[dim], false, (is_axis ? selection.block : 1) * in_strides[dim], out_strides[dim]);
    if (is_axis) add(selection.block, true, in_strides[dim], 0);
  }
  spec.inputs.push_back(std::move(input));
  spec.outputs.push_back(std::move(output));
  spec.body = {kernel::load_node(0),
               kernel::reduce_node(selection.largest ? kernel::Monoid::max : kernel::Monoid::min, 0)};
  spec.stores.push_back({0, 1});
  return kernel::collapse(std::move(spec));
}

}  // namespace

bool is_selection(const graph::Graph& graph, const graph::Op& op) {
  if (op.dialect != graph::Dialect::core || op.kind != "top_k") return false;
  const TensorDesc input = graph::desc_of(graph.values[op.inputs[0]]);
  const std::size_t axis = axis_of(op);
  return places_of(op) > kMostOfKernel || (input.shape[axis] >= kLeastLine && strides_of(input)[axis] == 1);
}

Result<Selection> lower_selection(const graph::Graph& graph, const graph::Op& op,
                                  std::span<const graph::OpId> through) {
  Selection selection;
  selection.places = places_of(op);
  selection.largest = graph::attribute_or<bool>(op, "largest", true);
  selection.axis = axis_of(op);
  selection.input = graph::desc_of(graph.values[op.inputs[0]]);
  if (!has_kernels(selection.input.dtype))
    return Status(Code::unsupported_dtype, "no kernels for " + std::string(to_string(selection.input.dtype)));
  if (selection.places < 1 || selection.extent() >= std::numeric_limits<std::int32_t>::max())
    return Status(Code::unsupported_shape, "no elements are asked for, or a line has 2^31 elements");
  if (const Result<std::int64_t> count = numel(selection.input.shape); !count.ok() || count.value() == 0)
    return Status(Code::unsupported_shape, "there are no elements");
  for (std::size_t which = 0; which < selection.results.size(); ++which) {
    selection.results[which] = graph::desc_of(graph.values[op.outputs[which]]);
    selection.targets[which] = {op.outputs[which]};
  }
  const Result<StridedWalk> walk = strided_walk(graph, op.inputs[0], through);
  if (!walk.ok()) return walk.status();
  selection.input.strides = walk.value().strides;
  selection.source = {walk.value().root, walk.value().first * byte_size(selection.input.dtype)};
  if (selection.places <= kMostOfKernel && walk.value().strides[selection.axis] != 1)
    return Status(Code::unsupported_shape, "elements of a line lie apart");
  selection.block = block_of(selection.extent(), selection.places);
  if (selection.block == 0) return selection;
  Result<kernel::KernelSpec> spec = extremes_of_blocks(selection);
  if (!spec.ok()) return spec.status();
  selection.extremes = std::move(spec).value();
  return selection;
}

}  // namespace tenfold::compiler
