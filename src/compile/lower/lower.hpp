// SPDX-License-Identifier: Apache-2.0
//
// Lowering: a group of core ops with static shapes to one kernel spec. The last place that knows graphs.
#pragma once

#include <span>
#include <vector>

#include "compile/lower/operand_source.hpp"
#include "graph/ir/graph.hpp"
#include "kernel/spec.hpp"
#include "tenfold/status.hpp"

namespace tenfold::compiler {

/// A kernel and the values that its operands are.
struct Lowered {
  kernel::KernelSpec spec;
  std::vector<OperandSource> inputs, outputs;  ///< by operand
};

/// Whether kernels have elements of this dtype: all but those of 4 bits and f8.
bool has_kernels(DType dtype) noexcept;

/// The ops (in topological order) as one kernel that stores `outputs`, collapsed. All reductions among them reduce the
/// same factors of one iteration space; what only some elements of it have (a bias, a mean) repeats. unsupported_* with
/// the reason when no kernel can run them together.
Result<Lowered> lower(const graph::Graph& graph, std::span<const graph::OpId> ops,
                      std::span<const graph::ValueId> outputs);

}  // namespace tenfold::compiler
