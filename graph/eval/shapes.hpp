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

/// Whether an optional input was left out: it has no dtype, shape or data.
inline bool is_missing(const ConstTensor& tensor) noexcept { return tensor.desc.dtype == DType::undef; }

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

/// Axes from the attribute or from the second input; `axis` for an op that has just one. invalid_op with reduce.C3 or
/// reduce.C4 for bad ones. No axes at all mean the identity in oneDNN's dialect and in core. In ONNX, and for a core op
/// that carries `noop_with_empty_axes`, they mean all axes, or under that flag each element as a set of its own.
Result<ReducePlan> plan_reduce(const Op& op, std::span<const ConstTensor> inputs);

Result<ReducePlan> plan_arg_reduce(const Op& op, const ConstTensor& input);

/// NumPy's broadcast of all inputs that are there; under `auto_broadcast = none` their shapes must agree. 1-D channel
/// operands (bias, slope) count as laid along their channel.
Result<Dims> plan_broadcast(const Op& op, const OpRow& row, std::span<const ConstTensor> inputs);

/// Strides of input `index` over the `output` shape, 0 where it is repeated or missing.
Dims broadcast_strides(const Op& op, const OpRow& row, std::span<const ConstTensor> inputs, std::size_t index,
                       const Dims& output);

/// The shapes of the op's outputs, of which there are as many as `declared`. For core.reshape: the attribute `shape`,
/// or the declared one without it.
Result<std::vector<Dims>> output_shapes(const Op& op, std::span<const ConstTensor> inputs,
                                        const std::vector<Dims>& declared);

}  // namespace tenfold::graph
