// SPDX-License-Identifier: Apache-2.0
#include "jit/nest/blocks.hpp"

#include <bit>

namespace tenfold::jit {

using Xbyak::Label;
using Xbyak::Reg64;

void init_sets(ReduceState& state, int sets) {
  for (int set = 0; set < sets; ++set) state.init_set(set);
}

void merge_sets(ReduceState& state, int sets) {
  for (int distance = 1; distance < sets; distance *= 2)
    for (int set = 0; set + distance < sets; set += 2 * distance) state.merge(set, set + distance);
}

namespace {

/// The sets of a block, into the totals.
void flush_sets(ReduceState& state, int sets) {
  if (!state.traits().sets_meet_in_totals) {
    merge_sets(state, sets);
    sets = 1;
  }
  for (int set = 0; set < sets; ++set) state.flush(set);
}

}  // namespace

void repeat_groups(LoopNest& nest, const Reg64& groups, const EmitGroup& group) {
  Label again;
  align_loop(nest.c);
  nest.c.L(again);
  group();
  nest.c.dec(groups);
  nest.c.jnz(again);
}

void take_block(LoopNest& nest, const Reg64& groups, int sets, bool by_step_sets, const EmitGroup& group) {
  nest.set_whole_steps(true);
  init_sets(nest.s, sets);
  Chains* const chains = by_step_sets ? nest.s.roles().chains : nullptr;
  if (chains != nullptr) chains->start_groups(sets);
  repeat_groups(nest, groups, group);
  if (chains != nullptr) chains->end_groups(sets);
  flush_sets(nest.s, sets);
  nest.set_whole_steps(false);
}

void take_blocks(LoopNest& nest, const Reg64& steps, int sets, bool by_step_sets, const EmitGroup& group) {
  Xbyak::CodeGenerator& c = nest.c;
  const int shift = std::countr_zero(static_cast<unsigned>(sets));
  Gpr groups(nest.a), taken(nest.a);
  Label block, done;
  c.L(block);
  c.mov(groups, steps);
  if (shift > 0) c.shr(groups, shift);
  c.test(groups, groups);
  c.jz(done);
  c.mov(taken.r32(), nest.s.traits().chain);
  c.cmp(groups, taken);
  c.cmova(groups, taken);
  c.mov(taken, groups);
  if (shift > 0) c.shl(taken, shift);
  c.sub(steps, taken);
  take_block(nest, groups, sets, by_step_sets, group);
  c.jmp(block);
  c.L(done);
}

void take_sweep(LoopNest& nest, const std::function<void(Pass)>& take) {
  if (!nest.s.traits().has_second_pass) return take(Pass::whole);
  Label other, again, clean;
  SweepPasses& passes = *nest.s.roles().sweep_passes;
  QuickSweeps* const quick = nest.s.roles().quick_sweeps;
  passes.start_sweep();
  if (quick != nullptr) quick->jump_unless_quick(other);
  take(Pass::first);
  passes.jump_if_clean(clean);
  if (quick != nullptr) {
    nest.c.jmp(again, Xbyak::CodeGenerator::T_NEAR);
    nest.c.L(other);
    quick->start_other();
    take(Pass::other);
    quick->end_other(clean);
  }
  nest.c.L(again);
  take(Pass::again);
  nest.c.L(clean);
  nest.s.set_pass(Pass::whole);
}

}  // namespace tenfold::jit
