// SPDX-License-Identifier: Apache-2.0
//
// The reference evaluator: straightforward, in double or wide integers, written from the op documents and sharing no
// code with the JIT. It is the oracle of every numeric test and the fallback for what is not compiled.
#pragma once

#include <cstddef>
#include <span>

#include "graph/ir/graph.hpp"
#include "tenfold/status.hpp"
#include "tenfold/tensor.hpp"

namespace tenfold::graph {

/// A tensor in memory. `data` points at element [0, 0, ...].
struct ConstTensor {
  TensorDesc desc;
  const void* data = nullptr;
};
struct MutableTensor {
  TensorDesc desc;
  void* data = nullptr;
};

/// True when evaluate_op() knows the op.
bool can_evaluate(const Op& op) noexcept;

/// Evaluates one op, of a dialect or core. Inputs and outputs in the op's order, with final shapes; an optional input
/// that is left out is a tensor of dtype `undef`.
Status evaluate_op(const Op& op, std::span<const ConstTensor> inputs, std::span<const MutableTensor> outputs);

/// Evaluates a whole verified and inferred graph: `inputs` in the order of Graph::inputs, `outputs` in that of
/// Graph::outputs. Run-time axes are honoured: the outputs' descs must already have the final shapes.
Status evaluate(const Graph& graph, std::span<const ConstTensor> inputs, std::span<const MutableTensor> outputs);

/// One element to and from double, and to and from integers; conversions round to nearest even, once, and every NaN
/// that is stored is the canonical quiet one (f32 0x7fc00000, bf16 0x7fc0, f16 0x7e00).
double load_real(DType dtype, const void* data, std::int64_t index);
void store_real(DType dtype, void* data, std::int64_t index, double value);

}  // namespace tenfold::graph
