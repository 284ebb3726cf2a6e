// SPDX-License-Identifier: Apache-2.0
//
// Lowering of ops that walk the lines of a tensor along one axis in order: sums so far (core.scan), and the first of
// all elements and their indices (core.top_k). Each is a kernel of its own.
#pragma once

#include "compile/lower/lower.hpp"

namespace tenfold::compiler {

bool is_ordered(const graph::Op& op) noexcept;

/// Of such an op, which is no selection (selection.hpp); of core.top_k the kernel has an output for each place and one
/// for its index. unsupported_*: no kernel.
Result<Lowered> lower_ordered(const graph::Graph& graph, const graph::Op& op);

}  // namespace tenfold::compiler
