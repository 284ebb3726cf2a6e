// SPDX-License-Identifier: Apache-2.0
//
// Plan: the kernels, one or two, that run one spec. A reduction that is split writes partial results and a second
// kernel combines them in index order; both are ordinary specs and schedules.
#pragma once

#include <vector>

#include "kernel/spec.hpp"
#include "schedule/schedule.hpp"
#include "target/target.hpp"
#include "tenfold/status.hpp"

namespace tenfold::compiler {

struct PlannedKernel {
  kernel::KernelSpec spec;
  schedule::Schedule schedule;
};

struct Plan {
  std::vector<PlannedKernel> kernels;     ///< each after the first reads what the one before wrote
  std::int64_t partial_bytes = 0;         ///< of the buffer between them; 0 when there is one kernel
  std::int64_t partial_stride_bytes = 0;  ///< from one piece's results to the next's
};

/// unsupported_* when the schedule cannot be followed by the emitter.
Result<Plan> make_plan(const kernel::KernelSpec& spec, const target::Target& target);

}  // namespace tenfold::compiler
