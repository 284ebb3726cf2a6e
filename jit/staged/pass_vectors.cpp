// SPDX-License-Identifier: Apache-2.0
#include "jit/staged/pass_vectors.hpp"

#include <algorithm>

#include "jit/lane/emit.hpp"

namespace tenfold::jit {
namespace {

/// Where `what` is in `list`; -1 when it is not.
int position(const std::vector<int>& list, int what) {
  const auto found = std::find(list.begin(), list.end(), what);
  return found == list.end() ? -1 : static_cast<int>(found - list.begin());
}

}  // namespace

PassVectors::PassVectors(const Stages& stages, const StagePass& pass, const LaneLayer& layer, int sets, int total_parts,
                         const StagePass* beside)
    : sets_(sets), total_parts_(total_parts), beside_(beside), free_(layer.vectors()) {
  first_set_ = free_ - 1;
  const int of_sets = static_cast<int>(pass.reductions.size()) * sets;
  if (of_sets < layer.vectors()) {
    reductions_ = pass.reductions;
    free_ -= of_sets;
    // A tail may spill, once a row, where sets in memory would be moved with each step.
    if (needed(stages, pass, false) > free_) {
      reductions_.clear();
      free_ = layer.vectors();
    }
  }
  const std::vector<LaneSource> constants = constants_by_use(pass.step.lanes);
  // What each step reads comes before what flushes do.
  const auto of_saved = std::count_if(pass.step.inputs.begin(), pass.step.inputs.end(),
                                      [](const StagePlace& place) { return place.kind == StagePlace::Kind::saved; });
  const auto each = static_cast<std::size_t>(layer.constants_of_vector());
  const std::size_t of_steps =
      constants.empty() ? 0 : static_cast<std::size_t>(of_saved) + (constants.size() + each - 1) / each;
  if (total_parts > 0 && !make_room_for_totals(stages, pass, of_steps, false))
    make_room_for_totals(stages, pass, of_steps, true);
  folding_ = free_;
  first_saved_ = free_ - 1;
  for (const StagePlace& place : pass.step.inputs) {
    if (place.kind != StagePlace::Kind::saved) continue;
    slots_.push_back(place.index);
    if (needed(stages, pass, total_parts > 0) <= free_ - 1) {
      --free_;
    } else {
      slots_.pop_back();
    }
  }
  // Folds come when the constants have been used, and a tail may spill.
  const int needed_now = std::max(needed_by_steps(stages, pass), fewest_vectors(pass.tail.lanes, residents(pass.tail)));
  while (constants_.size() < constants.size() && needed_now <= free_ - 1) {
    --free_;
    for (std::size_t i = 0; i < each && constants_.size() < constants.size(); ++i)
      constants_.push_back(constants[constants_.size()]);
  }
}

/// Those of chained sets, which are flushed into all the time, come before others.
bool PassVectors::make_room_for_totals(const Stages& stages, const StagePass& pass, std::size_t of_steps,
                                       bool chained_alone) {
  int uppermost = free_ - 1;
  for (const int r : reductions_) {
    const StageReduction& of = stages.reductions[static_cast<std::size_t>(r)];
    if (!of.has_total() || (!of.is_chained() && chained_alone)) continue;
    totals_.push_back({r, uppermost});
    uppermost -= of.is_wide() ? total_parts_ : 1;
  }
  const bool fits = needed(stages, pass, true) + static_cast<int>(of_steps) <= uppermost + 1;
  if (fits) {
    free_ = uppermost + 1;
  } else {
    totals_.clear();
  }
  return fits;
}

Vec PassVectors::set(int reduction, int which) const {
  const int at = position(reductions_, reduction);
  return at < 0 ? -1 : first_set_ - (at * sets_ + which);
}

Vec PassVectors::total(int reduction, int part) const {
  for (const Total& total : totals_)
    if (total.reduction == reduction) return total.first - part;
  return -1;
}

Vec PassVectors::saved(int slot) const {
  const int at = position(slots_, slot);
  return at < 0 ? -1 : first_saved_ - at;
}

std::vector<bool> PassVectors::residents(const StageProgram& program) const {
  std::vector<bool> resident;
  for (const StagePlace& place : program.inputs)
    resident.push_back((place.kind == StagePlace::Kind::set && set(place.index, 0) >= 0) ||
                       (place.kind == StagePlace::Kind::total && total(place.index, 0) >= 0) ||
                       (place.kind == StagePlace::Kind::saved && saved(place.index) >= 0));
  return resident;
}

int PassVectors::needed_by(const StageProgram& program) const {
  return vectors_needed(program.lanes, residents(program));
}

/// A flush passes parts on in one vector more. That of several sets, once a row, has them in memory, and may leave
/// values there.
int PassVectors::needed_by_steps(const Stages& stages, const StagePass& pass) const {
  int most = needed_by(pass.step);
  if (beside_ != nullptr)
    most = std::max(most, vectors_needed(beside_->step.lanes, std::vector<bool>(beside_->step.inputs.size(), false)));
  for (const int r : pass.reductions) {
    const StageProgram& flush = stages.reductions[static_cast<std::size_t>(r)].flush;
    const bool joins = sets_read_by(flush).size() > 1;
    const std::vector<bool> nowhere(flush.inputs.size(), false);
    most = std::max(most, (joins ? fewest_vectors(flush.lanes, nowhere) : needed_by(flush)) + 1);
  }
  return most;
}

/// So does a fold, which has the total in one.
int PassVectors::needed(const Stages& stages, const StagePass& pass, bool tails) const {
  int most = std::max(needed_by_steps(stages, pass), tails ? needed_by(pass.tail) : 0);
  for (const int r : pass.reductions) {
    const StageProgram& fold = stages.reductions[static_cast<std::size_t>(r)].fold;
    const int folds = vectors_needed(fold.lanes, std::vector<bool>(fold.inputs.size(), true));
    most = std::max(most, folds + (total(r, 0) >= 0 ? 1 : 2));
  }
  return most;
}

}  // namespace tenfold::jit
