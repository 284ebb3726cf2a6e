// SPDX-License-Identifier: Apache-2.0
//
// Arg-reductions in stages: each lane has the greatest element so far, and that one's number. Elements are taken so
// that the greatest of them is the extreme, of an arg-min too. A NaN is above all numbers, -0 equals +0; among equals
// the first counts, or the last (docs/numerics.md).
//
// Lanes begin with the least element there is and number 0. One that nothing else has entered loses to all others, but
// in a row of nothing but that element, whose first is 0.
#pragma once

#include <cstdint>
#include <optional>

#include "jit/lane/lane.hpp"
#include "kernel/tables.hpp"
#include "tenfold/dtype.hpp"

namespace tenfold::jit {

struct Numbered {
  Lane element;
  Lane number;  ///< as an integer as wide
};

/// What is compared in place of `element`.
Lane compared(kernel::Monoid monoid, DType dtype, Lane element);

/// The start value of what is compared, as bits.
std::uint64_t least_compared(LaneType type);

/// What a lane takes, with the next element, of lanes in which `mask`, if there is one, is set: of any elements, or of
/// numbers alone, where a NaN is left out.
Numbered taken_up(const Numbered& so_far, const Numbered& next, bool last, const std::optional<Lane>& mask);
Numbered number_taken_up(const Numbered& so_far, const Numbered& next, bool last, const std::optional<Lane>& mask);

/// One integer (i64) of both, of lanes of 32 bits: that of the greatest element is the greatest, among equals that of
/// the number that counts.
Lane joined(const Numbered& numbered, bool last);

/// The number (i32) that it was made of.
Lane number_of(Lane joined, bool last);

}  // namespace tenfold::jit
