// SPDX-License-Identifier: Apache-2.0
//
// Plan: the kernels that run one spec, which is one as a rule. A reduction that is split, or whose
// reduced levels lie apart, writes partial results and a second kernel combines them in index order (partials.hpp); a
// body of more inputs than one kernel takes is cut into legs (relay.hpp). All of them are ordinary specs and schedules.
#pragma once

#include <vector>

#include "compile/relay.hpp"
#include "kernel/spec.hpp"
#include "schedule/schedule.hpp"
#include "target/target.hpp"
#include "tenfold/status.hpp"

namespace tenfold::compiler {

struct PlannedKernel {
  kernel::KernelSpec spec;
  schedule::Schedule schedule;
  std::vector<int> reads;  ///< by input: which one of the spec's, or kHandedOn
};

struct Plan {
  std::vector<PlannedKernel> kernels;     ///< each after the first reads what the one before wrote, and inputs
  std::int64_t partial_bytes = 0;         ///< of each buffer between two; 0 when there is one kernel
  std::int64_t partial_stride_bytes = 0;  ///< from one piece's results to the next's
  std::int64_t index_grain = 0;           ///< of an arg-reduction in pieces (index_pieces.hpp): elements of a piece
};

/// unsupported_* when the schedule cannot be followed by the emitter.
Result<Plan> make_plan(const kernel::KernelSpec& spec, const target::Target& target);

}  // namespace tenfold::compiler
