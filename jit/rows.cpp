// SPDX-License-Identifier: Apache-2.0
//
// The rows nest. For each output: for each index of the outer reduced levels: one row of the vector level.
//
// A row of a chained reduction is cut into blocks of chain() * unroll vector steps, counted from its start; step k of a
// block goes to set k mod unroll. What is left after the last whole group of a block of `unroll` steps goes to set 0,
// the partial step last. So which elements share a chain depends on the row's length alone.
//
// Where the order is free, several rows may be taken side by side, each with a set of its own: as streams far apart,
// each a run of consecutive rows. Memory delivers several streams faster than one.
#include <bit>

#include "jit/blocks.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Label;
using Xbyak::Reg64;

class Rows {
 public:
  explicit Rows(Nest& nest)
      : n_(nest), c_(nest.c), unroll_(nest.input_contiguous() ? nest.schedule.unroll : 1), p_(nest.a), steps_(nest.a) {
    if (!n_.input_contiguous() || !n_.s.loads_tails()) element_stride_.emplace(nest.a);
    n_.s.read_by(p_);
  }

  void emit() {
    if (n_.schedule.rows_at_once > 1) return in_streams(n_.other_levels(false).front());
    n_.over(n_.other_levels(false), [this] { output(); });
  }

 private:
  /// The rows of `level` as streams, then what is left, row by row.
  void in_streams(int level) {
    const int streams = n_.schedule.rows_at_once;
    Gpr distance(n_.a);
    Label again, rest, one, done;
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
    side_by_side(distance);
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
      c_.jz(done);
    }
    c_.L(one);
    output();
    next_row(level);
    c_.jnz(one);
    c_.L(done);
    c_.mov(n_.in, n_.slot(frame::kNestInput));
    n_.restore_outputs(frame::kNestOutput, frame::kNestOutput2);
  }

  /// Sets the zero flag after the last one.
  void next_row(int level) {
    Gpr stride(n_.a);
    n_.load_input_stride(stride, level);
    c_.add(n_.in, stride);
    n_.load_output_stride(stride, 0, level);
    n_.advance_output(0, stride);
    c_.dec(n_.slot(frame::kStreamRows));
  }

  void next_stream(const Reg64& distance) {
    c_.add(n_.in, distance);
    c_.add(n_.out, n_.slot(frame::kStreamOutput));
  }

  /// The rows where the streams stand, `distance` apart, and their outputs.
  void side_by_side(const Reg64& distance) {
    const int streams = n_.schedule.rows_at_once;
    const bool two_passes = n_.s.has_second_pass();
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
      if (two_passes) {
        Label settled;
        n_.s.jump_if_settled(settled, Part::one);
        n_.s.set_pass(Pass::second);
        fold_rows();
        c_.L(settled);
      }
      n_.store_one();
    }
    for (int set = 1; set < streams; ++set) {
      c_.sub(n_.in, distance);
      c_.sub(n_.out, n_.slot(frame::kStreamOutput));
    }
  }

  void take_side_by_side(const Reg64& distance) {
    std::optional<Gpr> thrice;
    std::vector<Memory> places{p_.reg(), p_.reg() + distance};
    if (n_.schedule.rows_at_once == 4) {
      thrice.emplace(n_.a);
      c_.lea(*thrice, c_.ptr[distance + distance * 2]);
      places.push_back(p_.reg() + distance * 2);
      places.push_back(p_.reg() + thrice->reg());
    }
    const auto each = [&](Part part) {
      for (std::size_t set = 0; set < places.size(); ++set) n_.s.step(static_cast<int>(set), places[set], part);
    };
    Label again, partial, done;
    c_.mov(p_, n_.in);
    n_.load_extent(steps_, n_.schedule.vector_level);
    c_.shr(steps_, std::countr_zero(static_cast<unsigned>(n_.s.lanes())));
    c_.jz(partial);
    c_.align(32);
    c_.L(again);
    each(Part::full);
    c_.add(p_, n_.s.step_bytes());
    c_.dec(steps_);
    c_.jnz(again);
    c_.L(partial);
    c_.cmp(n_.slot(frame::kTailCount), 0);
    c_.jz(done);
    if (n_.s.loads_tails()) {
      each(Part::tail);
    } else {
      Gpr from(n_.a), tail(n_.a);
      c_.mov(tail, n_.slot(frame::kTailCount));
      n_.load_input_stride(*element_stride_, n_.schedule.vector_level);
      for (std::size_t set = 0; set < places.size(); ++set) {
        c_.lea(from, c_.ptr[places[set]]);
        n_.stage_tail(from, *element_stride_, tail);
        n_.s.step(static_cast<int>(set), Nest::staging(), Part::tail);
      }
    }
    c_.L(done);
  }

  void output() {
    if (n_.s.second_pass_redoes() && n_.s.has_second_pass()) {
      Label settled;
      n_.s.set_pass(Pass::first);
      take_rows();
      n_.s.jump_if_settled(settled, Part::full);
      n_.s.set_pass(Pass::second);
      take_rows();
      c_.L(settled);
      n_.s.fold();
    } else if (n_.s.has_second_pass()) {
      Label settled;
      n_.s.set_pass(Pass::first);
      fold_rows();
      n_.s.jump_if_settled(settled, Part::one);
      n_.s.set_pass(Pass::second);
      fold_rows();
      c_.L(settled);
    } else {
      fold_rows();
    }
    n_.store_one();
  }

  /// One output's rows, down to lane 0.
  void fold_rows() {
    take_rows();
    n_.s.fold();
  }

  void take_rows() {
    n_.s.init_totals();
    if (!n_.s.chained()) init_sets(n_.s, unroll_);
    n_.over(n_.other_levels(true), [this] { row(); });
    if (!n_.s.chained()) merge_sets(n_.s, unroll_);
  }

  void row() {
    c_.mov(p_, n_.in);
    n_.load_extent(steps_, n_.schedule.vector_level);
    c_.shr(steps_, std::countr_zero(static_cast<unsigned>(n_.s.lanes())));
    if (element_stride_) n_.load_input_stride(*element_stride_, n_.schedule.vector_level);
    if (n_.s.chained()) {
      take_blocks(n_, steps_, unroll_, n_.input_contiguous(), [this] { group(); });
    } else {
      groups();
    }
    rest();
  }

  void groups() {
    Gpr groups(n_.a);
    Label done;
    c_.mov(groups, steps_);
    if (unroll_ > 1) c_.shr(groups, std::countr_zero(static_cast<unsigned>(unroll_)));
    c_.and_(steps_, unroll_ - 1);
    c_.test(groups, groups);
    c_.jz(done);
    repeat_groups(n_, groups, [this] { group(); });
    c_.L(done);
  }

  /// As many steps as there are sets, at `p_`.
  void group() {
    if (!n_.input_contiguous()) return whole_step();
    std::vector<Memory> steps;
    for (int set = 0; set < unroll_; ++set) steps.push_back(p_.reg() + set * n_.s.step_bytes());
    n_.s.step_sets(steps);
    c_.add(p_, unroll_ * n_.s.step_bytes());
  }

  /// One vector step at `p_`, into set 0. Staged operands advance `p_` themselves.
  void whole_step() {
    if (n_.input_contiguous()) {
      n_.s.step(0, p_.reg(), Part::full);
      return;
    }
    Gpr lanes(n_.a);
    c_.mov(lanes.r32(), n_.s.lanes());
    n_.stage_in(p_, *element_stride_, lanes);
    c_.imul(lanes, *element_stride_, n_.s.lanes());
    c_.add(p_, lanes);
    n_.s.step(0, Nest::staging(), Part::full);
  }

  /// Fewer than `unroll` whole steps and the partial one, into set 0.
  void rest() {
    Gpr tail(n_.a);
    Label again, partial, flush, done;
    c_.mov(tail, n_.slot(frame::kTailCount));
    if (n_.s.chained()) {
      Gpr any(n_.a);
      c_.mov(any, tail);
      c_.or_(any, steps_);
      c_.jz(done);
      n_.s.init_set(0);
    }
    c_.test(steps_, steps_);
    c_.jz(partial);
    c_.L(again);
    whole_step();
    if (n_.input_contiguous()) c_.add(p_, n_.s.step_bytes());
    c_.dec(steps_);
    c_.jnz(again);
    c_.L(partial);
    c_.test(tail, tail);
    c_.jz(flush);
    if (n_.input_contiguous() && n_.s.loads_tails()) {
      n_.s.step(0, p_.reg(), Part::tail);
    } else {
      n_.stage_tail(p_, *element_stride_, tail);
      n_.s.step(0, Nest::staging(), Part::tail);
    }
    c_.L(flush);
    n_.s.flush(0);
    c_.L(done);
  }

  Nest& n_;
  Xbyak::CodeGenerator& c_;
  int unroll_;
  Gpr p_, steps_;
  std::optional<Gpr> element_stride_;
};

}  // namespace

void emit_rows(Nest& nest) { Rows(nest).emit(); }

}  // namespace tenfold::jit
