// SPDX-License-Identifier: Apache-2.0
//
// Sweeps of chained columns that take two vector steps of a tile at a time. The order of terms is that of the columns
// nest, but totals of whole steps have their lanes apart, and each chain goes to them with the first sweep of the next.
#pragma once

#include <functional>

#include "jit/nest/nest.hpp"

namespace tenfold::jit {

/// Whether streams are swept so: those of 16-bit floats.
bool sweeps_groups(const LoopNest& nest);

/// `count` sweeps of one row of each of four streams over the tile, from `first` on, which moves on behind them. `at`
/// is where the sweep stands; `tail` emits its rows of the partial step. Records end with a chain to flush. Clobbers
/// `count`.
void sweep_groups(LoopNest& nest, const Xbyak::Reg64& first, const Xbyak::Reg64& at, const Xbyak::Reg64& row_stride,
                  const Xbyak::Reg64& stream, const Xbyak::Reg64& count, const std::function<void()>& tail);

}  // namespace tenfold::jit
