// SPDX-License-Identifier: Apache-2.0
//
// A value read through the views and slices that make it: where its elements lie in what they are views of. For ops
// that take strides and not an iteration space (space.hpp), whose operands need not be copied then.
#pragma once

#include <span>

#include "compile/lower_copies.hpp"
#include "graph/ir/graph.hpp"
#include "tenfold/status.hpp"

namespace tenfold::compiler {

/// Strides by dim of `value`, 0 along what a broadcast repeats, as far back as the ops among `through` go.
/// unsupported_shape: a reshape that no strides can say.
Result<SliceWalk> strided_walk(const graph::Graph& graph, graph::ValueId value, std::span<const graph::OpId> through);

}  // namespace tenfold::compiler
