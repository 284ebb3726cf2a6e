// SPDX-License-Identifier: Apache-2.0
//
// Which element of a step each lane holds. Elements of bf16 come apart by a shift and a mask, and meet again by a shift
// and a blend, where the lower half of the lanes has the even ones and the upper half the odd ones; side by side they
// are widened and packed by shuffles, which cost twice as much and more.
#pragma once

#include <cstdint>

#include "kernel/spec.hpp"

namespace tenfold::jit {

enum class LaneOrder : std::uint8_t {
  straight,    ///< lane i has element i
  even_first,  ///< of 16 lanes, lane i has element 2 i, and lane 8 + i element 2 i + 1
};

constexpr int element_of(LaneOrder order, int lane) {
  if (order == LaneOrder::straight) return lane;
  return lane < 8 ? 2 * lane : 2 * (lane - 8) + 1;
}

constexpr int lane_of(LaneOrder order, int element) {
  if (order == LaneOrder::straight) return element;
  return element / 2 + 8 * (element % 2);
}

/// The order for a kernel whose steps have `lanes` lanes along `vector_level`. Where these are summed it decides bits,
/// so it follows from dtypes and from which operands repeat, on every instruction set.
LaneOrder lane_order(const kernel::KernelSpec& spec, int vector_level, int lanes);

}  // namespace tenfold::jit
