// SPDX-License-Identifier: Apache-2.0
//
// Partitioning: which ops run as one kernel. Regions grow along the edges of the graph, and between ops that read the
// same tensor, as long as
//   - the ops have one iteration space and reduce the same dims of it (lower/lower.cpp says when not),
//   - no value leaves the region and comes back (the region is convex),
//   - it pays: the bytes that need not be moved outweigh what is computed more often (cost.hpp).
// Views (reshape, transpose, broadcast) have no region: whoever reads one reads what it is a view of, in other strides.
// A view is written out only where it leaves the graph, or where some reader cannot walk it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compile/heavy/heavy.hpp"
#include "compile/lower/lower.hpp"
#include "compile/lower/selection.hpp"
#include "compile/plan/plan.hpp"
#include "graph/ir/graph.hpp"
#include "target/target.hpp"

namespace tenfold::compiler {

struct PlannedPart {
  Lowered lowered;
  Plan plan;
};

struct PlannedSelection {
  Selection selection;
  Plan plan;  ///< of the extremes; no kernels where there are no blocks
};

/// Ops that run as one kernel, or as the several that plan.hpp cuts it into; one op as several copies
/// (lower/copies.hpp); one op that oneDNN runs; one that is a selection; or one op for the reference evaluator.
struct Region {
  std::vector<graph::OpId> ops;               ///< in topological order, views that they look through included
  Status status;                              ///< why it has no kernel; there are no parts then
  std::vector<PlannedPart> parts;             ///< one, but for copies
  std::optional<HeavyOp> heavy;               ///< what oneDNN runs; there are no parts then
  std::optional<PlannedSelection> selection;  ///< likewise
};

/// Two ops that share a value and not a kernel.
struct Unfused {
  graph::OpId from = 0, to = 0;
  std::string reason;
};

struct Partition {
  std::vector<Region> regions;  ///< in an order in which they can run
  std::vector<Unfused> unfused;
};

/// `fuse` false: each op by itself.
Partition partition(const graph::Graph& graph, const target::Target& target, bool fuse, const RowPieces& pieces = {});

}  // namespace tenfold::compiler
