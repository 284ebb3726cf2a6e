// SPDX-License-Identifier: Apache-2.0
//
// Lowering of arg-reductions, and of the pairs that one kernel runs: the index of an extreme and the extreme itself, of
// one tensor along one axis.
#pragma once

#include "compile/lower.hpp"

namespace tenfold::compiler {

/// core.arg_reduce as one kernel, collapsed; with `extreme` (its partner) a kernel of two outputs: the indices, then
/// the extremes.
Result<Lowered> lower_arg_reduce(const graph::Graph& graph, const graph::Op& arg, const graph::Op* extreme = nullptr);

/// Of an arg-reduction the reduction to that extreme, and the other way round: the first later op over the same value
/// and axis. kNone when there is none.
graph::OpId arg_partner(const graph::Graph& graph, graph::OpId op);

/// Of an op and its arg_partner(), in either order.
Result<Lowered> lower_pair(const graph::Graph& graph, const graph::Op& a, const graph::Op& b);

}  // namespace tenfold::compiler
