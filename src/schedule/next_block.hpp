// SPDX-License-Identifier: Apache-2.0
//
// Columns inside a kept level, as of a middle axis, come in blocks, one behind the other. Their rows are too short, and
// too few, to become streams to the machine's own prefetching; where rows are read, they ask for those of the next
// block (Schedule::blocks). None of it changes a bit of a result.
#pragma once

#include "schedule/body.hpp"
#include "schedule/schedule.hpp"

namespace tenfold::schedule {

/// How far behind an element its counterpart in the next block is, which is the next index of the innermost kept level
/// outside columns, in bytes; 0 where there is none, or where blocks are too long to be asked for one ahead.
std::int64_t next_block_bytes(const kernel::KernelSpec& spec, int vector_level);

/// Sets `blocks` and `far` of a schedule whose columns, width and rows are chosen.
void choose_blocks(const kernel::KernelSpec& spec, Lanes lanes, const target::Target& target, Schedule& schedule);

/// Whether blocks are short enough to be asked for, on a machine where they may be.
bool may_ask_for_blocks(const kernel::KernelSpec& spec, int vector_level, const target::Target& target);

}  // namespace tenfold::schedule
