// SPDX-License-Identifier: Apache-2.0
#include "jit/pass_vectors.hpp"

#include <algorithm>

#include "jit/lane_emit.hpp"

namespace tenfold::jit {
namespace {

/// Where `what` is in `list`; -1 when it is not.
int position(const std::vector<int>& list, int what) {
  const auto found = std::find(list.begin(), list.end(), what);
  return found == list.end() ? -1 : static_cast<int>(found - list.begin());
}

}  // namespace

PassVectors::PassVectors(const Stages& stages, const StagePass& pass, int vectors, int sets, int total_parts)
    : sets_(sets), total_parts_(total_parts), free_(vectors) {
  first_set_ = free_ - 1;
  const int of_sets = static_cast<int>(pass.reductions.size()) * sets;
  if (of_sets < vectors) {
    reductions_ = pass.reductions;
    free_ -= of_sets;
    // A tail may spill, once a row, where sets in memory would be moved with each step.
    if (needed(stages, pass, false) > free_) {
      reductions_.clear();
      free_ = vectors;
    }
  }
  first_total_ = free_ - 1;
  for (const int r : reductions_)
    if (total_parts > 0 && stages.reductions[static_cast<std::size_t>(r)].is_chained()) chained_.push_back(r);
  const int of_totals = static_cast<int>(chained_.size()) * total_parts;
  if (needed(stages, pass, true) <= free_ - of_totals) {
    free_ -= of_totals;
  } else {
    chained_.clear();
  }
  folding_ = free_;
  first_saved_ = free_ - 1;
  for (const StagePlace& place : pass.step.inputs) {
    if (place.kind != StagePlace::Kind::saved) continue;
    slots_.push_back(place.index);
    if (needed(stages, pass, true) <= free_ - 1) {
      --free_;
    } else {
      slots_.pop_back();
    }
  }
}

Vec PassVectors::set(int reduction, int which) const {
  const int at = position(reductions_, reduction);
  return at < 0 ? -1 : first_set_ - (at * sets_ + which);
}

Vec PassVectors::total(int reduction, int part) const {
  const int at = position(chained_, reduction);
  return at < 0 ? -1 : first_total_ - (at * total_parts_ + part);
}

Vec PassVectors::saved(int slot) const {
  const int at = position(slots_, slot);
  return at < 0 ? -1 : first_saved_ - at;
}

int PassVectors::needed(const Stages& stages, const StagePass& pass, bool tails) const {
  const auto of = [this](const StageProgram& program) {
    std::vector<bool> resident;
    for (const StagePlace& place : program.inputs)
      resident.push_back((place.kind == StagePlace::Kind::set && set(place.index, 0) >= 0) ||
                         (place.kind == StagePlace::Kind::total && total(place.index, 0) >= 0) ||
                         (place.kind == StagePlace::Kind::saved && saved(place.index) >= 0));
    return vectors_needed(program.lanes, resident);
  };
  int most = tails ? std::max(of(pass.step), of(pass.tail)) : of(pass.step);
  for (const int r : pass.reductions) {
    const StageReduction& reduction = stages.reductions[static_cast<std::size_t>(r)];
    // A flush and a fold pass parts on in one vector more, and a fold has the total in one.
    const int folds = vectors_needed(reduction.fold.lanes, std::vector<bool>(reduction.fold.inputs.size(), true));
    most = std::max({most, of(reduction.flush) + 1, folds + (total(r, 0) >= 0 ? 1 : 2)});
  }
  return most;
}

}  // namespace tenfold::jit
