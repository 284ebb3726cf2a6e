// SPDX-License-Identifier: Apache-2.0
#include "jit/flat.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "jit/frame.hpp"
#include "jit/lane_emit.hpp"
#include "jit/operand_walk.hpp"
#include "jit/side_by_side.hpp"

namespace tenfold::jit {
namespace {

/// Inputs that visits ask for ahead.
constexpr std::size_t kMostAsked = 2;
/// Nodes of a program whose steps take turns. A scheduler holds some 50 to 100 operations that wait, one or two such
/// chains, and of two that wait for nothing from one another it finds twice as many that are ready.
constexpr std::size_t kLongStep = 16;

StageProgram one_step(const LaneProgram& program, const kernel::KernelSpec& spec) {
  StageProgram made{program, {}, {}};
  const auto place = [](std::size_t k, LaneType type) {
    return StagePlace{StagePlace::Kind::operand, static_cast<int>(k), type};
  };
  for (std::size_t k = 0; k < spec.inputs.size(); ++k) made.inputs.push_back(place(k, LaneType::f32));
  for (std::size_t i = 0; i < program.results.size(); ++i)
    made.results.push_back(place(spec.inputs.size() + static_cast<std::size_t>(spec.stores[i].output),
                                 result_type(program.nodes[static_cast<std::size_t>(program.results[i])])));
  return made;
}

/// Two steps side by side, rounded together where the machine does that; nothing where that does not pay, or vectors
/// have no room.
std::optional<StageProgram> two_steps(const StageProgram& one, const OperandWalk& walk, const LaneLayer& layer) {
  const auto joins = [&](int operand) {
    const auto k = static_cast<std::size_t>(operand);
    return layer.joins() && walk.operand(k).dtype == DType::bf16 && walk.vector_stride(k) == 1;
  };
  const bool any = std::any_of(one.results.begin(), one.results.end(), [&](const auto& to) { return joins(to.index); });
  if (!any && one.lanes.nodes.size() < kLongStep) return std::nullopt;
  StageProgram both = with_joined_results(side_by_side(one), joins);
  const std::vector<bool> resident(both.inputs.size(), false);
  if (vectors_needed(both.lanes, resident) > layer.vectors()) return std::nullopt;
  return both;
}

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

  const StageProgram one = one_step(program, spec);
  const std::optional<StageProgram> two = two_steps(one, walk, layer);
  std::vector<LaneSource> constants = constants_by_use(program);
  const StageProgram& widest = two ? *two : one;
  const std::vector<bool> resident(widest.inputs.size(), false);
  const int spare = std::max(0, layer.vectors() - vectors_needed(widest.lanes, resident));
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
    const auto step = [&](const StageProgram& steps, Part part, bool around) {
      const auto at = [&](const StagePlace& place) {
        return OperandWalk::At{depth, index,  part,          tail_count, place.step * layer.lanes(),
                               true,  around, schedule.claim};
      };
      const auto load = [&](int input, Vec d) {
        const StagePlace& place = steps.inputs[static_cast<std::size_t>(input)];
        walk.load(layer, static_cast<std::size_t>(place.index), d, at(place));
      };
      const auto store = [&](int result, Vec s) {
        const StagePlace& place = steps.results[static_cast<std::size_t>(result)];
        const auto k = static_cast<std::size_t>(place.index);
        place.kind == StagePlace::Kind::joined ? walk.store_joined(layer, k, s, at(place))
                                               : walk.store(layer, k, s, at(place));
      };
      spilled = std::max(spilled, emit_lanes(assembler, layer, steps.lanes, spill, {load, store, {}, {}, free}));
    };
    const auto take = [&](bool around) {
      Label again, twice, single, over;
      if (two) {
        const int lanes = 2 * layer.lanes();
        Gpr next(assembler);
        c.lea(next, c.ptr[index.reg() + lanes]);
        c.cmp(next, end);
        c.ja(single, Xbyak::CodeGenerator::T_NEAR);
        c.align(32);
        c.L(twice);
        step(*two, Part::full, around);
        c.mov(index, next);
        c.add(next, lanes);
        c.cmp(next, end);
        c.jbe(twice, Xbyak::CodeGenerator::T_NEAR);
        c.L(single);
        c.cmp(index, end);
        c.jae(over, Xbyak::CodeGenerator::T_NEAR);
      }
      c.align(32);
      c.L(again);
      step(one, Part::full, around);
      c.add(index, layer.lanes());
      c.cmp(index, end);
      c.jb(again, Xbyak::CodeGenerator::T_NEAR);
      c.L(over);
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
    step(one, Part::tail, false);
    c.L(done);
  });
  if (schedule.around) walk.fence();
  return walk.scratch_end() + spilled;
}

}  // namespace tenfold::jit
