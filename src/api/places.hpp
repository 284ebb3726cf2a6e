// SPDX-License-Identifier: Apache-2.0
//
// Where tensors stand in a list of them, by id: graphs may have many thousands of inputs and outputs, and callers name
// each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "graph/ir/graph.hpp"
#include "tenfold/compiled_partition.hpp"
#include "tenfold/graph_builder.hpp"

namespace tenfold::api {

class Places {
 public:
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  /// Of inputs or outputs of `graph`.
  Places(const graph::Graph& graph, std::span<const graph::ValueId> ends) {
    for (const graph::ValueId v : ends) add(graph.values[v].id);
    std::sort(sorted_.begin(), sorted_.end());
  }
  explicit Places(std::span<const TensorInfo> tensors) {
    for (const TensorInfo& tensor : tensors) add(tensor.id);
    std::sort(sorted_.begin(), sorted_.end());
  }

  /// The first place of that tensor, or kNowhere.
  std::size_t find(TensorId id) const noexcept {
    const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair{id, std::size_t{0}});
    return at != sorted_.end() && at->first == id ? at->second : kNowhere;
  }

 private:
  void add(TensorId id) { sorted_.emplace_back(id, sorted_.size()); }

  std::vector<std::pair<TensorId, std::size_t>> sorted_;
};

}  // namespace tenfold::api
