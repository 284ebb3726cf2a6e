// SPDX-License-Identifier: Apache-2.0
//
// The judge of graphs: verify() says whether a graph obeys its dialects' rules, infer() completes dtypes and shapes.
// Every rule has a number (docs/rules.md) that its message ends in and a golden test of that name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

/// Checks the whole graph against the op tables and the numbered rules, and sorts its ops topologically (stable: ops
/// that are in a legal order keep it). On failure the graph is unchanged.
Status verify(Graph& graph);

/// Checks how the ops hang together alone (rules graph.G1 to graph.G7), whatever their kinds, and sorts them as
/// verify() does. For graphs with ops that the tables do not have.
Status sort_ops(Graph& graph);

/// Computes dtype, shape and strides of every value from the graph inputs, in topological order. A known dim in the
/// file must agree with the inferred one (shape rules); outputs keep the strides that the file gives where their shape
/// agrees, others become row-major. Values that depend on unknown dims or run-time axes keep kUnknownDim.
Status infer(Graph& graph);

/// The same of one op's outputs, by its inputs as they now stand.
Status infer_op(Graph& graph, const Op& op);

/// Forgets what infer() or the file said of the shapes of all produced values, so that infer() starts from the graph
/// inputs alone; for callers that bind other input shapes.
void forget_shapes(Graph& graph);

/// Axes in [0, rank), ascending. invalid_op with rules reduce.C3 (range) and reduce.C4 (duplicates).
/// `what` names the op for the message.
Result<std::vector<std::int64_t>> normalize_axes(const std::vector<std::int64_t>& axes, int rank,
                                                 const std::string& what);

/// The shape after reducing `axes` (normalized) of `shape`.
Dims reduced_shape(const Dims& shape, const std::vector<std::int64_t>& axes, bool keep_dims);

/// NumPy's multidirectional broadcast of two shapes (kUnknownDim matches anything); nullopt when they do not fit.
std::optional<Dims> broadcast_shapes(const Dims& a, const Dims& b);

/// What a reduction without axes means: oneDNN's is the identity, ONNX's reduces all axes, or with
/// `noop_with_empty_axes` each element alone (so that L1 still takes the absolute value).
enum class EmptyAxes : std::uint8_t { identity, all, each };

/// ONNX's elementwise ops before they broadcast as NumPy does: equal shapes, or `broadcast = 1` along `axis`; PRelu's
/// slope has one element, or one a channel (dim 1).
bool has_legacy_broadcast(const Op& op);

/// What a reduction of any dialect says of its axes.
struct AxesFacts {
  std::optional<std::vector<std::int64_t>> axes;  ///< as written; nullopt: a tensor that is known at run time only
  bool keep_dims = false;
  EmptyAxes empty = EmptyAxes::identity;
};

/// `op` is a reduction (not an arg-reduction) that obeys the rules.
Result<AxesFacts> axes_facts(const Graph& graph, const Op& op);

/// The axes, in [0, rank) and ascending, that a softmax, a norm over dims or a global pool of either dialect reduces
/// in its first input: ONNX's Softmax and its kin flatten all dims from `axis` on below version 13. invalid_op with
/// reduce.C3 or reduce.C4. Not for norms over groups.
Result<std::vector<std::int64_t>> norm_axes(const Op& op, std::size_t rank);

/// How windows slide over the spatial dims of a convolution or pool, as far as the op's shapes are known: one entry a
/// spatial dim in each list, pads as auto_pad sets them. Of backward and transposed ops, those of the forward op.
struct WindowFacts {
  std::vector<std::int64_t> kernel, strides, dilations;
  std::vector<std::int64_t> pads_begin, pads_end;  ///< may be negative: elements are left out
  std::vector<std::int64_t> output_padding;
  std::int64_t groups = 1;
};
/// `op` is one of oneDNN's convolutions or pools, or of their backward ops, with ranked inputs, that obeys the rules.
Result<WindowFacts> window_facts(const Graph& graph, const Op& op);

/// The s32 or s64 elements of a constant 1-D (or rank 0) value, such as an axes tensor.
Result<std::vector<std::int64_t>> constant_integers(const Value& value);

}  // namespace tenfold::graph
