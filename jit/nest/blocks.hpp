// SPDX-License-Identifier: Apache-2.0
//
// Sets of accumulators side by side, and the whole vector steps of a chained reduction in blocks: what rows and sums of
// narrow columns do alike. Which step goes to which set and when a chain ends is part of the numeric contract.
#pragma once

#include <functional>

#include "jit/nest/nest.hpp"

namespace tenfold::jit {

void init_sets(ReduceState& state, int sets);
/// Into set 0: (0 + 1) + (2 + 3).
void merge_sets(ReduceState& state, int sets);

/// Emits a group: a step for each set, and moving on behind them.
using EmitGroup = std::function<void()>;

/// `groups` groups; at least one.
void repeat_groups(LoopNest& nest, const Xbyak::Reg64& groups, const EmitGroup& group);

/// A block of a chained reduction: `groups` groups, at least one and no more than the state's chains are long, whose
/// sets are merged and flushed into the totals (of products, flushed each). `by_step_sets`: that is how a group takes
/// its steps.
void take_block(LoopNest& nest, const Xbyak::Reg64& groups, int sets, bool by_step_sets, const EmitGroup& group);

/// As many of `steps` steps as make whole groups, in blocks as long as chains may be. `steps` becomes what is left:
/// fewer than `sets`.
void take_blocks(LoopNest& nest, const Xbyak::Reg64& steps, int sets, bool by_step_sets, const EmitGroup& group);

/// Columns: rows in the first pass, and again if it met a value that it cannot handle; or in the whole one,
/// which is the pass from here on.
void take_sweep(LoopNest& nest, const std::function<void(Pass)>& take);

}  // namespace tenfold::jit
