// SPDX-License-Identifier: Apache-2.0
//
// Schedules of elementwise kernels (the flat nest); for choose.cpp.
#pragma once

#include "kernel/spec.hpp"
#include "schedule/schedule.hpp"
#include "target/target.hpp"

namespace tenfold::schedule {

Schedule choose_flat(const kernel::KernelSpec& spec, const target::Target& target);

/// internal_error when the flat nest cannot follow `schedule`.
Status check_flat(const kernel::KernelSpec& spec, const Schedule& schedule);

}  // namespace tenfold::schedule
