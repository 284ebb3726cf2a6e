// SPDX-License-Identifier: Apache-2.0
//
// The iteration space of a group of ops. Each dim of each value is made of *factors*, outermost first; ops say which
// dims walk together, and a reshape cuts factors where its dims do. [N, C, H] reshaped to [N, 2, C/2, H] gives the
// factors N, 2, C/2, H, of which C has two. Transposes, broadcasts and reshapes are but other lists of the same
// factors, so that they cost a kernel nothing.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "graph/ir/graph.hpp"
#include "tenfold/status.hpp"

namespace tenfold::compiler {

/// Ops that only say how elements are walked: core.reshape, core.transpose, core.broadcast.
bool is_view(const graph::Op& op) noexcept;

/// core.reduce or core.arg_reduce.
bool reduces(const graph::Op& op) noexcept;

/// The dims that such an op reduces, ascending.
Result<Dims> reduced_dims(const graph::Graph& graph, const graph::Op& op);

class IterationSpace {
 public:
  explicit IterationSpace(const graph::Graph& graph) : graph_(graph) {}

  /// Adds what `op` says of its values, in topological order. unsupported_shape or unsupported_op when there is no
  /// common space.
  Status add(const graph::Op& op);

  /// Indices of factors, by dim; dims of extent 1 have none.
  using Dimensions = std::vector<std::vector<int>>;
  const Dimensions& dimensions(graph::ValueId value) const { return values_.at(value); }
  /// All factors of a value, in its row-major order.
  std::vector<int> factors(graph::ValueId value) const;
  std::int64_t extent(int factor) const { return extents_[static_cast<std::size_t>(factor)]; }
  /// Every factor that some value has, ascending.
  std::vector<int> all() const;

 private:
  Dimensions& known(graph::ValueId value);
  Status add_broadcast(const graph::Op& op);
  Status add_reduce(const graph::Op& op);
  Status add_reshape(const graph::Op& op);
  Status add_transpose(const graph::Op& op);
  /// Makes the two lists one, cutting factors where needed.
  Status unify(std::vector<int> a, std::vector<int> b);
  void replace(int factor, const std::vector<int>& by);
  Status check_distinct() const;

  const graph::Graph& graph_;
  std::vector<std::int64_t> extents_;  ///< by factor
  std::map<graph::ValueId, Dimensions> values_;
};

}  // namespace tenfold::compiler
