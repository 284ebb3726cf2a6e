// SPDX-License-Identifier: Apache-2.0
#include "jit/columns/narrow.hpp"

#include <algorithm>

#include "jit/columns/next_block.hpp"
#include "jit/nest/blocks.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Label;
using Xbyak::Reg64;

constexpr int kSweepsOfChain = schedule::kChain / schedule::kChainedStreams;
/// Sets of states whose elements may come in any order.
constexpr int kMostSets = 4;
/// Rows of two steps that are taken at once.
constexpr int kTwoStepRows = 2;

}  // namespace

int NarrowColumns::rows_behind(int rows_of_step) const {
  const int step = n_.s.step_bytes(), steps = rows_of_step > 1 ? 1 : (row_bytes() + step - 1) / step;
  const int bytes = steps * step - rows_of_step * row_bytes();
  return bytes <= 0 ? 0 : (bytes + row_bytes() - 1) / row_bytes();
}

void NarrowColumns::take_sweeps(const Reg64& first, const Reg64& stream, const Reg64& sweeps) {
  const int steps = (width_ + n_.s.lanes() - 1) / n_.s.lanes(), least = kSweepsOfChain + rows_behind(1);
  Gpr stream3(n_.a);
  Label again, enough;
  c_.cmp(sweeps, least);
  c_.jb(enough);
  c_.lea(stream3, c_.ptr[stream + stream * 2]);
  n_.set_whole_steps(true);
  align_loop(c_);
  c_.L(again);
  init_sets(n_.s, steps);
  for (int sweep = 0; sweep < kSweepsOfChain; ++sweep)
    for (int at = 0; at < schedule::kChainedStreams; ++at) {
      const int offset = sweep * row_bytes();
      const Memory row = at == 0   ? first + offset
                         : at == 1 ? first + stream + offset
                         : at == 2 ? first + stream * 2 + offset
                                   : first + stream3.reg() + offset;
      for (int step = 0; step < steps; ++step) n_.s.step(step, row + step * n_.s.step_bytes(), Part::full);
      ask_next_block(n_, row, row_bytes());
    }
  for (int step = 0; step < steps; ++step) {
    n_.s.load_totals(record(step));
    n_.s.flush(step);
    n_.s.keep_totals(record(step));
  }
  n_.set_whole_steps(false);
  c_.add(first, kSweepsOfChain * row_bytes());
  c_.sub(sweeps, kSweepsOfChain);
  c_.cmp(sweeps, least);
  c_.jae(again);
  c_.L(enough);
}

void NarrowColumns::take_rows(const Reg64& first, const Reg64& rows) {
  if (n_.s.roles().row_numbers != nullptr) {
    in_turn(first, rows);
  } else if (width_ > n_.s.lanes() && n_.schedule.columns == records_of_row() * n_.s.lanes()) {
    in_two_steps(first, rows);
  } else if (n_.schedule.columns > n_.s.lanes()) {
    in_groups(first, rows);
  } else if (n_.s.traits().free_sets == 0) {
    in_order(first, rows);
  } else {
    in_any_order(first, rows);
  }
}

/// Sums of f64: a step is as many whole rows as it has room for, whose lanes a row apart meet at the end. What a step
/// adds to waits for the one before it, whichever lanes it has.
void NarrowColumns::in_order(const Reg64& first, const Reg64& rows) {
  const int of_step = n_.s.lanes() / width_, least = of_step + rows_behind(of_step);
  Label again, done;
  c_.cmp(rows, least);
  c_.jb(done);
  of_step > 1 ? n_.s.init_totals() : n_.s.load_set(record(0));
  align_loop(c_);
  c_.L(again);
  n_.s.step(0, first, Part::full);
  ask_next_block(n_, first, of_step * row_bytes());
  c_.add(first, of_step * row_bytes());
  c_.sub(rows, of_step);
  c_.cmp(rows, least);
  c_.jae(again);
  if (of_step > 1) {
    n_.s.store_set(record(1));
    n_.s.load_set(record(0));
    for (int row = 0; row < of_step; ++row)
      n_.s.roles().wide_totals->merge_totals(record(1) + row * width_ * static_cast<int>(sizeof(double)));
  }
  n_.s.store_set(record(0));
  c_.L(done);
}

/// All rows in the first pass, as if they were a sweep, and again from the start in the others that this calls for;
/// `ask` jumps where nothing is left open.
void NarrowColumns::in_passes(const Reg64& first, const Reg64& rows, const TakePass& take,
                              const std::function<void(const Label& settled)>& ask) {
  if (!n_.s.traits().has_second_pass) return take(Pass::whole);
  Gpr begin(n_.a), all(n_.a);
  Label settled;
  const auto again = [&](Pass pass) {
    c_.mov(first, begin);
    c_.mov(rows, all);
    take(pass);
  };
  c_.mov(begin, first);
  c_.mov(all, rows);
  take_sweep(n_, [&](Pass pass) { pass == Pass::first ? take(pass) : again(pass); });
  n_.s.set_pass(Pass::first);
  ask(settled);
  again(Pass::second);
  c_.L(settled);
}

/// A row is two steps, with a set each; the second may read on into the row behind.
void NarrowColumns::in_two_steps(const Reg64& first, const Reg64& rows) {
  Label done;
  c_.cmp(rows, kTwoStepRows + rows_behind(1));
  c_.jb(done, Xbyak::CodeGenerator::T_NEAR);
  in_passes(
      first, rows, [&](Pass pass) { pass_in_two_steps(pass, first, rows); },
      [this](const Label& settled) {
        Label open, first_settled;
        n_.s.load_set(record(0));
        n_.s.jump_if_settled(first_settled, Part::full);
        c_.jmp(open);
        c_.L(first_settled);
        n_.s.load_set(record(1));
        n_.s.jump_if_settled(settled, Part::full);
        c_.L(open);
      });
  c_.L(done);
  n_.s.set_pass(Pass::whole);
}

void NarrowColumns::pass_in_two_steps(Pass pass, const Reg64& first, const Reg64& rows) {
  Label again;
  n_.s.set_pass(pass);
  n_.s.load_set(record(1));
  n_.s.init_set(1);
  n_.s.merge(1, 0);
  n_.s.load_set(record(0));
  align_loop(c_);
  c_.L(again);
  for (int row = 0; row < kTwoStepRows; ++row)
    n_.s.step_sets({first + row * row_bytes(), first + (row * row_bytes() + n_.s.step_bytes())});
  ask_next_block(n_, first, kTwoStepRows * row_bytes());
  c_.add(first, kTwoStepRows * row_bytes());
  c_.sub(rows, kTwoStepRows);
  c_.cmp(rows, kTwoStepRows + rows_behind(1));
  c_.jae(again);
  n_.s.store_set(record(0));
  n_.s.init_set(0);
  n_.s.merge(0, 1);
  n_.s.store_set(record(1));
}

/// A step takes as many whole rows as it has room for; lanes a row apart meet at the end.
void NarrowColumns::in_any_order(const Reg64& first, const Reg64& rows) {
  const int of_step = n_.s.lanes() / width_;
  Label done;
  c_.cmp(rows, of_step + rows_behind(of_step));
  c_.jb(done, Xbyak::CodeGenerator::T_NEAR);
  // What the first pass leaves out is as at the start, unless it is asked for.
  if (n_.s.traits().has_second_pass)
    for (const Pass pass : {Pass::second, Pass::again}) {
      n_.s.set_pass(pass);
      n_.s.init_set(0);
    }
  in_passes(
      first, rows, [&](Pass pass) { steps_in_any_order(pass, first, rows); },
      [this](const Label& settled) { n_.s.jump_if_settled(settled, Part::full); });
  n_.s.set_pass(Pass::whole);
  fold_segments(of_step);
  c_.L(done);
}

/// Into set 0.
void NarrowColumns::steps_in_any_order(Pass pass, const Reg64& first, const Reg64& rows) {
  const int of_step = n_.s.lanes() / width_, sets = std::min(kMostSets, n_.s.traits().free_sets);
  Label again, one, single, rest;
  n_.s.set_pass(pass);
  for (int set = 0; set < sets; ++set) n_.s.init_set(set);
  const auto steps = [&](int count, Label& loop, const Label& end) {
    c_.cmp(rows, count * of_step + rows_behind(of_step));
    c_.jb(end);
    align_loop(c_);
    c_.L(loop);
    for (int step = 0; step < count; step += sets) {
      std::vector<Memory> places;
      places.reserve(static_cast<std::size_t>(sets));
      for (int set = 0; set < std::min(sets, count); ++set)
        places.push_back(first + (step + set) * of_step * row_bytes());
      n_.s.step_sets(places);
    }
    ask_next_block(n_, first, count * of_step * row_bytes());
    c_.add(first, count * of_step * row_bytes());
    c_.sub(rows, count * of_step);
    c_.cmp(rows, count * of_step + rows_behind(of_step));
    c_.jae(loop);
  };
  steps(kMostSets, again, single);
  c_.L(single);
  steps(1, one, rest);
  c_.L(rest);
  if (n_.s.traits().takes_twice && rows_behind(of_step) == 0) {
    Label none;
    step_back(first, rows, of_step, none);
    n_.s.step(0, first, Part::full);
    c_.add(first, of_step * row_bytes());
    c_.L(none);
  }
  for (int set = 1; set < sets; ++set) n_.s.merge(0, set);
}

void NarrowColumns::step_back(const Reg64& first, const Reg64& rows, int of_step, const Label& none) {
  c_.test(rows, rows);
  c_.jz(none);
  c_.sub(rows, of_step);
  c_.imul(rows, rows, row_bytes());
  c_.add(first, rows);
  c_.xor_(rows.cvt32(), rows.cvt32());
}

/// Set 0's lanes, and those a row further, and so on, into the first record; by way of the second one.
void NarrowColumns::fold_segments(int segments) {
  n_.s.store_set(record(1));
  n_.s.load_set(record(0));
  n_.s.init_set(1);
  n_.s.merge(1, 0);
  for (int segment = 0; segment < segments; ++segment) {
    n_.s.load_set(record(1) + segment * row_bytes());
    n_.s.merge(1, 0);
  }
  n_.s.init_set(0);
  n_.s.merge(0, 1);
  n_.s.store_set(record(0));
}

}  // namespace tenfold::jit
