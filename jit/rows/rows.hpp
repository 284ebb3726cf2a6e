// SPDX-License-Identifier: Apache-2.0
//
// The rows nest. For each output: for each index of the outer reduced levels: one row of the vector level. Or, where
// outputs take turns, the other way round (turns.cpp); or rows side by side, step by step (streams.cpp) or
// block by block (visits.cpp). Rows of sums end in batches (batches.cpp).
//
// A row of a chained reduction is cut into blocks of chain() * unroll vector steps, counted from its start; step k of a
// block goes to set k mod unroll. What is left after the last whole group of a block of `unroll` steps goes to set 0,
// the partial step last. So which elements share a chain depends on the row's length alone.
#pragma once

#include <functional>
#include <optional>

#include "jit/nest/nest.hpp"

namespace tenfold::jit {

class Rows {
 public:
  explicit Rows(LoopNest& nest);
  void emit();

 private:
  void in_runs();
  void in_streams(int level);
  void next_row(int level);
  void row_by_row(int level);
  void next_stream(const Xbyak::Reg64& distance);
  void side_by_side(const Xbyak::Reg64& distance);
  void take_side_by_side(const Xbyak::Reg64& distance);

  int visit_groups() const;
  int visit_steps() const;
  void each_record(const std::function<void(const Xbyak::Reg64& record)>& body);
  void visit_streams(const Xbyak::Reg64& distance, const Xbyak::Reg64& visits);
  void visit(const Xbyak::Reg64& record);
  void visit_in_order(const Xbyak::Reg64& visits);
  void rows_in_visits(const Xbyak::Reg64& distance);
  void end_of_stream(const Xbyak::Reg64& record);
  void runs_in_visits();

  void in_batches(int level);

  void in_turns();
  void take_turns(int level, const std::vector<int>& reduced);
  void each_turn(int level, bool moves_on, const std::function<void(const Xbyak::Reg64& record)>& body);
  void row_of_turn(const Xbyak::Reg64& record);

  /// Reduces one output and stores it; `take` takes its rows, in the first pass where there are two.
  void output(const std::function<void()>& take);
  void take_by_sign(const std::function<void()>& take);
  /// One output's second pass, where the first one has not settled lane 0.
  void look_again();
  void take_rows();
  void row();
  /// The row at `p_`, of `steps_` whole steps.
  void along();
  void groups();
  void group();
  void whole_step();
  void rest();
  void partial_step(const Xbyak::Reg64& tail, const std::vector<Memory>& places);

  LoopNest& n_;
  Xbyak::CodeGenerator& c_;
  int unroll_;
  Gpr p_, steps_;
  std::optional<Gpr> element_stride_;
  bool visits_;         ///< streams, rather than taking a step of each
  bool looks_ = false;  ///< in the end for the place of what lanes remember the group of
};

/// The reduced level is contiguous: each output folds vectors, then lanes.
void emit_rows(LoopNest& nest);

}  // namespace tenfold::jit
