// SPDX-License-Identifier: Apache-2.0
//
// What the columns nest does with columns that are no whole vector step, where it need not mask them.
#pragma once

#include "schedule/body.hpp"
#include "schedule/schedule.hpp"

namespace tenfold::schedule {

/// Whether columns past the last whole vector step are covered by a whole step that overlaps the one before it and ends
/// where they do: a column's bits are its own. Not narrow columns, nor where tasks cut that level, nor of
/// integers and sums that AVX-512 loads by masks, which are as fast.
bool ends_whole(const kernel::KernelSpec& spec, Lanes lanes, const Schedule& schedule);

/// Whether the last vector step of columns runs on into what lies behind them, where they have none to take once more:
/// blocks of rows are one after another, in the input and in the outputs, so that what it reads is the next rows', and
/// what it stores too much the next blocks store again. Not for the last blocks of a task.
bool runs_over(const kernel::KernelSpec& spec, Lanes lanes, const Schedule& schedule);

}  // namespace tenfold::schedule
