// SPDX-License-Identifier: Apache-2.0
//
// Cutting a graph into partitions: which ops are compiled together, and which this version leaves to others. Not to be
// mixed up with the regions of src/compile, of which a partition has many.
#pragma once

#include <vector>

#include "graph/ir/graph.hpp"
#include "tenfold/graph_builder.hpp"
#include "tenfold/status.hpp"

namespace tenfold::api {

/// Whether a partition with this op can be compiled. Not for kinds that nothing here computes, nor for End and
/// Wildcard, which say something about a graph rather than compute.
bool is_supported(const graph::Op& op);

enum class Policy {
  fusion,  ///< all ops, if supported, or if all are End; otherwise the connected parts between those that are not, and
           ///< each of those
  debug,   ///< each op
};

struct Part {
  Graph graph;
  bool supported = true;
};

/// The parts of a verified graph (or one that finish_parts() has finished), in an order in which they can run.
Result<std::vector<Part>> split(const Graph& whole, Policy policy);

/// What verify() and infer() are to a graph that the tables have every op of, for one that has others: its structure is
/// checked as a whole, each supported part by itself, and shapes are inferred as far as they can be.
Status finish_parts(graph::Graph& graph);

}  // namespace tenfold::api
