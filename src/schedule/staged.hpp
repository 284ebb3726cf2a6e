// SPDX-License-Identifier: Apache-2.0
//
// Schedules of bodies in stages (the staged nests); for choose.cpp.
#pragma once

#include "kernel/spec.hpp"
#include "schedule/schedule.hpp"
#include "target/target.hpp"

namespace tenfold::schedule {

Schedule choose_staged(const kernel::KernelSpec& spec, const target::Target& target);

/// internal_error when the staged nests cannot follow `schedule`.
Status check_staged(const kernel::KernelSpec& spec, const Schedule& schedule);

}  // namespace tenfold::schedule
