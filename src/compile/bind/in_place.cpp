// SPDX-License-Identifier: Apache-2.0
//
// In a flat kernel an element of the output depends on the inputs' elements at the same place of the iteration space,
// and all of them are loaded before it is stored. So an input that is walked as the output is, and in no other way
// besides, may be overwritten.
#include "compile/bind/in_place.hpp"

namespace tenfold::compiler {
namespace {

using runtime::Location;

bool same_walk(const runtime::KernelStep& step, std::size_t a, std::size_t b) {
  for (int level = 0; level < jit::kMaxLevels; ++level)
    if (step.extents[static_cast<std::size_t>(level)] > 1 &&
        step.strides[static_cast<std::size_t>(jit::stride_index(static_cast<int>(a), level))] !=
            step.strides[static_cast<std::size_t>(jit::stride_index(static_cast<int>(b), level))])
      return false;
  return true;
}

/// Whether every operand that reads this input of the program does it as output 0 is written.
bool may_overwrite(const runtime::KernelStep& step, const kernel::KernelSpec& spec, int input) {
  const std::size_t count = step.inputs.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Location& at = step.inputs[i];
    if (at.kind != Location::Kind::input || at.index != input) continue;
    if (at.offset != step.outputs[0].offset || spec.inputs[i].dtype != spec.outputs[0].dtype ||
        !same_walk(step, i, count))
      return false;
  }
  return true;
}

}  // namespace

std::vector<InPlace> find_in_place(const runtime::Program& program, const std::vector<RegionReport>& regions) {
  if (program.steps.size() != 1 || !program.steps[0].kernel || regions.size() != 1 || regions[0].kernels.size() != 1)
    return {};
  const runtime::KernelStep& step = *program.steps[0].kernel;
  const KernelReport& report = regions[0].kernels[0];
  if (report.schedule.nest != schedule::Nest::flat || step.outputs.size() != 1 ||
      step.outputs[0].kind != Location::Kind::output)
    return {};
  for (const Location& at : step.inputs)
    if (at.kind == Location::Kind::input && may_overwrite(step, report.spec, at.index))
      return {{at.index, step.outputs[0].index}};
  return {};
}

}  // namespace tenfold::compiler
