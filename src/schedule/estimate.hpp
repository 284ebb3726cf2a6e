// SPDX-License-Identifier: Apache-2.0
//
// The cost model of the tuner. It only has to be right about what is hopeless: the rest is measured.
#pragma once

#include <cstddef>
#include <vector>

#include "kernel/spec.hpp"
#include "schedule/schedule.hpp"
#include "target/target.hpp"

namespace tenfold::schedule {

/// Cycles that a run might take: rough, for comparing schedules of one spec with each other.
double estimate(const kernel::KernelSpec& spec, const Schedule& schedule, const target::Target& target);

/// The neighbours worth measuring: at most `most`, those that are other in fewest fields first, of these the best
/// estimate; none far above the least.
std::vector<Schedule> promising(const kernel::KernelSpec& spec, const Schedule& base, const target::Target& target,
                                std::size_t most);

}  // namespace tenfold::schedule
