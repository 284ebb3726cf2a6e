// SPDX-License-Identifier: Apache-2.0
//
// Plan: the kernels that run one spec, which is one as a rule. A reduction that is split, or whose
// reduced levels lie apart, writes partial results and a second kernel combines them in index order (partials.hpp); a
// body of more inputs than one kernel takes is cut into parts (kernel_sequence.hpp); long rows of a body in stages are
// cut into pieces (long_rows.hpp); plain reductions with something after them, and several that are faster one by one,
// are kernels of their own (plain_reductions.hpp). All of them are ordinary specs and schedules.
#pragma once

#include <vector>

#include "compile/plan/kernel_cut.hpp"
#include "compile/plan/row_pieces.hpp"
#include "kernel/spec.hpp"
#include "schedule/schedule.hpp"
#include "target/target.hpp"
#include "tenfold/status.hpp"

namespace tenfold::compiler {

struct PlannedKernel : CutKernel {
  schedule::Schedule schedule;
};

struct Plan {
  std::vector<PlannedKernel> kernels;  ///< in the order that they run in
  std::vector<std::int64_t> between;   ///< bytes of each buffer between kernels
  std::int64_t index_grain = 0;        ///< of an arg-reduction in pieces (index_pieces.hpp): elements of a piece
  bool in_pieces = false;              ///< rows are: all cores take part, however few there are
};

/// unsupported_* when the schedule cannot be followed by the emitter.
Result<Plan> make_plan(const kernel::KernelSpec& spec, const target::Target& target, const RowPieces& pieces = {});

}  // namespace tenfold::compiler
