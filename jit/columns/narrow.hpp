// SPDX-License-Identifier: Apache-2.0
//
// Columns so few that they fit one vector step or little more, rows one after another in memory: most rows are taken
// with the accumulators in registers, without masks. A step reads on into the rows behind, whose elements end up in
// lanes that are no column; so the last rows are left to masked steps.
#pragma once

#include "jit/nest/nest.hpp"

namespace tenfold::jit {

/// Parts of the columns nest, for the rows of its innermost reduced level.
class NarrowColumns {
 public:
  explicit NarrowColumns(LoopNest& nest) : n_(nest), c_(nest.c), width_(nest.schedule.width) {}

  /// Chained reductions of two to four vector steps a row: as many sweeps over four streams as make whole chains, in
  /// the order of the columns nest. `first` moves to the next row of the first stream, `sweeps` becomes what is left.
  void take_sweeps(const Xbyak::Reg64& first, const Xbyak::Reg64& stream, const Xbyak::Reg64& sweeps);

  /// All but chained sums: as many rows as possible from `first` on, which moves behind them; `rows`
  /// becomes what is left.
  void take_rows(const Xbyak::Reg64& first, const Xbyak::Reg64& rows);

  /// What take_rows() needs for states in order, behind the records.
  static std::int64_t scratch_of_places(const ReduceState& state, const schedule::Schedule& schedule);

 private:
  int row_bytes() const { return width_ * n_.s.input_bytes(); }
  /// Rows that a step must have behind it, so that what it reads is there.
  int rows_behind(int rows_of_step) const;
  Memory record(int number) const { return Xbyak::util::rbp + (frame::kRecords + number * n_.s.record_bytes()); }
  void in_order(const Xbyak::Reg64& first, const Xbyak::Reg64& rows);
  using TakePass = std::function<void(Pass)>;
  void in_passes(const Xbyak::Reg64& first, const Xbyak::Reg64& rows, const TakePass& take,
                 const std::function<void(const Xbyak::Label& settled)>& ask);
  void in_any_order(const Xbyak::Reg64& first, const Xbyak::Reg64& rows);
  void steps_in_any_order(Pass pass, const Xbyak::Reg64& first, const Xbyak::Reg64& rows);
  /// For what may be taken twice: moves `first` back so that as many rows as `of_step` are left, and says that none
  /// are; jumps when that is so.
  void step_back(const Xbyak::Reg64& first, const Xbyak::Reg64& rows, int of_step, const Xbyak::Label& none);
  void fold_segments(int segments);
  void in_turn(const Xbyak::Reg64& first, const Xbyak::Reg64& rows);
  void steps_in_turn(const Xbyak::Reg64& first, const Xbyak::Reg64& rows, int of_step);
  void groups_in_turn(const Xbyak::Reg64& first, const Xbyak::Reg64& rows);
  void search_groups(const Xbyak::Reg64& rows_left);
  void fold_places(int rows);
  void in_groups(const Xbyak::Reg64& first, const Xbyak::Reg64& rows);
  void in_two_steps(const Xbyak::Reg64& first, const Xbyak::Reg64& rows);
  void pass_in_two_steps(Pass pass, const Xbyak::Reg64& first, const Xbyak::Reg64& rows);
  void each_group_record(const std::function<void(const Xbyak::Reg64&)>& body);
  /// A group of each of four streams, or `at_once` groups, one after another, as the columns nest sweeps over a tile.
  void sweep_streams(const Xbyak::Reg64& first, const Xbyak::Reg64& stream);
  void sweep(const Xbyak::Reg64& first, int at_once);
  void sweep_rows(const Xbyak::Reg64& first, const Xbyak::Reg64& p, const std::vector<Memory>& rows);
  void fold_group();
  int records_of_row() const;
  int rows_of_group() const;
  int group_bytes() const;
  Memory group_record() const;

  LoopNest& n_;
  Xbyak::CodeGenerator& c_;
  int width_;
};

/// Chained reductions of columns that fit one step: the whole nest. Not in the order of the columns nest: a step takes
/// as many rows as it has room for, a power of two, in blocks as a row of the rows nest is; then the lanes of a column
/// meet in f64, in the order of the rows.
void emit_narrow_sums(LoopNest& nest);

}  // namespace tenfold::jit
