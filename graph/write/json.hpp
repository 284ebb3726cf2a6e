// SPDX-License-Identifier: Apache-2.0
//
// Writer of graph files: a Graph as oneDNN Graph JSON with our extensions (docs/formats.md). Reading what was written
// gives the same graph, for graphs that came from such a file.
#pragma once

#include <string>

#include "graph/ir/graph.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

/// The file's text. What leaves the graph and is used in it as well, or is not produced by an op, gets an `End`.
/// unsupported_dtype and unsupported_shape for constants that graph files cannot hold, unsupported_op for core ops.
Result<std::string> write_json(const Graph& graph);

}  // namespace tenfold::graph
