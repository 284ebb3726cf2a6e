// SPDX-License-Identifier: Apache-2.0
//
// The emitter of staged rows: rows.cpp has its loops, row_ends.cpp what comes at their ends.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "jit/assembler/frame.hpp"
#include "jit/staged/staged.hpp"

namespace tenfold::jit {

class StagedRows final : StagedKernel {
 public:
  StagedRows(Assembler& assembler, const Stages& stages, const kernel::KernelSpec& spec,
             const schedule::Schedule& schedule);
  std::int64_t emit();

 private:
  // Scratch.
  const StageReduction& reduction(int r) const { return stages_.reductions[static_cast<std::size_t>(r)]; }
  Memory saved(int slot) const { return c_.rbp + (saved_ + slot * kPlaceBytes); }
  Memory total(int r) const { return c_.rbp + (totals_ + r * kPlaceBytes); }
  Memory set(int r, int which) const { return c_.rbp + (set_places_ + (r * most_sets_ + which) * kPlaceBytes); }
  /// Of this row; where the last pass trails there are two such places, in turns.
  Memory kept(const OperandWalk::At& at) const {
    if (kept_now_) return kept_now_->reg() + at.index * kKeptBytes + at.offset * kKeptBytes;
    return c_.rbp + at.index * kKeptBytes + (kept_ + at.offset * kKeptBytes);
  }
  int total_parts() const { return lanes_ / narrow_layer_->lanes(); }
  Memory steps_left() const { return c_.rbp + frame::kStepsLeft; }
  /// That of the first element of a step.
  Memory first_number() const { return c_.rbp + frame::kRows; }
  int group_rows() const { return schedule_.rows_at_once; }

  // Loops.
  void passes(std::size_t depth);
  void move_pilot(const StagePass& pass, std::size_t depth, const Xbyak::Label& again);
  void look_again(const StagePass& pass, const StagePass& again, std::size_t depth);
  void each_row(const std::function<void()>& body);
  /// One run of the vector level, in a pass.
  struct RowRun {
    const StagePass& pass;
    std::size_t depth;
    int sets;
    std::vector<int> chained, others;  ///< the pass' reductions
    Gpr index, left;                   ///< the next element, and how many steps there still are
  };
  void row(const StagePass& pass, std::size_t depth);
  void whole_blocks(RowRun& run);
  void rest_of_row(RowRun& run);
  OperandWalk::At at(const RowRun& run, Part part, int offset = 0);
  enum class Which { chained, others };
  std::vector<int> among(const StagePass& pass, Which which) const;
  std::optional<StageProgram> two_steps(const StagePass& pass) const;
  StageProgram joined_steps(const StageProgram& step) const;
  void take_groups(const Xbyak::Reg64& groups, int sets, bool chained);
  void step(const StagePass& pass, const StageProgram& program, const OperandWalk::At& at, int which);

  // The last pass, if it trails (trailing_pass.cpp).
  void rows_in_turn(std::vector<int> kept);
  void row_beside_trailing(const StagePass& pass, std::size_t depth);
  void let_trail(std::size_t depth);
  void end_trailing();
  /// What the last pass does of the row before, where steps of as many sets have been.
  void trail(const RowRun& run, Part part, int sets);
  void trailing_step(const StagePass& pass, const StageProgram& program, const OperandWalk::At& at);
  void take_kept_places(const StagePass& pass);
  Memory trailing_saved(int slot) const { return c_.rbp + (trailing_saved_ + slot * kPlaceBytes); }
  bool keeps_in_scratch() const { return stages_.kept.node >= 0 && stages_.kept.output == KeptValue::kInScratch; }

  // Ends.
  void init_total(const StagePass& pass, int r);
  void init_sets(const StagePass& pass, const std::vector<int>& reductions, int sets);
  void rows(const StageProgram& program, std::size_t depth, const StagePass* after = nullptr);
  /// Whether one program may be run for all rows of a group, each in a lane: there are four, and it reads no operand.
  bool take_one_program(const StageProgram& program) const;
  /// That program, of the rows' totals; its results go to each row's frame, and to outputs.
  void rows_of_group(const StageProgram& program, std::size_t depth);
  void pilot(const StagePass& pass, std::size_t depth);
  void flush_sets(const StagePass& pass, const std::vector<int>& reductions, int sets);
  void flush_set(const StagePass& pass, int r, int which, int lane, Vec into);
  void fold(const StagePass& pass, int r);

  int most_sets_;        ///< of any pass
  int frame_bytes_ = 0;  ///< scratch of a row
  int saved_ = 0, totals_ = 0, set_places_ = 0, trailing_saved_ = 0, kept_ = 0;
  int kept_apart_ = 0;                         ///< from one of two places of kept elements to the other
  std::optional<Gpr> kept_now_, kept_before_;  ///< those, of the row whose loops are emitted
  const StagePass* beside_ = nullptr;          ///< the trailing pass, where steps of another one take it along
};

}  // namespace tenfold::jit
