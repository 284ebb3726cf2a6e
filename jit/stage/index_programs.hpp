// SPDX-License-Identifier: Apache-2.0
//
// The programs of arg-reductions in stages: numbered.hpp's arithmetic on the sets and totals of their reductions.
#pragma once

#include <vector>

#include "jit/stage/builder.hpp"

namespace tenfold::jit {

/// In a program of elements: one more into the sets of `extreme` and of its number; `masked`: of lanes that have one.
void take_up_index(StageBuilder& made, const std::vector<StageReduction>& reductions, int extreme, bool masked);

/// A flush or a fold of the reduction `number`, whose total is wide: the sets, or another part, into the total.
void join_index(StageBuilder& made, const std::vector<StageReduction>& reductions, int number, bool with_sets);

}  // namespace tenfold::jit
