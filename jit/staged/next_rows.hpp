// SPDX-License-Identifier: Apache-2.0
//
// What a pass over a row in stages asks for of rows that come later: the second one, as the first one finds its row in
// the caches then, or the only one.
#pragma once

#include <optional>
#include <vector>

#include "jit/staged/look_ahead.hpp"
#include "schedule/schedule.hpp"

namespace tenfold::jit {

class NextRows {
 public:
  /// Asks for nothing where `schedule` does not say so, or it is not for this pass.
  NextRows(Assembler& assembler, OperandWalk& walk, const Stages& stages, const schedule::Schedule& schedule,
           const StagePass& pass);

  /// Before the row's loops; its pointers are at `depth`.
  void start(std::size_t depth);
  /// Before a loop of steps; takes registers for as long as this lives.
  void load_distances();
  /// Within it, at steps that take so many elements: a power of two, and `at.index` a multiple of it.
  void ask(const OperandWalk::At& at, int elements);

 private:
  void ask_for_runs(const OperandWalk::At& at, int elements);

  Assembler& a_;
  OperandWalk& walk_;
  const schedule::Schedule& schedule_;
  std::vector<StagePlace> places_;  ///< what the first pass reads
  int level_ = -1;                  ///< of the rows
  std::vector<Ahead> ahead_;
  std::optional<std::size_t> of_runs_;
};

}  // namespace tenfold::jit
