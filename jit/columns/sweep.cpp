// SPDX-License-Identifier: Apache-2.0
#include "jit/columns/sweep.hpp"

#include <algorithm>
#include <vector>

#include "jit/columns/grouped_sweeps.hpp"
#include "jit/columns/next_block.hpp"
#include "jit/nest/blocks.hpp"

namespace tenfold::jit {

using Xbyak::Label;
using Xbyak::Reg64;

ColumnSweep::ColumnSweep(LoopNest& nest)
    : row_stride(nest.a),
      stream(nest.a),
      first(nest.a),
      n_(nest),
      c_(nest.c),
      staged_input_(!nest.input_contiguous()),
      p_(nest.a) {}

void ColumnSweep::take(int at_once, Of of) {
  sweep(at_once, of);
  next(at_once);
}

void ColumnSweep::take_in_turn(int at_once) {
  if (at_once == 1) return take(1, {false, false});
  Label again;
  c_.mov(n_.slot(frame::kStreamRows), at_once);
  c_.L(again);
  sweep(1, {false, false});
  c_.add(first, stream);
  c_.dec(n_.slot(frame::kStreamRows));
  c_.jnz(again, Xbyak::CodeGenerator::T_NEAR);
  for (int row = 0; row < at_once; ++row) c_.sub(first, stream);
  next(1);
}

void ColumnSweep::take_groups(const Reg64& count) {
  sweep_groups(n_, first, p_, row_stride, stream, count,
               [this] { rows_one_by_one(schedule::kChainedStreams, Part::tail); });
}

void ColumnSweep::step(const Reg64& from, Part part) {
  if (!staged_input_) {
    n_.s.step(0, from, part);
    return;
  }
  Gpr stride(n_.a);
  if (part == Part::tail || n_.input_gap() == 0) n_.load_input_stride(stride, n_.schedule.vector_level);
  if (part == Part::full) {
    n_.stage_step(from, stride);
  } else {
    Gpr count(n_.a);
    n_.load_count(count, part);
    n_.stage_in(from, stride, count);
  }
  n_.s.step(0, LoopNest::staging(), part);
}

void ColumnSweep::advance(const Reg64& pointer, const Reg64& steps) {
  Gpr bytes(n_.a);
  if (n_.input_gap() > 0) {
    c_.imul(bytes, steps, n_.input_gap() * n_.s.step_bytes());
  } else {
    n_.load_input_stride(bytes, n_.schedule.vector_level);
    c_.imul(bytes, steps);
    c_.imul(bytes, bytes, n_.s.lanes());
  }
  c_.add(pointer, bytes);
}

void ColumnSweep::each_record(const Body& body, const std::function<void()>& step_back) {
  Gpr record(n_.a), steps(n_.a);
  Label again, partial, done;
  c_.lea(record, c_.ptr[c_.rbp + frame::kRecords]);
  c_.mov(steps, n_.slot(frame::kTileSteps));
  c_.test(steps, steps);
  c_.jz(partial);
  align_loop(c_);
  c_.L(again);
  n_.set_whole_steps(true);
  body(record, Part::full);
  n_.set_whole_steps(false);
  c_.add(record, n_.s.record_bytes());
  c_.dec(steps);
  c_.jnz(again);
  c_.L(partial);
  c_.cmp(n_.slot(frame::kTileTail), 0);
  c_.jz(done);
  if (n_.ends_whole) {
    if (step_back) step_back();
    n_.set_whole_steps(true);
    body(record, Part::full);
    n_.set_whole_steps(false);
  } else {
    body(record, Part::tail);
  }
  c_.L(done);
}

void ColumnSweep::next(int at_once) {
  c_.add(first, row_stride);
  if (!n_.s.traits().in_order) return;
  for (int row = 1; row < at_once; ++row) c_.add(first, row_stride);
  if (RowNumbers* const numbers = n_.s.roles().row_numbers) numbers->next_rows(at_once);
}

void ColumnSweep::sweep(int at_once, Of of) {
  std::optional<Gpr> stream3;
  if (at_once >= 4) {
    stream3.emplace(n_.a);
    c_.lea(*stream3, c_.ptr[stream.reg() + stream.reg() * 2]);
  }
  take_sweep(n_, [&](Pass pass) {
    c_.mov(p_, first);
    each_record(
        [&](const Reg64& record, Part part) {
          take_rows(record, at_once, part, pass, of, stream3);
          if (part == Part::tail) return;
          if (n_.input_gap() > 0) {
            c_.add(p_, n_.input_gap() * n_.s.step_bytes());
          } else {
            Gpr one(n_.a);
            c_.mov(one.r32(), 1);
            advance(p_, one);
          }
        },
        [this] { n_.step_back(p_, n_.s.input_bytes()); });
  });
}

void ColumnSweep::take_rows(const Reg64& record, int at_once, Part part, Pass pass, Of of,
                            const std::optional<Gpr>& stream3) {
  const auto take = [&](Pass which) {
    n_.s.set_pass(which);
    if (of.begins) {
      n_.s.init_set(0);
    } else {
      n_.s.load_set(record);
    }
    if (part == Part::tail || staged_input_) {
      rows_one_by_one(at_once, part);
    } else {
      rows_together(at_once, stream3);
    }
    if (of.ends) {
      add_to_totals(record);
    } else {
      n_.s.store_set(record);
    }
  };
  take(pass);
  if (pass != Pass::first || n_.s.traits().second_pass_redoes) return;
  // The rows of this step are in L1 when the second pass asks for them again, which it does only as long as some
  // column has seen nothing but negative elements (max) or none (min).
  Label settled;
  n_.s.jump_if_settled(settled, Part::full);
  take(Pass::second);
  c_.L(settled);
}

void ColumnSweep::end_chain() {
  each_record([this](const Reg64& record, Part) {
    n_.s.load_set(record);
    add_to_totals(record);
  });
}

void ColumnSweep::add_to_totals(const Reg64& record) {
  n_.s.load_totals(record);
  n_.s.flush(0);
  n_.s.keep_totals(record);
}

void ColumnSweep::rows_together(int at_once, const std::optional<Gpr>& stream3) {
  std::vector<Memory> places = places_of_streams(p_, stream, stream3, std::min(at_once, 4));
  std::optional<Gpr> fifth;
  if (at_once == 8) {
    fifth.emplace(n_.a);
    c_.lea(*fifth, c_.ptr[p_.reg() + stream.reg() * 4]);
    for (const Memory& place : places_of_streams(*fifth, stream, stream3, 4)) places.push_back(place);
  }
  n_.s.step_rows(0, places);
  for (const Memory& place : places) ask_next_block(n_, place, n_.s.step_bytes());
  if (!n_.schedule.ahead || at_once < 4) return;
  // Where the rows of a sweep end before they have become a stream to the machine's own prefetching, ask for those of
  // the next one. Into L2: ArgMax f32 [1024, 4096] runs at 42 GB/s so, at 39 with prefetches into L1, at 37 with
  // none.
  Gpr next(n_.a);
  if (n_.s.traits().in_order) {
    c_.lea(next, c_.ptr[p_.reg() + stream.reg() * at_once]);
  } else {
    c_.lea(next, c_.ptr[p_.reg() + row_stride.reg()]);
  }
  for (const Memory& place : places_of_streams(next, stream, stream3, 4)) c_.prefetcht1(c_.ptr[place]);
  if (at_once < 8) return;
  c_.lea(next, c_.ptr[next.reg() + stream.reg() * 4]);
  for (const Memory& place : places_of_streams(next, stream, stream3, 4)) c_.prefetcht1(c_.ptr[place]);
}

void ColumnSweep::rows_one_by_one(int at_once, Part part) {
  if (at_once == 1) {
    step(p_, part);
    ask_next_block(n_, p_.reg(), n_.s.step_bytes());
    return;
  }
  Gpr from(n_.a);
  c_.mov(from, p_);
  // States that number rows do so as they are emitted.
  if (n_.s.roles().row_numbers != nullptr) {
    for (int row = 0; row < at_once; ++row) {
      step(from, part);
      ask_next_block(n_, from.reg(), n_.s.step_bytes());
      if (row + 1 < at_once) c_.add(from, stream);
    }
    return;
  }
  Label again;
  c_.mov(n_.slot(frame::kStreamRows), at_once);
  c_.L(again);
  step(from, part);
  ask_next_block(n_, from.reg(), n_.s.step_bytes());
  c_.add(from, stream);
  c_.dec(n_.slot(frame::kStreamRows));
  c_.jnz(again);
}

}  // namespace tenfold::jit
