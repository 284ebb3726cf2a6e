// SPDX-License-Identifier: Apache-2.0
//
// Rows where the order is free, side by side, each with a set of its own: as streams far apart, each a run of
// consecutive rows. Memory delivers several streams faster than one. Where there is but one row, it is cut into runs.
#include <bit>

#include "jit/rows/rows.hpp"

namespace tenfold::jit {

using Xbyak::Label;
using Xbyak::Reg64;

/// Four runs of the row at `p_`, a step of each at a time. What is left of it follows, from `p_` on.
void Rows::in_runs() {
  constexpr int kRuns = 4;
  Gpr distance(n_.a), thrice(n_.a), left(n_.a);
  Label again, done;
  c_.mov(left, steps_);
  n_.divide_into_streams(left, kRuns, false);
  c_.test(left, left);
  c_.jz(done);
  c_.lea(distance, c_.ptr[left.reg() * kRuns]);
  c_.sub(steps_, distance);
  c_.imul(distance, left, n_.s.step_bytes());
  c_.lea(thrice, c_.ptr[distance.reg() + distance.reg() * 2]);
  const std::vector<Memory> runs{p_.reg(), p_.reg() + distance.reg(), p_.reg() + distance.reg() * 2,
                                 p_.reg() + thrice.reg()};
  align_loop(c_);
  c_.L(again);
  for (auto first = runs.begin(); first != runs.end(); first += unroll_) n_.s.step_sets({first, first + unroll_});
  c_.add(p_, n_.s.step_bytes());
  c_.dec(left);
  c_.jnz(again);
  c_.add(p_, thrice);
  c_.L(done);
}

/// The rows of `level` as streams, then what is left, row by row.
void Rows::in_streams(int level) {
  const int streams = n_.schedule.rows_at_once;
  Gpr distance(n_.a);
  Label again, rest;
  c_.mov(n_.slot(frame::kNestInput), n_.in);
  n_.save_outputs(frame::kNestOutput, frame::kNestOutput2);
  {
    Gpr rows(n_.a), stride(n_.a);
    n_.load_extent(rows, level);
    n_.divide_into_streams(rows, streams, false);
    c_.mov(n_.slot(frame::kStreamRows), rows);
    n_.load_input_stride(distance, level);
    c_.imul(distance, rows);
    n_.load_output_stride(stride, 0, level);
    c_.imul(stride, rows);
    c_.mov(n_.slot(frame::kStreamOutput), stride);
    c_.test(rows, rows);
    c_.jz(rest);
  }
  c_.L(again);
  visits_ ? rows_in_visits(distance) : side_by_side(distance);
  next_row(level);
  c_.jnz(again);
  for (int stream = 1; stream < streams; ++stream) next_stream(distance);
  c_.L(rest);
  {
    Gpr rows(n_.a), taken(n_.a);
    n_.load_extent(rows, level);
    c_.mov(taken, rows);
    n_.divide_into_streams(taken, streams, false);
    c_.shl(taken, std::countr_zero(static_cast<unsigned>(streams)));
    c_.sub(rows, taken);
    c_.mov(n_.slot(frame::kStreamRows), rows);
  }
  row_by_row(level);
}

/// The rows that kStreamRows says are left; then operands stand where the nest began.
void Rows::row_by_row(int level) {
  Label one, done;
  c_.cmp(n_.slot(frame::kStreamRows), 0);
  c_.jz(done);
  c_.L(one);
  output([this] { take_rows(); });
  next_row(level);
  c_.jnz(one);
  c_.L(done);
  c_.mov(n_.in, n_.slot(frame::kNestInput));
  n_.restore_outputs(frame::kNestOutput, frame::kNestOutput2);
}

/// Sets the zero flag after the last one.
void Rows::next_row(int level) {
  Gpr stride(n_.a);
  n_.load_input_stride(stride, level);
  c_.add(n_.in, stride);
  n_.load_output_stride(stride, 0, level);
  n_.advance_output(0, stride);
  c_.dec(n_.slot(frame::kStreamRows));
}

void Rows::next_stream(const Reg64& distance) {
  c_.add(n_.in, distance);
  c_.add(n_.out, n_.slot(frame::kStreamOutput));
}

/// The rows where the streams stand, `distance` apart, and their outputs.
void Rows::side_by_side(const Reg64& distance) {
  const int streams = n_.schedule.rows_at_once;
  const bool two_passes = n_.s.traits().has_second_pass;
  const Pass pass = two_passes ? Pass::first : Pass::whole;
  n_.s.set_pass(pass);
  for (int set = 0; set < streams; ++set) n_.s.init_set(set);
  take_side_by_side(distance);
  for (int set = 0; set < streams; ++set) {
    if (set > 0) {
      n_.s.set_pass(pass);
      n_.s.init_set(0);
      n_.s.merge(0, set);
      next_stream(distance);
    }
    n_.s.fold();
    if (two_passes) look_again();
    n_.store_one();
  }
  for (int set = 1; set < streams; ++set) {
    c_.sub(n_.in, distance);
    c_.sub(n_.out, n_.slot(frame::kStreamOutput));
  }
}

void Rows::take_side_by_side(const Reg64& distance) {
  std::optional<Gpr> thrice;
  std::vector<Memory> places{p_.reg(), p_.reg() + distance};
  if (n_.schedule.rows_at_once == 4) {
    thrice.emplace(n_.a);
    c_.lea(*thrice, c_.ptr[distance + distance * 2]);
    places.push_back(p_.reg() + distance * 2);
    places.push_back(p_.reg() + thrice->reg());
  }
  const auto each_whole = [&] {
    for (std::size_t set = 0; set < places.size(); ++set) n_.s.step(static_cast<int>(set), places[set], Part::full);
  };
  const int bytes = n_.s.step_bytes();
  Label again, single, partial, done;
  c_.mov(p_, n_.in);
  n_.load_extent(steps_, n_.schedule.vector_level);
  c_.shr(steps_, std::countr_zero(static_cast<unsigned>(n_.s.lanes())));
  c_.sub(steps_, 1);
  c_.jbe(single);
  align_loop(c_);
  c_.L(again);
  for (std::size_t set = 0; set < places.size(); ++set)
    n_.s.step_rows(static_cast<int>(set), {places[set], places[set] + bytes});
  c_.add(p_, 2 * bytes);
  c_.sub(steps_, 2);
  c_.ja(again);
  c_.L(single);
  // One less than there are steps left: 0, or what is below.
  c_.cmp(steps_, 0);
  c_.jne(partial);
  each_whole();
  c_.add(p_, bytes);
  c_.L(partial);
  c_.cmp(n_.slot(frame::kTailCount), 0);
  c_.jz(done);
  {
    Gpr tail(n_.a);
    c_.mov(tail, n_.slot(frame::kTailCount));
    if (element_stride_) n_.load_input_stride(*element_stride_, n_.schedule.vector_level);
    partial_step(tail, places);
  }
  c_.L(done);
}

}  // namespace tenfold::jit
