// SPDX-License-Identifier: Apache-2.0
#include "schedule/column_ends.hpp"

#include <algorithm>

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Whether columns that are no whole vector step may be taken as one.
bool may_end_unmasked(const KernelSpec& spec, Lanes lanes, const Schedule& schedule) {
  const auto level = static_cast<std::size_t>(schedule.vector_level);
  const auto contiguous = [level](const kernel::Operand& operand) { return operand.strides[level] == 1; };
  const bool by_masks =
      schedule.isa != target::Isa::avx2 &&
      (lanes == Lanes::integer || (lanes == Lanes::chained_f32 && spec.inputs[0].dtype == DType::f32));
  return schedule.nest == Nest::columns && schedule.tile.level != schedule.vector_level && !by_masks &&
         contiguous(spec.inputs[0]) && std::all_of(spec.outputs.begin(), spec.outputs.end(), contiguous);
}

}  // namespace

bool ends_whole(const KernelSpec& spec, Lanes lanes, const Schedule& schedule) {
  const auto level = static_cast<std::size_t>(schedule.vector_level);
  return may_end_unmasked(spec, lanes, schedule) && schedule.width == 0 &&
         spec.levels[level].extent >= lanes_per_step(lanes, spec.inputs[0].dtype);
}

bool runs_over(const KernelSpec& spec, Lanes lanes, const Schedule& schedule) {
  if (!may_end_unmasked(spec, lanes, schedule) || ends_whole(spec, lanes, schedule)) return false;
  if (schedule.vector_level + 1 != static_cast<int>(spec.levels.size())) return false;
  int blocks = schedule.vector_level - 1;
  while (blocks >= 0 && kernel::level(spec, blocks).reduced) --blocks;
  const std::int64_t width = spec.levels.back().extent;
  if (blocks < 0 || width % lanes_per_step(lanes, spec.inputs[0].dtype) == 0) return false;
  std::int64_t block = 1;
  for (std::size_t level = spec.levels.size() - 1; level > static_cast<std::size_t>(blocks); --level) {
    if (spec.inputs[0].strides[level] != block) return false;
    block *= spec.levels[level].extent;
  }
  const auto level = static_cast<std::size_t>(blocks);
  return spec.inputs[0].strides[level] == block &&
         std::all_of(spec.outputs.begin(), spec.outputs.end(),
                     [&](const kernel::Operand& output) { return output.strides[level] == width; });
}

}  // namespace tenfold::schedule
