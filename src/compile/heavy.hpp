// SPDX-License-Identifier: Apache-2.0
//
// Heavy ops: those whose cost is arithmetic (MatMul, ...), which no kernel of ours runs. What of them oneDNN takes
// becomes a call of it; heavy_matmul.cpp and its like say each op in the terms of onednn/spec.hpp.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "graph/ir/graph.hpp"
#include "onednn/call.hpp"
#include "target/target.hpp"
#include "tenfold/status.hpp"

namespace tenfold::compiler {

/// A spec and the values that its operands are.
struct HeavySource {
  onednn::HeavySpec spec;
  std::vector<graph::ValueId> inputs, outputs;
  std::vector<std::int64_t> input_offsets;  ///< bytes from element 0 of it
};

/// A heavy op as it will run.
struct HeavyOp {
  HeavySource source;
  std::shared_ptr<const onednn::HeavyCall> call;
  std::vector<DType> widened;  ///< what operands were before they became f32 on the op's behalf, or were dequantised
};

bool is_heavy(const graph::Op& op) noexcept;

/// The op by oneDNN, its operands read where they lie through the views among `through`. unsupported_* with the reason
/// when the reference evaluator has to run it.
Result<HeavyOp> lower_heavy(const graph::Graph& graph, const graph::Op& op, std::span<const graph::OpId> through,
                            const target::Target& target);

/// Sources of the families of ops.
Result<HeavySource> matmul_source(const graph::Graph& graph, const graph::Op& op, std::span<const graph::OpId> through);
Result<HeavySource> windows_source(const graph::Graph& graph, const graph::Op& op,
                                   std::span<const graph::OpId> through);

/// Completes the spec of an Interpolate or its backward op; unsupported_* where oneDNN resamples otherwise.
Status settle_resampling(const graph::Op& op, onednn::HeavySpec& spec);

}  // namespace tenfold::compiler
