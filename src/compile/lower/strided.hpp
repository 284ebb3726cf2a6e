// SPDX-License-Identifier: Apache-2.0
//
// A value read through the views and slices that make it: where its elements lie in what they are views of. For ops
// that take strides and not an iteration space (space.hpp), whose operands need not be copied then; and, of slices,
// for kernels.
#pragma once

#include <cstdint>
#include <span>

#include "graph/ir/graph.hpp"
#include "tenfold/status.hpp"

namespace tenfold::compiler {

/// The elements of a value where they lie: `first` (in elements) and strides, in the tensor `root`.
struct StridedWalk {
  graph::ValueId root = graph::kNone;
  std::int64_t first = 0;
  Dims strides;
};

/// Strides by dim of `value`, 0 along what a broadcast repeats, as far back as the ops among `through` go.
/// unsupported_shape: a reshape that no strides can say.
Result<StridedWalk> strided_walk(const graph::Graph& graph, graph::ValueId value, std::span<const graph::OpId> through);

/// The same through slices alone, which always have strides.
StridedWalk slice_walk(const graph::Graph& graph, graph::ValueId value, std::span<const graph::OpId> through);

}  // namespace tenfold::compiler
