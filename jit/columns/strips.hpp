// SPDX-License-Identifier: Apache-2.0
//
// Strips: tiles of columns so narrow that all rows of a chain pass through accumulators in registers, for sums of rows
// that are few and long. The order of terms is that of the columns nest.
#pragma once

#include "jit/nest/nest.hpp"
#include "schedule/columns.hpp"

namespace tenfold::jit {

using schedule::kStripSteps;

/// Whether whole tiles of this kernel are strips.
bool is_strip(const LoopNest& nest);

/// `count` sweeps of one row of each of `at_once` streams, from `first` on, into the totals of the tile's records.
void sweep_strip(LoopNest& nest, const Xbyak::Reg64& first, const Xbyak::Reg64& row_stride, const Xbyak::Reg64& stream,
                 const Xbyak::Reg64& count, int at_once);

}  // namespace tenfold::jit
