// SPDX-License-Identifier: Apache-2.0
//
// The last step of building a graph op by op, for the C++ builder and the C API: from ops and values to a verified
// Graph.
#pragma once

#include <vector>

#include "graph/ir/graph.hpp"
#include "tenfold/graph_builder.hpp"
#include "tenfold/status.hpp"

namespace tenfold::api {

/// Connects, verifies and infers. `outputs` are tensor ids that leave the graph, in this order, and ops that none of
/// them needs are dropped; when empty, whatever no op consumes leaves it. invalid_graph for outputs that are unknown,
/// listed twice or not produced, and for a graph without ops.
Result<Graph> finish_graph(graph::Graph graph, const std::vector<TensorId>& outputs);

/// The same for a graph some of whose ops may be of kinds that nothing here computes: split() sets them apart.
Result<Graph> finish_any_graph(graph::Graph graph, const std::vector<TensorId>& outputs);

/// Asks the rules of the one op of this graph, or nothing when the tables do not have it.
Status check_alone(graph::Graph graph);

}  // namespace tenfold::api
