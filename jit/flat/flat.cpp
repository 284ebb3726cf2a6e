// SPDX-License-Identifier: Apache-2.0
#include "jit/flat/flat.hpp"

#include <algorithm>
#include <vector>

#include "jit/assembler/frame.hpp"
#include "jit/flat/turns.hpp"
#include "jit/lane/emit.hpp"
#include "jit/operand/access.hpp"
#include "jit/operand/spread.hpp"
#include "jit/stage/stages.hpp"

namespace tenfold::jit {
namespace {

/// Inputs that visits ask for ahead.
constexpr std::size_t kMostAsked = 2;

using Xbyak::Label;
using Xbyak::Reg64;

class Flat {
 public:
  Flat(Assembler& assembler, LaneLayer& layer, const LaneProgram& program, const kernel::KernelSpec& spec,
       const schedule::Schedule& schedule)
      : a_(assembler),
        c_(assembler.code()),
        layer_(layer),
        schedule_(schedule),
        walk_(assembler, spec, schedule.vector_level),
        access_(assembler, walk_),
        spread_(assembler, walk_, schedule),
        one_(with_operands(program, spec)) {}

  std::int64_t emit() {
    walk_.start();
    access_.prepare(layer_);
    prepare_tail();
    turns_ = find_turns(one_, access_, layer_);
    hold_constants();
    if (schedule_.around) access_.find_lines(layer_);
    std::vector<int> outer;
    for (int level = 0; level < static_cast<int>(walk_.spec().levels.size()); ++level)
      if (level != schedule_.vector_level && (level + 1 != schedule_.vector_level || !joins_rows()))
        outer.push_back(level);
    walk_.over(outer, 0, [this](std::size_t depth) { joins_rows() ? elements_of_rows(depth) : elements(depth); });
    if (schedule_.around) access_.fence();
    return spread_.scratch_end() + spilled_;
  }

 private:
  /// Where the elements of a row are taken: from `index` on, whole steps before `end`.
  struct Run {
    std::size_t depth;
    const Reg64 &index, &end;
    bool around = false;  ///< stores go around the caches
  };

  bool joins_rows() const { return schedule_.width > 0; }
  void load_elements(const Reg64& d) { joins_rows() ? spread_.load_elements(d) : walk_.load_vector_extent(d); }

  Memory tail_count() const { return c_.rbp + frame::kTailCount; }

  void prepare_tail() {
    Gpr tail(a_);
    Label whole;
    load_elements(tail);
    c_.and_(tail, layer_.lanes() - 1);
    c_.mov(c_.qword[tail_count()], tail);
    c_.jz(whole, Xbyak::CodeGenerator::T_NEAR);
    layer_.prepare_tail(tail);
    c_.L(whole);
  }

  void hold_constants() {
    std::vector<LaneSource> constants = constants_by_use(one_.lanes);
    const auto needed = [](const StageProgram& program) {
      return vectors_needed(program.lanes, std::vector<bool>(program.inputs.size(), false));
    };
    const int most = std::max(needed(one_), turns_.program ? needed(*turns_.program) : 0);
    const int each = layer_.constants_of_vector();
    const int spare = std::max(0, layer_.vectors() - most);
    constants.resize(std::min(constants.size(), static_cast<std::size_t>(spare * each)));
    free_ = layer_.vectors() - (static_cast<int>(constants.size()) + each - 1) / each;
    layer_.hold(constants, free_);
  }

  void elements(std::size_t depth) {
    Gpr index(a_), end(a_);
    const OperandWalk::KeptPointers pointers(walk_, depth);
    Label done;
    c_.xor_(index.r32(), index.r32());
    walk_.load_vector_extent(end);
    take_whole_steps(depth, index, end);
    c_.cmp(c_.qword[tail_count()], 0);
    c_.jz(done, Xbyak::CodeGenerator::T_NEAR);
    step(one_, {depth, index, end}, Part::tail);
    c_.L(done);
  }

  /// Elements of joined rows, as many at a time as are spread; only the last ones end in a partial step.
  void elements_of_rows(std::size_t depth) {
    const Xbyak::Address part_end = c_.qword[c_.rbp + frame::kTileSteps];
    Gpr index(a_), end(a_);
    Label part;
    c_.xor_(index.r32(), index.r32());
    spread_.begin();
    spread_.fill_columns(depth);
    c_.L(part);
    spread_.fill_next(depth);
    walk_.enter_turned(depth, index);
    {
      Gpr next(a_);
      c_.lea(next, c_.ptr[index.reg() + static_cast<int>(schedule_.columns)]);
      spread_.load_elements(end);
      c_.cmp(end, next);
      c_.cmova(end, next);
      c_.mov(part_end, end);
    }
    {
      const OperandWalk::KeptPointers pointers(walk_, depth + 1);
      Label whole;
      take_whole_steps(depth + 1, index, end);
      c_.test(part_end, layer_.lanes() - 1);
      c_.jz(whole, Xbyak::CodeGenerator::T_NEAR);
      step(one_, {depth + 1, index, end}, Part::tail);
      c_.L(whole);
    }
    c_.mov(index, part_end);
    spread_.load_elements(end);
    c_.cmp(index, end);
    c_.jb(part, Xbyak::CodeGenerator::T_NEAR);
  }

  /// From `index` on, as many as there are before `end`.
  void take_whole_steps(std::size_t depth, const Reg64& index, const Reg64& end) {
    Label none;
    c_.and_(end, -layer_.lanes());
    c_.cmp(index, end);
    c_.jae(none, Xbyak::CodeGenerator::T_NEAR);
    const auto take = [&](bool around) { take_run({depth, index, end, around}); };
    if (schedule_.around) {
      access_.either_way(take);
    } else {
      take(false);
    }
    c_.L(none);
  }

  void take_run(const Run& run) {
    if (!schedule_.runs) return take_steps(run);
    Label rest, done;
    const auto ask = [&](const Reg64& distance) {
      const OperandWalk::At at{run.depth, run.index, Part::full, tail_count()};
      for (std::size_t k = 0; k < std::min(kMostAsked, walk_.inputs()); ++k)
        if (walk_.vector_stride(k) == 1) walk_.ask_for_visit(k, at, distance);
    };
    walk_.over_visits(run.index, run.end, rest, ask, [&] { take_steps(run); });
    c_.L(rest);
    c_.cmp(run.index, run.end);
    c_.jae(done, Xbyak::CodeGenerator::T_NEAR);
    take_steps(run);
    c_.L(done);
  }

  /// One step or more.
  void take_steps(const Run& run) {
    Label again, over;
    if (turns_.program) take_in_turns(run, over);
    align_loop(c_);
    c_.L(again);
    step(one_, run, Part::full);
    c_.add(run.index, layer_.lanes());
    c_.cmp(run.index, run.end);
    c_.jb(again, Xbyak::CodeGenerator::T_NEAR);
    c_.L(over);
  }

  /// Jumps to `over` when no step is left; fewer than take turns may be.
  void take_in_turns(const Run& run, const Label& over) {
    const int lanes = turns_.steps * layer_.lanes();
    Label turns, single;
    Gpr next(a_);
    c_.lea(next, c_.ptr[run.index + lanes]);
    c_.cmp(next, run.end);
    c_.ja(single, Xbyak::CodeGenerator::T_NEAR);
    align_loop(c_);
    c_.L(turns);
    step(*turns_.program, run, Part::full);
    c_.mov(run.index, next);
    c_.add(next, lanes);
    c_.cmp(next, run.end);
    c_.jbe(turns, Xbyak::CodeGenerator::T_NEAR);
    c_.L(single);
    c_.cmp(run.index, run.end);
    c_.jae(over, Xbyak::CodeGenerator::T_NEAR);
  }

  void step(const StageProgram& program, const Run& run, Part part) {
    const auto at = [&](const StagePlace& place) {
      const int offset = place.step * layer_.lanes();
      return OperandWalk::At{run.depth, run.index, part, tail_count(), offset, true, run.around, schedule_.claim};
    };
    const auto load = [&](int input, Vec d) {
      const StagePlace& place = program.inputs[static_cast<std::size_t>(input)];
      access_.load(layer_, static_cast<std::size_t>(place.index), d, at(place), place.type);
    };
    const auto store = [&](int result, Vec s) {
      const StagePlace& place = program.results[static_cast<std::size_t>(result)];
      const auto k = static_cast<std::size_t>(place.index);
      place.kind == StagePlace::Kind::joined ? access_.store_joined(layer_, k, s, at(place))
                                             : access_.store(layer_, k, s, at(place));
    };
    const Memory spill = c_.rbp + spread_.scratch_end();
    spilled_ = std::max(spilled_, emit_lanes(a_, layer_, program.lanes, spill, {load, store, {}, {}, free_}));
  }

  Assembler& a_;
  Xbyak::CodeGenerator& c_;
  LaneLayer& layer_;
  const schedule::Schedule& schedule_;
  OperandWalk walk_;
  OperandAccess access_;
  SpreadOperands spread_;
  StageProgram one_;
  Turns turns_;
  int free_ = 0;  ///< vectors below are the programs', above are constants
  std::int64_t spilled_ = 0;
};

}  // namespace

std::int64_t emit_flat(Assembler& assembler, LaneLayer& layer, const LaneProgram& program,
                       const kernel::KernelSpec& spec, const schedule::Schedule& schedule) {
  return Flat(assembler, layer, program, spec, schedule).emit();
}

}  // namespace tenfold::jit
