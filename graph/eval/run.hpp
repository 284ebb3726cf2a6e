// SPDX-License-Identifier: Apache-2.0
//
// The run of a graph, op after op, with or without the error bounds of every value alongside.
#pragma once

#include <span>
#include <vector>

#include "graph/eval/eval.hpp"

namespace tenfold::graph {

/// Bounds by element in row-major order; empty means exact.
using Bounds = std::vector<double>;

/// evaluate(); with `bounds` not null, also the bound of each output (evaluate_with_bounds).
Status run_graph(const Graph& graph, std::span<const ConstTensor> inputs, std::span<const MutableTensor> outputs,
                 std::vector<Bounds>* bounds);

/// By how much a compiled op's results may differ from the reference's, before the last rounding, when its inputs may
/// differ by `input_bounds`: the bounds of each output. The op must have been evaluated to `outputs`, so that its
/// shapes are known to fit.
Result<std::vector<Bounds>> bound_op(const Op& op, std::span<const ConstTensor> inputs,
                                     std::span<const Bounds> input_bounds, std::span<const MutableTensor> outputs);

/// Each element is what the reference has.
bool is_exact(const Bounds& bounds);

/// By how much the stored element may be off: its bound before rounding and both sides' roundings. Values without a
/// bound are equal bit by bit.
double stored_bound(const Bounds& bounds, std::int64_t position, DType dtype, double value);

}  // namespace tenfold::graph
