// SPDX-License-Identifier: Apache-2.0
//
// Lowering: core ops with static shapes to kernel specs. The last place that knows graphs.
#pragma once

#include <vector>

#include "graph/ir/graph.hpp"
#include "kernel/spec.hpp"
#include "tenfold/status.hpp"

namespace tenfold::compiler {

/// The op as one kernel, collapsed. unsupported_* with the reason when no kernel of this version can run it.
Result<kernel::KernelSpec> lower(const graph::Graph& graph, const graph::Op& op);

}  // namespace tenfold::compiler
