// SPDX-License-Identifier: Apache-2.0
//
// What the reductions of a body become in stages: one StageReduction each, or several for those of which other forms
// are cheaper.
#pragma once

#include <vector>

#include "jit/stage/builder.hpp"

namespace tenfold::jit {

struct FoundReductions {
  std::vector<StageReduction> reductions;  ///< without their programs
  std::vector<int> of_node;                ///< by node, the first of them; -1 for nodes that are no reduction
};

/// What the nest allows.
struct ReductionForms {
  const std::vector<int>& sums;    ///< by node: the sum that a centred moment is found beside, or -1
  const std::vector<int>& maxima;  ///< by node: the maximum that a sum of exponentials is found beside, or -1
  bool in_one_pass = false;        ///< such a sum follows from the moment's deviations, even one that is not `centred`
  bool along_rows = false;         ///< a step waits for what the step before made of its lanes
};

/// unsupported_op for an arg-reduction along several levels, of too many elements, or, along rows, of 64 bits.
Result<FoundReductions> find_reductions(const kernel::KernelSpec& spec, const std::vector<Position>& positions,
                                        const ReductionForms& forms);

}  // namespace tenfold::jit
