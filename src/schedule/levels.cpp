// SPDX-License-Identifier: Apache-2.0
#include "schedule/levels.hpp"

namespace tenfold::schedule {

int vector_level_of(const kernel::KernelSpec& spec, const kernel::Operand& operand) {
  const int last = static_cast<int>(spec.levels.size()) - 1;
  for (int level = last; level >= 0; --level)
    if (operand.strides[static_cast<std::size_t>(level)] == 1) return level;
  return last;
}

std::int64_t step_of_elements(const kernel::KernelSpec& spec) {
  constexpr int kStepBytes = 64, kStep = 16;
  const int narrow = kernel::narrow_bytes(spec);
  return narrow > 0 ? kStepBytes / narrow : kStep;
}

int widest_level(const kernel::KernelSpec& spec, bool reduced, int except) {
  int widest = -1;
  for (std::size_t level = 0; level < spec.levels.size(); ++level) {
    if (spec.levels[level].reduced != reduced || static_cast<int>(level) == except) continue;
    if (widest < 0 || spec.levels[level].extent > kernel::level(spec, widest).extent) widest = static_cast<int>(level);
  }
  return widest;
}

}  // namespace tenfold::schedule
