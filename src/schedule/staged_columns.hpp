// SPDX-License-Identifier: Apache-2.0
//
// Schedules of staged columns: how wide their tiles are, how they sweep rows, and what they keep from pass to pass.
#pragma once

#include "kernel/spec.hpp"
#include "schedule/schedule.hpp"
#include "target/target.hpp"

namespace tenfold::schedule {

/// Columns of a tile of few rows, which stay in L1 from pass to pass with so many of them, and the records with them.
constexpr std::int64_t kFewRowsColumns = 256;

/// Whether columns have an f32 that is expensive to compute, reduced in one pass and asked for in a later one.
bool keeps_columns(const kernel::KernelSpec& spec);

/// Chooses the fields that columns alone have: isa and vector level are given, `claim` and `tile` are set afterwards.
void choose_staged_columns(const kernel::KernelSpec& spec, const target::Target& target, Schedule& schedule);

/// internal_error when columns cannot follow what the schedule says of them alone.
Status check_staged_columns(const kernel::KernelSpec& spec, const Schedule& schedule);

}  // namespace tenfold::schedule
