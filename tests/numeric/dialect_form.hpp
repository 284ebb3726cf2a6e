// SPDX-License-Identifier: Apache-2.0
//
// A graph of core ops said in ops of the dialects, which graph files can hold: what a test drew can then be run by the
// command.
#pragma once

#include <string>

#include "graph/ir/graph.hpp"

namespace tenfold::numeric {

/// The graph file, or a line that says which op has no such form. Inputs' data are not in it.
std::string graph_file(const graph::Graph& core);

}  // namespace tenfold::numeric
