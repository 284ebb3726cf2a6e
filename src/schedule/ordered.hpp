// SPDX-License-Identifier: Apache-2.0
//
// Schedules of bodies that go by the order of elements along the one reduced level: sums so far, and the first of all
// (kernel::is_ordered). Sums from the first element of a line on that has its elements side by side have lanes along
// it, as in staged rows, in sums of the lanes before each (LaneOp::prefix_sum). Other lanes run across lines, as in
// staged columns: along a kept level whose elements are neighbours, or over lines that have their elements side by
// side, of which a tile is turned round, a piece of each line at a time (turned.hpp).
#pragma once

#include <cstdint>

#include "kernel/spec.hpp"
#include "schedule/schedule.hpp"
#include "target/target.hpp"

namespace tenfold::schedule {

/// Elements of a piece of a line that is turned; all, if they are few. What is left behind the last piece is shorter.
std::int64_t piece_of_line(const kernel::KernelSpec& spec);

/// How many times as long a byte takes as one that is but read from a cache: what threads are worth goes by it. 1: of
/// other kernels.
std::int64_t effort_of_byte(const kernel::KernelSpec& spec);

/// How many places ranks ask for; 0: there are none.
std::int64_t places_of(const kernel::KernelSpec& spec);

/// Whether lanes run along the line, of which nothing but the spec decides, as it decides bits.
bool scans_in_lanes(const kernel::KernelSpec& spec);

Schedule choose_ordered(const kernel::KernelSpec& spec, const target::Target& target);

}  // namespace tenfold::schedule
