// SPDX-License-Identifier: Apache-2.0
//
// Lowering: core ops with static shapes to kernel specs. The last place that knows graphs.
#pragma once

#include <vector>

#include "graph/ir/graph.hpp"
#include "kernel/spec.hpp"
#include "tenfold/status.hpp"

namespace tenfold::compiler {

/// A kernel and the values that its operands are.
struct Lowered {
  kernel::KernelSpec spec;
  std::vector<graph::ValueId> inputs, outputs;  ///< by operand
};

/// The op as one kernel, collapsed. unsupported_* with the reason when no kernel of this version can run it.
Result<Lowered> lower(const graph::Graph& graph, const graph::Op& op);

/// lower() of core.map, core.cast and core.select.
Result<Lowered> lower_elementwise(const graph::Graph& graph, const graph::Op& op);

}  // namespace tenfold::compiler
