// SPDX-License-Identifier: Apache-2.0
//
// Staged rows: lanes run along a reduced level. For each output, each pass walks the reduced levels; a run of the
// vector level is cut into blocks of at most kChain steps for each of a few sets, which are flushed into totals after
// each block; what is left goes to set 0. At last the lanes of a total fold to one. The passes over short rows take a
// few of them in turns.
#include "jit/staged/rows.hpp"

#include <algorithm>
#include <bit>

#include "jit/assembler/frame.hpp"
#include "jit/stage/side_by_side.hpp"
#include "jit/staged/next_rows.hpp"
#include "schedule/body.hpp"

namespace tenfold::jit {

using Xbyak::Label;
using Xbyak::Reg64;

namespace {

constexpr int kHalfPage = 2048;

/// Sets of a pass that may have any number of them. What comes from far away is no sooner there: softmax of f32 [4096,
/// 1024] takes 1.40 ms with four, 1.37 with two.
int most_sets(const schedule::Schedule& schedule) {
  constexpr int kMostSets = 4;
  return schedule.unroll == 1 || schedule.ahead ? schedule.unroll : kMostSets;
}

}  // namespace

StagedRows::StagedRows(Assembler& assembler, const Stages& stages, const kernel::KernelSpec& spec,
                       const schedule::Schedule& schedule)
    : StagedKernel(assembler, stages, spec, schedule), most_sets_(most_sets(schedule)) {
  plan_vectors(schedule.unroll, most_sets_, total_parts());
  const auto reductions = static_cast<int>(stages.reductions.size());
  saved_ = places_;
  totals_ = saved_ + static_cast<int>(stages.saved.size()) * kPlaceBytes;
  set_places_ = totals_ + reductions * kPlaceBytes;
  trailing_saved_ = set_places_ + reductions * most_sets_ * kPlaceBytes;
  const bool trails = trailing_pass() != nullptr;
  kept_ = trailing_saved_ + (trails ? static_cast<int>(stages.saved.size()) * kPlaceBytes : 0);
  // A partial step writes a whole vector.
  const int kept_bytes = keeps_in_scratch() ? static_cast<int>(schedule.keep * kKeptBytes) : 0;
  // Half a page from a whole number of pages: a load waits for a store before it whose address ends alike.
  kept_apart_ = (kept_bytes + kPlaceBytes + kHalfPage) / (2 * kHalfPage) * 2 * kHalfPage + kHalfPage;
  frame_bytes_ = kept_ + kept_bytes + kPlaceBytes + (trails && kept_bytes > 0 ? kept_apart_ : 0);
  spill_ = group_rows() * frame_bytes_;
}

std::int64_t StagedRows::emit() {
  start(group_rows(), frame_bytes_);
  std::vector<int> kept = levels(false);
  if (trailing_pass() != nullptr) {
    rows_in_turn(std::move(kept));
  } else if (schedule_.runs) {
    const int last = kept.back();
    kept.pop_back();
    walk_.over(kept, 0,
               [&](std::size_t depth) { walk_.over_runs(last, depth, [this](std::size_t inner) { passes(inner); }); });
  } else if (group_rows() == 1) {
    walk_.over(kept, 0, [this](std::size_t depth) { passes(depth); });
  } else {
    const int last = kept.back();
    kept.pop_back();
    walk_.over(kept, 0, [&](std::size_t depth) {
      walk_.over_groups(last, depth, group_rows(), frame_bytes_, [this](std::size_t inner) { passes(inner); });
    });
  }
  return end() + (group_rows() - 1) * frame_bytes_;
}

/// Each pass takes the rows of a group in turns, so that the end of one row hides behind the next one's elements.
void StagedRows::passes(std::size_t depth) {
  const std::vector<int> reduced = levels(true);
  const std::size_t count = stages_.passes.size() - (trailing_pass() != nullptr ? 1 : 0);
  for (std::size_t pass = 0; pass < count; ++pass) {
    const StagePass& of = stages_.passes[pass];
    const StageProgram& ends = stages_.rows[pass + 1];
    const bool at_once = take_one_program(ends);
    if (pass == 0 && !stages_.rows[0].results.empty()) each_row([&] { rows(stages_.rows[0], depth); });
    if (!of.pilot.results.empty()) each_row([&] { pilot(of, depth); });
    each_row([&] {
      Label again;
      if (!of.drift.results.empty()) c_.mov(c_.qword[c_.rbp + frame::kPilotMoved], 0);
      c_.L(again);
      for (const int r : of.reductions) init_total(of, r);
      if (&of + 1 == trailing_pass()) {
        row_beside_trailing(of, depth);
      } else {
        each_way(of, [&] { walk_.over(reduced, depth, [&](std::size_t inner) { row(of, inner); }); });
      }
      for (const int r : of.reductions) fold(of, r);
      if (!of.drift.results.empty()) move_pilot(of, depth, again);
      if (!of.second_look.empty()) look_again(of, of.second_look[0], depth);
      if (!at_once) rows(ends, depth, &of);
    });
    if (at_once) rows_of_group(ends, depth);
  }
  if (trailing_pass() != nullptr) let_trail(depth);
}

/// Where the row's pilot was far from its mean, the pass `again` about that; once, as the mean may lie between two
/// numbers.
void StagedRows::move_pilot(const StagePass& pass, std::size_t depth, const Label& again) {
  Label settled;
  c_.cmp(c_.qword[c_.rbp + frame::kPilotMoved], 0);
  c_.jnz(settled, Xbyak::CodeGenerator::T_NEAR);
  rows(pass.drift, depth, &pass);
  c_.cmp(c_.dword[c_.rbp + frame::kStaging], 0);
  c_.jz(settled, Xbyak::CodeGenerator::T_NEAR);
  rows(pass.move_pilot, depth, &pass);
  c_.mov(c_.qword[c_.rbp + frame::kPilotMoved], 1);
  c_.jmp(again, Xbyak::CodeGenerator::T_NEAR);
  c_.L(settled);
}

/// For a row that the pass leaves open. Its own totals are in memory as well.
void StagedRows::look_again(const StagePass& pass, const StagePass& again, std::size_t depth) {
  Label settled;
  rows(pass.question, depth, &pass);
  c_.cmp(c_.dword[c_.rbp + frame::kStaging], 0);
  c_.jz(settled, Xbyak::CodeGenerator::T_NEAR);
  for (const int r : again.reductions) init_total(again, r);
  walk_.over(levels(true), depth, [&](std::size_t inner) { row(again, inner); });
  for (const int r : again.reductions) fold(again, r);
  for (const int r : pass.reductions)
    if (const Vec home = vectors_of(pass).total(r, 0); home >= 0)
      load_lanes(layer_for(reduction(r).fold), home, reduction(r).total_type, total(r));
  c_.L(settled);
}

void StagedRows::each_row(const std::function<void()>& body) {
  if (group_rows() == 1) {
    body();
  } else {
    walk_.each_of_group(frame_bytes_, body);
  }
}

std::vector<int> StagedRows::among(const StagePass& pass, Which which) const {
  std::vector<int> found;
  for (const int r : pass.reductions)
    if (reduction(r).is_chained() == (which == Which::chained)) found.push_back(r);
  return found;
}

/// One run of the vector level.
void StagedRows::row(const StagePass& pass, std::size_t depth) {
  RowRun run{pass,    depth,  vectors_of(pass).sets(), among(pass, Which::chained), among(pass, Which::others),
             Gpr(a_), Gpr(a_)};
  const OperandWalk::KeptPointers pointers(walk_, depth);
  take_kept_places(pass);
  for (const int slot : vectors_of(pass).saved_slots())
    layer_->load_all(vectors_of(pass).saved(slot), stages_.saved[static_cast<std::size_t>(slot)], saved(slot));
  layer_->hold(vectors_of(pass).constants(), vectors_of(pass).free());
  init_sets(pass, run.others, run.sets);
  whole_blocks(run);
  rest_of_row(run);
  flush_sets(pass, run.others, run.sets);
  layer_->hold({}, 0);
  kept_now_.reset();
  kept_before_.reset();
}

OperandWalk::At StagedRows::at(const RowRun& run, Part part, int offset) {
  return {run.depth, run.index, part, tail_count(), offset, true, around_, schedule_.claim};
}

/// Groups of a step for each set, until fewer steps are left, in chains.
void StagedRows::whole_blocks(RowRun& run) {
  const StagePass& pass = run.pass;
  Label block, again, done;
  NextRows next(a_, walk_, stages_, schedule_, pass);
  next.start(run.depth);
  c_.xor_(run.index.r32(), run.index.r32());
  walk_.load_vector_extent(run.left);
  c_.shr(run.left, std::countr_zero(static_cast<unsigned>(lanes_)));
  c_.mov(c_.qword[steps_left()], run.left);
  c_.L(block);
  c_.mov(run.left, c_.qword[steps_left()]);
  c_.shr(run.left, std::countr_zero(static_cast<unsigned>(run.sets)));
  c_.test(run.left, run.left);  // a shift by 0 keeps the flags
  c_.jz(done, Xbyak::CodeGenerator::T_NEAR);
  take_groups(run.left, run.sets, !run.chained.empty());
  init_sets(pass, run.chained, run.sets);
  next.load_distances();
  align_loop(c_);
  c_.L(again);
  next.ask(at(run, Part::full), run.sets * lanes_);
  const std::optional<StageProgram> two = two_steps(pass);
  for (int which = 0; which < run.sets; which += two ? 2 : 1)
    step(pass, two ? *two : pass.step, at(run, Part::full, which * lanes_), which);
  trail(run, Part::full, run.sets);
  c_.add(run.index, run.sets * lanes_);
  c_.dec(run.left);
  c_.jnz(again, Xbyak::CodeGenerator::T_NEAR);
  flush_sets(pass, run.chained, run.sets);
  c_.jmp(block, Xbyak::CodeGenerator::T_NEAR);
  c_.L(done);
}

/// The steps that are left, and the partial one, into set 0.
void StagedRows::rest_of_row(RowRun& run) {
  const StagePass& pass = run.pass;
  Label tail, flush, flushed;
  c_.mov(run.left, c_.qword[steps_left()]);
  if (!run.chained.empty()) {
    Gpr some(a_);
    c_.mov(some, run.left);
    c_.or_(some, c_.qword[tail_count()]);
    c_.jz(flushed, Xbyak::CodeGenerator::T_NEAR);
  }
  init_sets(pass, run.chained, 1);
  if (run.sets > 1) {
    Label single;
    c_.test(run.left, run.left);
    c_.jz(tail, Xbyak::CodeGenerator::T_NEAR);
    c_.L(single);
    step(pass, pass.step, at(run, Part::full), 0);
    trail(run, Part::full, 1);
    c_.add(run.index, lanes_);
    c_.dec(run.left);
    c_.jnz(single, Xbyak::CodeGenerator::T_NEAR);
  }
  c_.L(tail);
  c_.cmp(c_.qword[tail_count()], 0);
  c_.jz(flush, Xbyak::CodeGenerator::T_NEAR);
  step(pass, pass.tail, at(run, Part::tail), 0);
  trail(run, Part::tail, 1);
  c_.L(flush);
  flush_sets(pass, run.chained, 1);
  c_.L(flushed);
}

/// Side by side, rounded together where the machine does that; nothing where there is one set, or no room.
std::optional<StageProgram> StagedRows::two_steps(const StagePass& pass) const {
  if (vectors_of(pass).sets() == 1) return std::nullopt;
  StageProgram both = joined_steps(pass.step);
  if (!vectors_of(pass).has_room_for(both)) return std::nullopt;
  return both;
}

StageProgram StagedRows::joined_steps(const StageProgram& step) const {
  return with_joined_results(
      side_by_side(step), [this](int k) { return access_.joins(*layer_, static_cast<std::size_t>(k)); },
      [this](int k) { return access_.is_bf16(static_cast<std::size_t>(k)); });
}

/// At most kChain of the `groups` of `sets` steps that are left, or all.
void StagedRows::take_groups(const Reg64& groups, int sets, bool chained) {
  Gpr most(a_);
  if (chained) {
    c_.mov(most.r32(), schedule::kChain);
    c_.cmp(groups, most);
    c_.cmova(groups, most);
  }
  c_.mov(most, groups);
  c_.shl(most, std::countr_zero(static_cast<unsigned>(sets)));
  c_.sub(c_.qword[steps_left()], most);
}

void StagedRows::step(const StagePass& pass, const StageProgram& program, const OperandWalk::At& at, int which) {
  const PassVectors& vectors = vectors_of(pass);
  const auto here = [&](const StagePlace& place) {
    OperandWalk::At moved = at;
    moved.offset += place.step * lanes_;
    return moved;
  };
  if (reads_numbers(program)) c_.mov(c_.dword[first_number()], at.index.cvt32());
  run(
      program, *layer_,
      [&](const StagePlace& place, Vec d) {
        switch (place.kind) {
          case StagePlace::Kind::operand:
            access_.load(*layer_, static_cast<std::size_t>(place.index), d, here(place), place.type);
            break;
          case StagePlace::Kind::set: load_lanes(*layer_, d, place.type, set(place.index, which + place.step)); break;
          case StagePlace::Kind::mask: load_mask(*layer_, d, place.type); break;
          case StagePlace::Kind::kept: load_lanes(*layer_, d, place.type, kept(here(place))); break;
          case StagePlace::Kind::number: layer_->number(d, first_number(), here(place).offset); break;
          default: layer_->load_all(d, place.type, saved(place.index)); break;
        }
      },
      [&](const StagePlace& place, Vec s) {
        if (place.kind == StagePlace::Kind::set) {
          store_lanes(*layer_, s, place.type, set(place.index, which + place.step));
        } else if (place.kind == StagePlace::Kind::kept) {
          store_lanes(*layer_, s, place.type, kept(here(place)));
        } else if (place.kind == StagePlace::Kind::joined) {
          access_.store_joined(*layer_, static_cast<std::size_t>(place.index), s, here(place));
        } else {
          access_.store(*layer_, static_cast<std::size_t>(place.index), s, here(place));
        }
      },
      [&](const StagePlace& place) {
        if (place.kind == StagePlace::Kind::set) return vectors.set(place.index, which + place.step);
        return place.kind == StagePlace::Kind::saved ? vectors.saved(place.index) : -1;
      },
      vectors.free());
}

std::int64_t emit_staged_rows(Assembler& assembler, const Stages& stages, const kernel::KernelSpec& spec,
                              const schedule::Schedule& schedule) {
  return StagedRows(assembler, stages, spec, schedule).emit();
}

}  // namespace tenfold::jit
