// SPDX-License-Identifier: Apache-2.0
//
// Making a constant of what an op of constants gives; fold_shapes.cpp and fold_constants.cpp say of which. Only for the
// pass room.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/ir/graph.hpp"

namespace tenfold::graph {

/// Whether each value leaves the graph; such values stay the results of ops.
std::vector<bool> leaving(const Graph& graph);

/// Whether all inputs of `op` are constants, and its outputs stay in the graph and take at most `most_bytes` each.
bool can_fold(const Graph& graph, const Op& op, const std::vector<bool>& leaves, std::int64_t most_bytes);

/// Makes its outputs constants, by the reference evaluator; false: it cannot evaluate them, and nothing has changed.
bool fold(Graph& graph, const Op& op);

/// Drops the ops that are marked as gone.
void drop_ops(Graph& graph, const std::vector<bool>& gone);

}  // namespace tenfold::graph
