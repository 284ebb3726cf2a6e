// SPDX-License-Identifier: Apache-2.0
//
// Which vectors a pass keeps from step to step: its sets, the totals that these are flushed into, the rows' values that
// elements are computed with, and the constants of its step; as far as there are vectors, in this order. They are
// handed out from the last one down; the program of a step has the rest.
#pragma once

#include <vector>

#include "jit/lane/layer.hpp"
#include "jit/stage/stages.hpp"

namespace tenfold::jit {

class PassVectors {
 public:
  /// `sets`: of each reduction. `total_parts`: vectors that a total in wider lanes takes; 0:
  /// totals are in memory. `beside`: a pass whose steps are run between those of `pass`, with nothing in vectors.
  PassVectors(const Stages& stages, const StagePass& pass, const LaneLayer& layer, int sets, int total_parts,
              const StagePass* beside = nullptr);

  /// Each -1 where it is in memory.
  Vec set(int reduction, int which) const;
  Vec total(int reduction, int part) const;
  Vec saved(int slot) const;

  int sets() const { return sets_; }
  /// Whether no set is in memory.
  bool holds_sets(const StagePass& pass) const { return reductions_.size() == pass.reductions.size(); }
  const std::vector<int>& saved_slots() const { return slots_; }
  /// To be held from vector free() on.
  const std::vector<LaneSource>& constants() const { return constants_; }
  int free() const { return free_; }
  /// Whether the program has room beside what is kept.
  bool has_room_for(const StageProgram& program) const { return needed_by(program) <= free_; }
  /// The same when the pass is over, and the rows' values have been used.
  int folding() const { return folding_; }

 private:
  /// By input of `program`: whether it is in a vector.
  std::vector<bool> residents(const StageProgram& program) const;
  int needed_by(const StageProgram& program) const;
  int needed_by_steps(const Stages& stages, const StagePass& pass) const;
  int needed(const Stages& stages, const StagePass& pass, bool tails) const;

  bool make_room_for_totals(const Stages& stages, const StagePass& pass, std::size_t of_steps, bool chained_alone);

  std::vector<int> reductions_, slots_;  ///< those in vectors
  struct Total {
    int reduction, first;  ///< the uppermost vector
  };
  std::vector<Total> totals_;
  std::vector<LaneSource> constants_;
  int sets_, total_parts_;
  const StagePass* beside_;
  int free_, folding_ = 0;
  Vec first_set_ = 0, first_saved_ = 0;  ///< the uppermost
};

}  // namespace tenfold::jit
