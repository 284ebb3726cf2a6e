// SPDX-License-Identifier: Apache-2.0
#include "jit/staged/look_ahead.hpp"

#include <algorithm>

#include "schedule/levels.hpp"

namespace tenfold::jit {

std::size_t most_ahead(const kernel::KernelSpec& spec) {
  constexpr std::size_t kPointers = 6, kMost = 2;
  return std::min(kMost, kPointers - std::min(kPointers, spec.inputs.size() + spec.outputs.size()));
}

bool has_narrow_tasks(const schedule::Schedule& schedule) {
  return schedule.tile.level == schedule.vector_level && schedule.tile.grain < schedule::kPageElements;
}

std::vector<Ahead> look_ahead(Assembler& assembler, OperandWalk& walk, const std::vector<StagePlace>& places, int level,
                              int rows, std::size_t most) {
  std::vector<Ahead> found;
  for (const StagePlace& place : places) {
    const auto k = static_cast<std::size_t>(place.index);
    if (place.kind != StagePlace::Kind::operand || found.size() == most || walk.vector_stride(k) != 1 ||
        walk.operand(k).strides[static_cast<std::size_t>(level)] == 0)
      continue;
    found.push_back({k, std::make_unique<Gpr>(assembler)});
    const Gpr& distance = *found.back().distance;
    walk.load_step(distance, k, level);
    if (rows > 1) assembler.code().imul(distance, distance, rows);
  }
  return found;
}

}  // namespace tenfold::jit
