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
/// Whether these, of which a state has not sets enough to take a step of each, are visited in turns; else runs of one
/// row come one after another.
bool visits_in_turns(const kernel::KernelSpec& spec, Lanes lanes, int streams, const target::Target& target);
/// Whether what is read fills a late last cache (target::L3::late) but for what others have of it: three eighths.
bool fills_late_cache(const kernel::KernelSpec& spec, const target::Target& target);
Status check_streams(const kernel::KernelSpec& spec, Lanes lanes, const Schedule& schedule);

}  // namespace tenfold::schedule
