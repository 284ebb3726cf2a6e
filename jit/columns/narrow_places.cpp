// SPDX-License-Identifier: Apache-2.0
//
// Narrow columns where elements come in their order: arg-reductions. A step, or a group of rows as in
// narrow_groups.cpp, takes several whole rows, whose columns are reduced as if they were that many outputs: each lane
// keeps its extreme and the number of the step, or group. At the end the lanes that are one column meet
// (state/places.hpp), with the rows' numbers for indices.

#include <bit>

#include "jit/columns/narrow.hpp"
#include "jit/columns/next_block.hpp"
#include "jit/columns/row_search.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Label;
using Xbyak::Reg64;

/// Steps from one look for NaNs to the next, so that what is taken again is in L2 still; fewer than make a chain.
constexpr int kStepsOfRun = 1024;
constexpr int kUnroll = 4;
/// Groups that are searched: where the first one is, and rows from there on.
constexpr int kGroups = frame::kStreamOutput, kRows = frame::kStreamRows;

}  // namespace

std::int64_t NarrowColumns::scratch_of_places(const ReduceState& state, const schedule::Schedule& schedule) {
  const PlaceRule rule = state.roles().row_numbers->place_rule();
  const std::int64_t record = state.lanes() * rule.lane_bits / 8;
  return rule.planes() * (schedule.columns / state.lanes() + 1 + schedule.width / state.lanes() + 1) * record;
}

void NarrowColumns::in_turn(const Reg64& first, const Reg64& rows) {
  const bool groups = n_.schedule.columns > n_.s.lanes();
  const int of_step = groups ? rows_of_group() : n_.s.lanes() / width_;
  Label none;
  c_.cmp(rows, of_step + (groups ? 0 : rows_behind(of_step)));
  c_.jb(none, Xbyak::CodeGenerator::T_NEAR);
  if (groups) {
    groups_in_turn(first, rows);
  } else {
    steps_in_turn(first, rows, of_step);
  }
  fold_places(of_step);
  c_.L(none);
  n_.s.roles().row_numbers->number_rows(of_step);
}

void NarrowColumns::steps_in_turn(const Reg64& first, const Reg64& rows, int of_step) {
  const int run = (n_.s.chained() ? std::min(n_.s.traits().chain, kStepsOfRun) : kStepsOfRun) - kUnroll;
  const int behind = rows_behind(of_step);
  Gpr p(n_.a), left(n_.a), enough(n_.a);
  Label again;
  n_.s.roles().row_numbers->number_steps();
  n_.s.init_record(group_record());
  c_.L(again);
  n_.s.load_set(group_record());
  // A run ends where fewer rows are left than this.
  c_.lea(enough, c_.ptr[rows - (run - kUnroll) * of_step]);
  c_.mov(left.r32(), kUnroll * of_step + behind);
  c_.cmp(rows, run * of_step + behind);
  c_.cmovb(enough, left);
  const auto take = [&](Pass pass) {
    Label unrolled, one, taken;
    n_.s.set_pass(pass);
    c_.mov(p, first);
    c_.mov(left, rows);
    c_.cmp(left, enough);
    c_.jb(one, Xbyak::CodeGenerator::T_NEAR);
    align_loop(c_);
    c_.L(unrolled);
    for (int step = 0; step < kUnroll; ++step) n_.s.step(0, p.reg() + step * of_step * row_bytes(), Part::full);
    ask_next_block(n_, p.reg(), kUnroll * of_step * row_bytes());
    c_.add(p, kUnroll * of_step * row_bytes());
    c_.sub(left, kUnroll * of_step);
    c_.cmp(left, enough);
    c_.jae(unrolled, Xbyak::CodeGenerator::T_NEAR);
    c_.cmp(left, kUnroll * of_step + behind);
    c_.jae(taken, Xbyak::CodeGenerator::T_NEAR);
    c_.L(one);
    c_.cmp(left, of_step + behind);
    c_.jb(taken, Xbyak::CodeGenerator::T_NEAR);
    n_.s.step(0, p.reg(), Part::full);
    c_.add(p, of_step * row_bytes());
    c_.sub(left, of_step);
    c_.jmp(one, Xbyak::CodeGenerator::T_NEAR);
    c_.L(taken);
  };
  if (n_.s.traits().has_second_pass) {
    Label clean;
    n_.s.roles().sweep_passes->start_sweep();
    take(Pass::first);
    n_.s.roles().sweep_passes->jump_if_clean(clean);
    n_.s.load_set(group_record());
    take(Pass::again);
    c_.L(clean);
    n_.s.set_pass(Pass::whole);
  } else {
    take(Pass::whole);
  }
  n_.s.store_set(group_record());
  n_.s.flush_record(group_record());
  c_.mov(first, p);
  c_.mov(rows, left);
  c_.cmp(rows, of_step + behind);
  c_.jae(again, Xbyak::CodeGenerator::T_NEAR);
}

void NarrowColumns::groups_in_turn(const Reg64& first, const Reg64& rows) {
  each_group_record([this](const Reg64& at) { n_.s.init_record(at); });
  if (n_.schedule.searches) {
    c_.mov(n_.slot(kGroups), first);
    c_.mov(n_.slot(kRows), rows);
  }
  const auto flush = [&] {
    if (n_.s.chained()) each_group_record([this](const Reg64& at) { n_.s.flush_record(at); });
  };
  for (const int at_once : {n_.schedule.rows_at_once, 1}) {
    Label chain, again, ended;
    c_.L(chain);
    if (n_.s.chained()) c_.mov(n_.slot(frame::kChainLeft), n_.s.traits().chain / at_once);
    c_.L(again);
    c_.cmp(rows, at_once * rows_of_group());
    c_.jb(ended, Xbyak::CodeGenerator::T_NEAR);
    sweep(first, at_once);
    n_.s.roles().row_numbers->next_rows(at_once);
    c_.add(first, at_once * group_bytes());
    c_.sub(rows, at_once * rows_of_group());
    if (n_.s.chained()) {
      c_.dec(n_.slot(frame::kChainLeft));
      c_.jnz(again, Xbyak::CodeGenerator::T_NEAR);
      flush();
      c_.jmp(chain, Xbyak::CodeGenerator::T_NEAR);
    } else {
      c_.jmp(again, Xbyak::CodeGenerator::T_NEAR);
    }
    c_.L(ended);
    flush();
  }
  if (n_.schedule.searches) search_groups(rows);
}

void NarrowColumns::search_groups(const Reg64& rows_left) {
  Gpr columns(n_.a);
  RowSearcher search(n_);
  {
    Gpr groups(n_.a), stride(n_.a);
    c_.mov(stride.r32(), group_bytes());
    c_.mov(columns, n_.slot(kGroups));
    c_.mov(groups, n_.slot(kRows));
    c_.sub(groups, rows_left);
    c_.shr(groups, std::countr_zero(static_cast<unsigned>(rows_of_group())));
    search.begin(groups, stride);
  }
  each_group_record([&](const Reg64& at) { search.record(at, columns, Part::full); });
  search.end();
}

/// The lanes that are one column, from the records of the group to those of the row.
void NarrowColumns::fold_places(int rows) {
  const PlaceRule rule = n_.s.roles().row_numbers->place_rule();
  const int record_bytes = n_.s.lanes() * rule.lane_bits / 8;
  const int group_plane = (static_cast<int>(n_.schedule.columns) / n_.s.lanes() + 1) * record_bytes;
  const int plane_bytes = group_plane + (width_ / n_.s.lanes() + 1) * record_bytes;
  const int start = frame::kRecords + static_cast<int>(n_.s.traits().record_planes * n_.s.plane_bytes());
  const Places group{Xbyak::util::rbp + start, plane_bytes};
  const Places row{Xbyak::util::rbp + (start + group_plane), plane_bytes};
  {
    Gpr to(n_.a);
    c_.lea(to, c_.ptr[group.first]);
    each_group_record([&](const Reg64& at) {
      n_.s.roles().row_numbers->lay_places(at, {to.reg(), plane_bytes});
      c_.add(to, record_bytes);
    });
  }
  emit_place_fold(n_.v, rule, width_, rows, group, row);
  for (int at = 0; at < records_of_row(); ++at)
    n_.s.roles().row_numbers->take_places(record(at), {row.first + at * record_bytes, plane_bytes});
}

}  // namespace tenfold::jit
