// SPDX-License-Identifier: Apache-2.0
//
// The schedules beside the heuristic's: all that a tuner may try, and all that a tuning file may ask for. Each gives
// the same bits as the heuristic's, so what decides bits (nest, vector level, split, and what orders additions) is
// never varied; each passes check().
#pragma once

#include <vector>

#include "kernel/spec.hpp"
#include "schedule/schedule.hpp"

namespace tenfold::schedule {

/// Every legal schedule of `spec` that differs from `base`, the heuristic's, in what decides no bit: all but the nest,
/// the vector level, width, pilot and split, and of sums what orders their additions.
std::vector<Schedule> neighbours(const kernel::KernelSpec& spec, const Schedule& base);

/// Whether `wanted` is `base` or one of its neighbours.
bool is_neighbour(const kernel::KernelSpec& spec, const Schedule& base, const Schedule& wanted);

}  // namespace tenfold::schedule
