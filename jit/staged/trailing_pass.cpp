// SPDX-License-Identifier: Apache-2.0
//
// Staged rows whose last pass trails (Schedule::trails): it only stores, and does so for a row while the pass before it
// computes the next one. Stores that wait for memory, and arithmetic that waits for ports, are then side by side, where
// one behind the other they are too far apart for a core to overlap them. What it needs of its row stays as it was: its
// pointers in a row of their own, the row's values in places of their own, kept elements in one of two places in turns.
#include <span>

#include "jit/assembler/frame.hpp"
#include "jit/lane/emit.hpp"
#include "jit/stage/side_by_side.hpp"
#include "jit/staged/rows.hpp"

namespace tenfold::jit {

using Xbyak::Label;

/// All rows; behind the last one of each run of the innermost kept level its own last pass.
void StagedRows::rows_in_turn(std::vector<int> kept) {
  const Xbyak::Address trails = c_.qword[c_.rbp + frame::kTrails];
  if (keeps_in_scratch()) {
    Gpr place(a_);
    c_.lea(place, c_.ptr[c_.rbp + kept_]);
    c_.mov(c_.qword[c_.rbp + frame::kKeptNow], place);
    c_.add(place, kept_apart_);
    c_.mov(c_.qword[c_.rbp + frame::kKeptBefore], place);
  }
  const int last = kept.back();
  kept.pop_back();
  walk_.over(kept, 0, [&](std::size_t depth) {
    c_.mov(trails, 0);
    walk_.over(std::span(&last, 1), depth, [this](std::size_t inner) { passes(inner); });
    end_trailing();
  });
}

/// The first row of a run goes alone, and so does what is computed anew about another pilot.
void StagedRows::row_beside_trailing(const StagePass& pass, std::size_t depth) {
  Label alone, done;
  const Xbyak::Address trails = c_.qword[c_.rbp + frame::kTrails];
  c_.cmp(trails, 0);
  c_.je(alone, Xbyak::CodeGenerator::T_NEAR);
  c_.mov(trails, 0);
  each_way(*trailing_pass(), [&] {
    beside_ = trailing_pass();
    row(pass, depth);
    beside_ = nullptr;
  });
  c_.jmp(done, Xbyak::CodeGenerator::T_NEAR);
  c_.L(alone);
  each_way(pass, [&] { row(pass, depth); });
  c_.L(done);
}

/// Behind a row's reductions: leaves what its last pass needs.
void StagedRows::let_trail(std::size_t depth) {
  rows(stages_.rows.back(), depth);
  for (const StagePlace& place : trailing_pass()->step.inputs) {
    if (place.kind != StagePlace::Kind::saved) continue;
    layer_->load_all(0, place.type, saved(place.index));
    store_lanes(*layer_, 0, place.type, trailing_saved(place.index));
  }
  Gpr value(a_), other(a_);
  for (std::size_t k = 0; k < walk_.count(); ++k) {
    c_.mov(value, walk_.pointer_slot(depth, k));
    c_.mov(walk_.pointer_slot(walk_.beside(1), k), value);
  }
  if (keeps_in_scratch()) {
    const Xbyak::Address now = c_.qword[c_.rbp + frame::kKeptNow], before = c_.qword[c_.rbp + frame::kKeptBefore];
    c_.mov(value, now);
    c_.mov(other, before);
    c_.mov(now, other);
    c_.mov(before, value);
  }
  c_.mov(c_.qword[c_.rbp + frame::kTrails], 1);
}

void StagedRows::end_trailing() {
  Label none;
  c_.cmp(c_.qword[c_.rbp + frame::kTrails], 0);
  c_.je(none, Xbyak::CodeGenerator::T_NEAR);
  each_way(*trailing_pass(), [this] { row(*trailing_pass(), walk_.beside(1)); });
  c_.L(none);
}

/// The last pass by itself is of a row whose place is the one before.
void StagedRows::take_kept_places(const StagePass& pass) {
  if (trailing_pass() == nullptr || !keeps_in_scratch()) return;
  const bool is_last = &pass == trailing_pass();
  c_.mov(kept_now_.emplace(a_), c_.qword[c_.rbp + (is_last ? frame::kKeptBefore : frame::kKeptNow)]);
  if (beside_ != nullptr) c_.mov(kept_before_.emplace(a_), c_.qword[c_.rbp + frame::kKeptBefore]);
}

void StagedRows::trail(const RowRun& run, Part part, int sets) {
  if (beside_ == nullptr) return;
  const StagePass& last = *beside_;
  const auto at = [&](int which) {
    return OperandWalk::At{walk_.beside(1), run.index, part,    tail_count(),
                           which * lanes_,  true,      around_, schedule_.claim};
  };
  if (sets > 1) {
    const StageProgram both = joined_steps(last.step);
    if (vectors_needed(both.lanes, std::vector<bool>(both.inputs.size(), false)) <= vectors_of(run.pass).free()) {
      for (int which = 0; which < sets; which += 2) trailing_step(run.pass, both, at(which));
      return;
    }
  }
  const StageProgram& program = part == Part::tail ? last.tail : last.step;
  for (int which = 0; which < sets; ++which) trailing_step(run.pass, program, at(which));
}

/// With all it reads in memory, in the vectors that the other pass has for its own steps.
void StagedRows::trailing_step(const StagePass& pass, const StageProgram& program, const OperandWalk::At& at) {
  const auto here = [&](const StagePlace& place) {
    OperandWalk::At moved = at;
    moved.offset += place.step * lanes_;
    return moved;
  };
  run(
      program, *layer_,
      [&](const StagePlace& place, Vec d) {
        const OperandWalk::At from = here(place);
        switch (place.kind) {
          case StagePlace::Kind::operand:
            access_.load(*layer_, static_cast<std::size_t>(place.index), d, from, place.type);
            break;
          case StagePlace::Kind::mask: load_mask(*layer_, d, place.type); break;
          case StagePlace::Kind::kept:
            load_lanes(*layer_, d, place.type,
                       kept_before_->reg() + from.index * kKeptBytes + from.offset * kKeptBytes);
            break;
          default: load_lanes(*layer_, d, place.type, trailing_saved(place.index)); break;
        }
      },
      [&](const StagePlace& place, Vec s) {
        const auto k = static_cast<std::size_t>(place.index);
        if (place.kind == StagePlace::Kind::joined) {
          access_.store_joined(*layer_, k, s, here(place));
        } else {
          access_.store(*layer_, k, s, here(place));
        }
      },
      [](const StagePlace&) { return -1; }, vectors_of(pass).free());
}

}  // namespace tenfold::jit
