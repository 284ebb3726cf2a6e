// SPDX-License-Identifier: Apache-2.0
#include "jit/rows/rows.hpp"

#include <bit>

#include "jit/nest/blocks.hpp"

namespace tenfold::jit {

using Xbyak::Label;
using Xbyak::Reg64;

namespace {

/// What the schedule has come in turns, and runs of one row where the state has no sets that these could share.
bool visits_streams(const LoopNest& nest) {
  return nest.schedule.ahead || (nest.schedule.rows_at_once > 1 && nest.s.traits().free_sets == 0);
}

}  // namespace

Rows::Rows(LoopNest& nest)
    : n_(nest),
      c_(nest.c),
      unroll_(nest.input_contiguous() ? nest.schedule.unroll : 1),
      p_(nest.a),
      steps_(nest.a),
      visits_(visits_streams(nest)) {
  if (!n_.input_contiguous()) element_stride_.emplace(nest.a);
  n_.s.read_by(p_);
  GroupSearch* const search = n_.s.roles().group_search;
  looks_ = search != nullptr && n_.input_contiguous() && search->remember_groups(unroll_);
}

void Rows::emit() {
  const std::vector<int> kept = n_.other_levels(false);
  if (n_.s.roles().sign_passes != nullptr) n_.s.roles().sign_passes->start_signs();
  if (n_.schedule.rows_at_once > 1 && !kept.empty()) return in_streams(kept.front());
  if (n_.schedule.turns > 0) return in_turns();
  if (n_.s.is_sum() && kept.size() == 1) return in_batches(kept.front());
  n_.over(kept, [this] { output([this] { take_rows(); }); });
}

void Rows::output(const std::function<void()>& take) {
  const bool by_sign = n_.s.roles().sign_passes != nullptr, two_passes = n_.s.traits().has_second_pass && !by_sign,
             redoes = n_.s.traits().second_pass_redoes;
  if (two_passes) n_.s.set_pass(Pass::first);
  by_sign ? take_by_sign(take) : take();
  if (two_passes && redoes) {
    Label settled;
    n_.s.jump_if_settled(settled, Part::full);
    n_.s.set_pass(Pass::second);
    take_rows();
    c_.L(settled);
  }
  n_.s.fold();
  if (two_passes && !redoes) look_again();
  if (looks_) {
    Gpr whole(n_.a);
    n_.load_extent(whole, n_.schedule.vector_level);
    c_.and_(whole, -n_.s.lanes());
    n_.s.roles().group_search->look(n_.in, whole);
  }
  n_.store_one();
}

/// The sign that has settled the last row goes first.
void Rows::take_by_sign(const std::function<void()>& take) {
  Label own, other, settled, second;
  n_.s.roles().sign_passes->jump_if_other_sign(other);
  c_.L(own);
  n_.s.set_pass(Pass::first);
  take();
  n_.s.roles().sign_passes->jump_by_sign(settled, other, second);
  c_.L(other);
  n_.s.set_pass(Pass::other);
  take();
  n_.s.roles().sign_passes->jump_by_sign(settled, own, second);
  c_.L(second);
  n_.s.set_pass(Pass::second);
  take();
  c_.L(settled);
}

void Rows::look_again() {
  Label settled;
  n_.s.jump_if_settled(settled, Part::one);
  n_.s.set_pass(Pass::second);
  take_rows();
  n_.s.fold();
  c_.L(settled);
}

void Rows::take_rows() {
  n_.s.init_totals();
  if (!n_.s.chained()) init_sets(n_.s, unroll_);
  n_.over(n_.other_levels(true), [this] { row(); });
  if (!n_.s.chained()) merge_sets(n_.s, unroll_);
}

void Rows::row() {
  c_.mov(p_, n_.in);
  n_.load_extent(steps_, n_.schedule.vector_level);
  c_.shr(steps_, std::countr_zero(static_cast<unsigned>(n_.s.lanes())));
  if (element_stride_) n_.load_input_stride(*element_stride_, n_.schedule.vector_level);
  if (n_.schedule.rows_at_once > 1 && n_.spec.levels.size() == 1) visits_ ? runs_in_visits() : in_runs();
  along();
}

void Rows::along() {
  if (n_.s.chained()) {
    take_blocks(n_, steps_, unroll_, n_.input_contiguous(), [this] { group(); });
  } else {
    groups();
  }
  rest();
}

void Rows::groups() {
  Gpr groups(n_.a);
  Label done;
  c_.mov(groups, steps_);
  if (unroll_ > 1) c_.shr(groups, std::countr_zero(static_cast<unsigned>(unroll_)));
  c_.and_(steps_, unroll_ - 1);
  const bool by_two = n_.input_contiguous() && n_.s.gains_by_two_groups();
  if (by_two) {
    Label even;
    c_.shr(groups, 1);
    c_.jnc(even);
    group();
    c_.L(even);
  }
  c_.test(groups, groups);
  c_.jz(done);
  repeat_groups(n_, groups, [this, by_two] {
    group();
    if (by_two) group();
  });
  c_.L(done);
}

/// As many steps as there are sets, at `p_`.
void Rows::group() {
  if (!n_.input_contiguous()) return whole_step();
  std::vector<Memory> steps;
  steps.reserve(static_cast<std::size_t>(unroll_));
  for (int set = 0; set < unroll_; ++set) steps.push_back(p_.reg() + set * n_.s.step_bytes());
  n_.s.step_sets(steps);
  c_.add(p_, unroll_ * n_.s.step_bytes());
}

/// One vector step at `p_`, into set 0. Staged operands advance `p_` themselves.
void Rows::whole_step() {
  if (n_.input_contiguous()) {
    n_.s.step(0, p_.reg(), Part::full);
    return;
  }
  n_.stage_step(p_, *element_stride_);
  if (const int gap = n_.input_gap(); gap > 0) {
    c_.add(p_, gap * n_.s.step_bytes());
  } else {
    Gpr bytes(n_.a);
    c_.imul(bytes, *element_stride_, n_.s.lanes());
    c_.add(p_, bytes);
  }
  n_.s.step(0, LoopNest::staging(), Part::full);
}

/// Fewer than `unroll` whole steps and the partial one, into set 0.
void Rows::rest() {
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
  partial_step(tail, {p_.reg()});
  c_.L(flush);
  n_.s.flush(0);
  c_.L(done);
}

/// The partial step of `tail` elements at `places`, each a distance from `p_`, into as many sets. Where elements may be
/// taken twice and the row has a whole step, the last whole one that the row has room for will do.
void Rows::partial_step(const Reg64& tail, const std::vector<Memory>& places) {
  const auto each = [&](Part part) {
    for (std::size_t set = 0; set < places.size(); ++set) n_.s.step(static_cast<int>(set), places[set], part);
  };
  Label few, done;
  if (n_.input_contiguous() && n_.s.traits().takes_twice) {
    Gpr extent(n_.a);
    n_.load_extent(extent, n_.schedule.vector_level);
    c_.cmp(extent, n_.s.lanes());
    c_.jb(few);
    c_.lea(p_, c_.ptr[p_.reg() + tail * n_.s.input_bytes() - n_.s.step_bytes()]);
    each(Part::full);
    c_.jmp(done);
    c_.L(few);
  }
  if (n_.input_contiguous()) {
    each(Part::tail);
  } else {
    Gpr from(n_.a);
    for (std::size_t set = 0; set < places.size(); ++set) {
      c_.lea(from, c_.ptr[places[set]]);
      n_.stage_in(from, *element_stride_, tail);
      n_.s.step(static_cast<int>(set), LoopNest::staging(), Part::tail);
    }
  }
  c_.L(done);
}

void emit_rows(LoopNest& nest) { Rows(nest).emit(); }

}  // namespace tenfold::jit
