// SPDX-License-Identifier: Apache-2.0
//
// Heavy ops: those whose cost is arithmetic (MatMul, ...), which no kernel of ours runs. What of them oneDNN takes
// becomes a call of it; matmul.cpp and its like say each op in the terms of onednn/spec.hpp.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "compile/lower/operand_source.hpp"
#include "compile/lower/strided.hpp"
#include "graph/ir/graph.hpp"
#include "onednn/call.hpp"
#include "target/target.hpp"
#include "tenfold/status.hpp"

namespace tenfold::compiler {

/// A spec and where its operands are.
struct HeavySource {
  onednn::HeavySpec spec;
  std::vector<OperandSource> inputs, outputs;

  /// One that lies where `walk` says, and is `desc` in the spec.
  void add_input(const StridedWalk& walk, TensorDesc desc);
  /// The first two inputs in the other order.
  void swap_operands();
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

/// A heavy op in oneDNN's terms: a row of the table in heavy.cpp.
struct HeavyRow {
  static constexpr int kOutput = 3, kNowhere = 4;

  std::string_view kind;
  /// The op's family.
  Result<HeavySource> (*source)(const graph::Graph& graph, const graph::Op& op, const HeavyRow& row,
                                std::span<const graph::OpId> through);
  onednn::Kind as;
  std::size_t inputs;       ///< how many of the op's are operands; a bias comes besides
  int weights = kNowhere;   ///< which operand are the weights of windows, the output being kOutput
  bool transposed = false;  ///< the formats of a transposed convolution
  bool swapped = false;     ///< the spec has the op's two operands the other way round
  std::size_t first = 0;    ///< the op's inputs before it are no operands
};

/// Sources of the families of ops.
Result<HeavySource> matmul_source(const graph::Graph& graph, const graph::Op& op, const HeavyRow& row,
                                  std::span<const graph::OpId> through);
Result<HeavySource> windows_source(const graph::Graph& graph, const graph::Op& op, const HeavyRow& row,
                                   std::span<const graph::OpId> through);

/// Completes the spec of an Interpolate or its backward op; unsupported_* where oneDNN resamples otherwise.
Status settle_resampling(const graph::Op& op, onednn::HeavySpec& spec);

}  // namespace tenfold::compiler
