// SPDX-License-Identifier: Apache-2.0
//
// Shapes of results, computed from the operands that are really there: axes may come from a tensor, so the graph's own
// inference cannot know them all. Written apart from graph/check on purpose; each is the other's test.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/eval/eval.hpp"
#include "graph/eval/op_rows.hpp"

namespace tenfold::graph {

/// What a reduction walks: kept dims and reduced dims of its input, each in order, with their strides.
struct ReducePlan {
  bool identity = false;  ///< no axes: the input as it is
  Dims kept, kept_strides;
  Dims reduced, reduced_strides;
  Dims output;  ///< with ones for the reduced dims under keep_dims
  /// Strides of the output along the kept dims.
  Dims output_strides(const TensorDesc& desc) const;
  std::vector<bool> is_reduced;
  bool keep_dims = false;
};

/// Axes from the attribute or from the second input. invalid_op with reduce.C3 or reduce.C4 for bad ones.
Result<ReducePlan> plan_reduce(const Op& op, std::span<const ConstTensor> inputs);

/// NumPy's broadcast of all inputs; under `auto_broadcast = none` their shapes must agree. 1-D channel operands (bias,
/// slope) count as laid along their channel.
Result<Dims> plan_broadcast(const Op& op, const OpRow& row, std::span<const ConstTensor> inputs);

/// Strides of input `index` over the `output` shape, 0 where it is repeated.
Dims broadcast_strides(const Op& op, const OpRow& row, std::span<const ConstTensor> inputs, std::size_t index,
                       const Dims& output);

/// The shape that the op's only output has. For core.reshape: the attribute `shape`, or `declared` without one.
Result<Dims> output_shape(const Op& op, std::span<const ConstTensor> inputs, const Dims& declared);

}  // namespace tenfold::graph
