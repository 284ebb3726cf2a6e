// SPDX-License-Identifier: Apache-2.0
//
// Lowering of arg-reductions, and of the pairs that one kernel runs: the index of an extreme and the extreme itself, of
// one tensor along one axis.
#pragma once

#include "compile/lower/lower.hpp"

namespace tenfold::compiler {

/// core.arg_reduce as one kernel, collapsed; with `extreme` (the other of a pair) a kernel of two outputs: the indices,
/// then the extremes.
Result<Lowered> lower_arg_reduce(const graph::Graph& graph, const graph::Op& arg, const graph::Op* extreme = nullptr);

/// Whether one is an arg-reduction and the other the reduction to that extreme, of the same value along the same axis.
bool is_arg_pair(const graph::Graph& graph, const graph::Op& a, const graph::Op& b);

/// Of such a pair, in either order.
Result<Lowered> lower_pair(const graph::Graph& graph, const graph::Op& a, const graph::Op& b);

}  // namespace tenfold::compiler
