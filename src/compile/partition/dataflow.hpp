// SPDX-License-Identifier: Apache-2.0
//
// Who reads what in a graph, through views: what only walks a tensor in another way is part of whatever reads it, as
// long as that can walk so, and is written out as an op of its own otherwise.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "graph/ir/graph.hpp"

namespace tenfold::compiler {

using Ops = std::set<graph::OpId>;

/// A region looks through no more views than this, so that the time to partition a graph of any number of ops grows
/// with that number; of the groups that read a tensor as it does it tries no more than the nearest so many.
inline constexpr std::size_t kMostViews = 64, kMostSiblings = 32;

/// Whether the op reads or writes a tensor of no elements.
bool has_empty(const graph::Graph& graph, const graph::Op& op);

class Dataflow {
 public:
  /// Looks through all views that nobody outside reads.
  explicit Dataflow(const graph::Graph& graph);

  bool is_seen_through(graph::OpId op) const { return seen_through_[op]; }
  /// Whether any view was written out after all.
  bool has_written_out() const { return has_written_out_; }
  void write_out(graph::OpId view);

  /// What the value is, looked through to, and the op that makes it; kNone for what comes from outside.
  graph::ValueId source_of(graph::ValueId value) const;
  graph::OpId producer_of(graph::ValueId value) const { return graph_.values[source_of(value)].producer; }

  /// The ops with all views between them and what they read; with more than kMostViews of these, some of them.
  Ops with_views(const Ops& ops) const;
  /// Whether anyone but `ops` reads the value.
  bool leaves(graph::ValueId value, const Ops& ops) const;
  /// The ops that read any output of `ops`, some of these perhaps among them.
  Ops readers(const Ops& ops) const;
  /// Of the ops before `op` that read the value, the nearest kMostSiblings, in order.
  std::vector<graph::OpId> nearest_readers(graph::ValueId value, graph::OpId op) const;

  const graph::Graph& graph() const { return graph_; }

 private:
  const graph::Graph& graph_;
  std::vector<std::vector<graph::OpId>> users_;  ///< by value
  std::vector<bool> is_output_;                  ///< by value
  std::vector<bool> seen_through_;               ///< by op: a view without a region
  bool has_written_out_ = false;
};

}  // namespace tenfold::compiler
