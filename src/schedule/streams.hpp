// SPDX-License-Identifier: Apache-2.0
//
// How many streams the rows nest reads: runs of consecutive rows, or of one row runs of itself. Memory delivers several
// faster than one; what the last cache holds is read fastest in one, or two.
#pragma once

#include "schedule/body.hpp"
#include "schedule/schedule.hpp"
#include "target/target.hpp"

namespace tenfold::schedule {

/// 1, 2 or 4. What one row of sums has depends on the spec alone, as its runs decide the order of additions.
/// `unroll` is that of the rows.
int choose_streams(const kernel::KernelSpec& spec, Lanes lanes, int unroll, const target::Target& target);
/// Whether the streams are visited in turns, as the state has too few accumulator sets to step them together; else runs
/// of one row come one after another.
bool visits_in_turns(const kernel::KernelSpec& spec, Lanes lanes, int streams, const target::Target& target);
Status check_streams(const kernel::KernelSpec& spec, Lanes lanes, const Schedule& schedule);

}  // namespace tenfold::schedule
