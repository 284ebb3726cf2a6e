// SPDX-License-Identifier: Apache-2.0
//
// What the ops that only move elements say by their attributes and constant operands, in one form for both dialects:
// for shape inference and for the passes that turn them into core ops. Only for the check and pass rooms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/ir/graph.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

using Integers = std::vector<std::int64_t>;

/// Whether input `index` is there.
bool has_input(const Op& op, std::size_t index) noexcept;

/// The integers of input `index` where they are known while compiling: a constant, or what an onnx.Constant gives.
/// nullopt: left out, or known at run time only. invalid_shape with move.V6 when they have more than one dim.
Result<std::optional<Integers>> known_integers(const Graph& graph, const Op& op, std::size_t index);

/// Of a transpose: dim i of the output is dim permutation[i] of the input, all in [0, rank).
Result<Integers> permutation_of(const Op& op, std::size_t rank);

/// Of a slice: for each dim, element i of the output is element starts + steps * i of the input.
struct SlicePlan {
  Integers starts;
  Integers steps;
  Dims shape;  ///< of the output
  bool exact =
      true;  ///< false: an input dim that it cuts is not known, so starts are not, and shape has an unknown dim
};
/// nullopt: the bounds, or even the input's rank, are known at run time only.
Result<std::optional<SlicePlan>> slice_plan(const Graph& graph, const Op& op);

/// Of a Split: the axis in [0, rank) and the sizes of the parts along it.
struct SplitPlan {
  std::size_t axis = 0;
  Integers sizes;
};
/// nullopt: known at run time only.
Result<std::optional<SplitPlan>> split_plan(const Graph& graph, const Op& op);

/// Of a Shape op: the dims that it tells, [first, last) of the input's.
struct DimRange {
  std::size_t first = 0;
  std::size_t last = 0;
};
DimRange dim_range(const Op& op, std::size_t rank);

}  // namespace tenfold::graph
