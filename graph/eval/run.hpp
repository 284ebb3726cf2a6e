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

/// By how much a compiled op's result may differ from the reference's, before the last rounding, when its inputs may
/// differ by `input_bounds`. The op must have been evaluated, so that its shapes are known to fit.
Result<Bounds> bound_op(const Op& op, std::span<const ConstTensor> inputs, std::span<const Bounds> input_bounds);

}  // namespace tenfold::graph
