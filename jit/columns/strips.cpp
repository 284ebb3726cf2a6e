// SPDX-License-Identifier: Apache-2.0
#include "jit/columns/strips.hpp"

#include <optional>

#include "jit/columns/next_block.hpp"
#include "jit/nest/blocks.hpp"

namespace tenfold::jit {

using Xbyak::Label;
using Xbyak::Reg64;

/// Steps that each row is asked for ahead of itself: f32 [31, 33825] takes 59 us, with 8 steps 63, with 12 72; of bf16
/// [31, 67650] 96 us, with 8 98, with 4 123.
constexpr int kAheadSteps = 6;

bool is_strip(const LoopNest& nest) {
  const schedule::Schedule& schedule = nest.schedule;
  return nest.s.is_sum() && schedule.width == 0 && nest.input_contiguous() &&
         schedule.columns == kStripSteps * nest.s.lanes();
}

void sweep_strip(LoopNest& nest, const Reg64& first, const Reg64& row_stride, const Reg64& stream, const Reg64& count,
                 int at_once) {
  Xbyak::CodeGenerator& c = nest.c;
  std::optional<Gpr> stream3;
  Label chain, sweep, done;
  if (at_once >= 4) {
    stream3.emplace(nest.a);
    c.lea(*stream3, c.ptr[stream + stream * 2]);
  }
  Gpr left(nest.a);
  c.L(chain);
  c.test(count, count);
  c.jz(done, Xbyak::CodeGenerator::T_NEAR);
  c.mov(left.r32(), nest.s.traits().chain / at_once);
  c.cmp(count, left);
  c.cmovb(left, count);
  c.sub(count, left);
  nest.set_whole_steps(true);
  init_sets(nest.s, kStripSteps);
  align_loop(c);
  c.L(sweep);
  for (const Memory& row : places_of_streams(first, stream, stream3, at_once))
    for (int step = 0; step < kStripSteps; ++step) {
      nest.s.step(step, row + step * nest.s.step_bytes(), Part::full);
      if (nest.schedule.blocks)
        ask_next_block(nest, row + step * nest.s.step_bytes(), nest.s.step_bytes());
      else if (step * nest.s.step_bytes() % 64 == 0)
        c.prefetcht0(c.ptr[row + (kAheadSteps + step) * nest.s.step_bytes()]);
    }
  c.add(first, row_stride);
  c.dec(left);
  c.jnz(sweep, Xbyak::CodeGenerator::T_NEAR);
  for (int step = 0; step < kStripSteps; ++step) {
    const Memory record = Xbyak::util::rbp + (frame::kRecords + step * nest.s.record_bytes());
    nest.s.load_totals(record);
    nest.s.flush(step);
    nest.s.keep_totals(record);
  }
  nest.set_whole_steps(false);
  c.jmp(chain, Xbyak::CodeGenerator::T_NEAR);
  c.L(done);
}

}  // namespace tenfold::jit
