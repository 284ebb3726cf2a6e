// SPDX-License-Identifier: Apache-2.0
//
// A graph while it is being built through the C API: ops whose tensors the caller names by id. It checks that all that
// is said of one tensor agrees; the rules of the ops are verify()'s, when it is finished.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "api/finish.hpp"
#include "graph/ir/graph.hpp"
#include "tenfold/graph_builder.hpp"
#include "tenfold/status.hpp"

namespace tenfold::capi {

struct DraftOp {
  graph::Op op;                                     ///< but for its inputs and outputs
  std::vector<std::optional<graph::Value>> inputs;  ///< nothing: left out
  std::vector<graph::Value> outputs;
};

class Draft {
 public:
  /// invalid_graph when a tensor contradicts what is known of it. When a call fails, or memory runs out in it, the
  /// draft is as it was.
  Status add_op(const DraftOp& op);
  Status add_constant(const graph::Value& value, const void* data, std::size_t size);
  void set_outputs(std::vector<TensorId> ids) { outputs_ = std::move(ids); }

  /// Asks the rules of the only op.
  Status check_alone() const { return api::check_alone(graph_); }

  /// The verified graph. The draft stays, for it may fail.
  Result<Graph> finish() const;

 private:
  using Merged = std::map<TensorId, graph::Value>;
  using Places = std::map<TensorId, graph::ValueId>;  ///< into graph_.values
  /// Adds what `value` says to what `merged` or the draft knows of the tensor.
  Status merge(Merged& merged, const graph::Value& value) const;
  /// Where values of `merged` that the draft does not know yet will be.
  Places new_places(const Merged& merged) const;
  /// Takes them over; there must be room for what is new.
  void commit(Merged& merged, Places& fresh) noexcept;

  graph::Graph graph_;  ///< constants without their data
  // Ordered, as those take nodes over from another map without allocating.
  Places places_;
  std::map<std::int64_t, std::size_t> ops_;  ///< by id, into graph_.ops
  std::map<TensorId, std::vector<std::byte>> data_;
  std::vector<TensorId> outputs_;
};

}  // namespace tenfold::capi
