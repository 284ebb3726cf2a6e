// SPDX-License-Identifier: Apache-2.0
//
// Schedules of staged columns: how wide their tiles are, how they sweep rows, and what they keep from pass to pass.
#pragma once

#include "kernel/spec.hpp"
#include "schedule/schedule.hpp"
#include "target/target.hpp"

namespace tenfold::schedule {

/// Few rows stay in L1 from pass to pass with so many columns, and the records with them. On a Xeon, AVX2 and AVX-512,
/// softmax of f32 [21, 200000] over axis 0 takes 1.63 and 1.38 ms so, with 1024 columns 1.87 and 1.72, of [8, 524288]
/// 1.84 and 1.58 instead of 2.28 and 2.17; x / max |x| of [40, 104857] 1.33 and 1.29 instead of 1.62 and 1.72, max, min
/// and sum of [21, 200000] 0.82 and 0.78 instead of 1.10 and 1.11.
constexpr std::int64_t kFewRowsColumns = 256;

/// Whether columns have an f32 that is expensive to compute, reduced in one pass and asked for in a later one.
bool keeps_columns(const kernel::KernelSpec& spec);

/// Chooses all but what staged rows have as well: isa and vector level are given, claims and tasks come behind.
void choose_staged_columns(const kernel::KernelSpec& spec, const target::Target& target, Schedule& schedule);

/// internal_error when columns cannot follow what the schedule says of them alone.
Status check_staged_columns(const kernel::KernelSpec& spec, const Schedule& schedule);

}  // namespace tenfold::schedule
