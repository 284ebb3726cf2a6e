// SPDX-License-Identifier: Apache-2.0
//
// Inputs for graphs whose user gave none: seeded random values in a range in which the graph's ops make sense, the same
// for a tensor id and a seed whatever its strides (docs/formats.md).
#pragma once

#include <cstdint>
#include <vector>

#include "graph/ir/graph.hpp"
#include "tenfold/graph_builder.hpp"
#include "tools/tensor.hpp"

namespace tenfold::tools {

/// Reductions that take their axes from the graph input `id`, and the lowest rank of what they reduce.
struct AxesInputUse {
  TensorId id = 0;
  int rank = 0;
};
std::vector<AxesInputUse> axes_input_uses(const graph::Graph& graph);

/// The last `count` axes of rank `use.rank`: what an axes input holds when nobody says.
std::vector<std::int64_t> default_axes(const AxesInputUse& use, std::int64_t count);

/// Other graph inputs whose elements are axes, or decide shapes as TopK's k does: no drawn value is likely to do.
std::vector<TensorId> steering_inputs(const graph::Graph& graph);

/// Asked now and then in work that takes long; true leaves the rest undone.
using IsStopped = bool (*)();

/// Fills the graph input `tensor` for `graph`. `values` says in words what was filled in, for the report.
void fill_input(const graph::Graph& graph, TensorId id, std::uint64_t seed, const Tensor& tensor, std::string& values,
                IsStopped is_stopped = nullptr);

}  // namespace tenfold::tools
