// SPDX-License-Identifier: Apache-2.0
//
// The last step of building a graph op by op, for the C++ builder and the C API: from ops and values to a verified
// Graph.
#pragma once

#include <vector>

#include "graph/ir/graph.hpp"
#include "tenfold/graph.hpp"
#include "tenfold/status.hpp"

namespace tenfold::api {

/// Connects, verifies and infers. `outputs` are tensor ids that leave the graph, in this order, and ops that none of
/// them needs are dropped; when empty, whatever no op consumes leaves it. invalid_graph for outputs that are unknown,
/// listed twice or not produced, and for a graph without ops.
Result<Graph> finish_graph(graph::Graph graph, const std::vector<TensorId>& outputs);

}  // namespace tenfold::api
