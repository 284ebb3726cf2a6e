// SPDX-License-Identifier: Apache-2.0
#include "jit/flat.hpp"

#include <algorithm>
#include <vector>

#include "jit/frame.hpp"
#include "jit/lane_emit.hpp"
#include "jit/operand_walk.hpp"

namespace tenfold::jit {
namespace {

/// Inputs that visits ask for ahead.
constexpr std::size_t kMostAsked = 2;

}  // namespace

using Xbyak::Label;

std::int64_t emit_flat(Assembler& assembler, LaneLayer& layer, const LaneProgram& program,
                       const kernel::KernelSpec& spec, const schedule::Schedule& schedule) {
  Xbyak::CodeGenerator& c = assembler.code();
  OperandWalk walk(assembler, spec, schedule.vector_level);
  walk.start();
  walk.prepare(layer);
  const Memory tail_count = c.rbp + frame::kTailCount;
  const Memory spill = c.rbp + walk.scratch_end();
  {
    Gpr tail(assembler);
    Label whole;
    walk.load_vector_extent(tail);
    c.and_(tail, layer.lanes() - 1);
    c.mov(c.qword[tail_count], tail);
    c.jz(whole);
    layer.prepare_tail(tail);
    c.L(whole);
  }
  std::vector<int> outer;
  for (int level = 0; level < static_cast<int>(spec.levels.size()); ++level)
    if (level != schedule.vector_level) outer.push_back(level);

  std::vector<LaneSource> constants = constants_by_use(program);
  const std::vector<bool> resident(spec.inputs.size(), false);
  const int spare = std::max(0, layer.vectors() - vectors_needed(program, resident));
  constants.resize(std::min(constants.size(), static_cast<std::size_t>(spare * layer.constants_of_vector())));
  const int holding =
      (static_cast<int>(constants.size()) + layer.constants_of_vector() - 1) / layer.constants_of_vector();
  const int free = layer.vectors() - holding;
  layer.hold(constants, free);
  if (schedule.around) walk.find_lines();
  std::int64_t spilled = 0;
  walk.over(outer, 0, [&](std::size_t depth) {
    Gpr index(assembler), end(assembler);
    const OperandWalk::KeptPointers pointers(walk, depth);
    const auto step = [&](Part part, bool around) {
      const OperandWalk::At at{depth, index, part, tail_count, 0, true, around, schedule.claim};
      const LaneOperands operands{[&](int input, Vec d) { walk.load(layer, static_cast<std::size_t>(input), d, at); },
                                  [&](int result, Vec s) {
                                    const kernel::Store& store = spec.stores[static_cast<std::size_t>(result)];
                                    walk.store(layer, walk.inputs() + static_cast<std::size_t>(store.output), s, at);
                                  },
                                  {},
                                  {},
                                  free};
      spilled = std::max(spilled, emit_lanes(assembler, layer, program, spill, operands));
    };
    const auto take = [&](bool around) {
      Label again;
      c.align(32);
      c.L(again);
      step(Part::full, around);
      c.add(index, layer.lanes());
      c.cmp(index, end);
      c.jb(again, Xbyak::CodeGenerator::T_NEAR);
    };
    const auto steps = [&](bool around) {
      if (!schedule.runs) return take(around);
      Label rest, done;
      const auto ask = [&](const Xbyak::Reg64& distance) {
        const OperandWalk::At at{depth, index, Part::full, tail_count};
        for (std::size_t k = 0; k < std::min(kMostAsked, walk.inputs()); ++k)
          if (walk.vector_stride(k) == 1) walk.ask_for_visit(k, at, distance);
      };
      walk.over_visits(index, end, rest, ask, [&] { take(around); });
      c.L(rest);
      c.cmp(index, end);
      c.jae(done, Xbyak::CodeGenerator::T_NEAR);
      take(around);
      c.L(done);
    };
    Label tail, done;
    c.xor_(index.r32(), index.r32());
    walk.load_vector_extent(end);
    c.and_(end, -layer.lanes());
    c.jz(tail, Xbyak::CodeGenerator::T_NEAR);
    if (schedule.around) {
      walk.either_way(steps);
    } else {
      steps(false);
    }
    c.L(tail);
    c.cmp(c.qword[tail_count], 0);
    c.jz(done);
    step(Part::tail, false);
    c.L(done);
  });
  if (schedule.around) walk.fence();
  return walk.scratch_end() + spilled;
}

}  // namespace tenfold::jit
