// SPDX-License-Identifier: Apache-2.0
//
// Rows where a kept level lies inside reduced ones: outputs take turns, a row of each for every index of the reduced
// levels, so that memory is read in its order. What they have seen waits in records. The rows of an output come in the
// order in which they would come one output at a time, so its bits are the same.
#include "jit/nest/blocks.hpp"
#include "jit/rows/rows.hpp"

namespace tenfold::jit {

using Xbyak::Label;
using Xbyak::Reg64;

void Rows::in_turns() {
  std::vector<int> kept = n_.other_levels(false);
  const int level = kept.back();
  kept.pop_back();
  n_.over(kept, [&] { take_turns(level, n_.other_levels(true)); });
}

/// The outputs along `level`, as many at a time as there are records.
void Rows::take_turns(int level, const std::vector<int>& reduced) {
  Label again, done;
  c_.mov(n_.slot(frame::kNestInput), n_.in);
  n_.save_outputs(frame::kNestOutput, frame::kNestOutput2);
  {
    Gpr left(n_.a);
    n_.load_extent(left, level);
    c_.mov(n_.slot(frame::kStepsLeft), left);
    c_.test(left, left);
    c_.jz(done);
  }
  c_.L(again);
  {
    Gpr count(n_.a), most(n_.a);
    c_.mov(count, n_.slot(frame::kStepsLeft));
    c_.mov(most.r32(), n_.schedule.turns);
    c_.cmp(count, most);
    c_.cmova(count, most);
    c_.sub(n_.slot(frame::kStepsLeft), count);
    c_.mov(n_.slot(frame::kTileSteps), count);
  }
  n_.s.set_pass(n_.s.traits().has_second_pass ? Pass::first : Pass::whole);
  each_turn(level, false, [this](const Reg64& record) { n_.s.init_record(record); });
  n_.over(reduced, [&] { each_turn(level, false, [this](const Reg64& record) { row_of_turn(record); }); });
  each_turn(level, true, [this](const Reg64& record) { output([&] { n_.s.load_totals(record); }); });
  c_.cmp(n_.slot(frame::kStepsLeft), 0);
  c_.jnz(again);
  c_.L(done);
  c_.mov(n_.in, n_.slot(frame::kNestInput));
  n_.restore_outputs(frame::kNestOutput, frame::kNestOutput2);
}

/// `body` for each output whose turn it is, `in` moving along; `moves_on`: and `out`, and they stay where they end.
void Rows::each_turn(int level, bool moves_on, const std::function<void(const Reg64& record)>& body) {
  Gpr record(n_.a);
  Label again;
  c_.lea(record, c_.ptr[c_.rbp + frame::kRecords]);
  if (!moves_on) c_.mov(n_.slot(frame::kStreamOutput), n_.in);
  {
    Gpr count(n_.a);
    c_.mov(count, n_.slot(frame::kTileSteps));
    c_.mov(n_.slot(frame::kStreamRows), count);
  }
  c_.L(again);
  body(record);
  c_.add(record, n_.s.record_bytes());
  {
    Gpr stride(n_.a);
    n_.load_input_stride(stride, level);
    c_.add(n_.in, stride);
    for (int output = 0; moves_on && output < n_.outputs(); ++output) {
      n_.load_output_stride(stride, output, level);
      n_.advance_output(output, stride);
    }
  }
  c_.dec(n_.slot(frame::kStreamRows));
  c_.jnz(again);
  if (!moves_on) c_.mov(n_.in, n_.slot(frame::kStreamOutput));
}

void Rows::row_of_turn(const Reg64& record) {
  if (n_.s.chained()) {
    n_.s.load_totals(record);
    row();
    n_.s.keep_totals(record);
    return;
  }
  init_sets(n_.s, unroll_);
  n_.s.load_set(record);
  row();
  merge_sets(n_.s, unroll_);
  n_.s.store_set(record);
}

}  // namespace tenfold::jit
