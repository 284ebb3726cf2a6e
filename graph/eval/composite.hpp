// SPDX-License-Identifier: Apache-2.0
//
// Ops that the evaluator computes by code of their own, often with several outputs: softmax, norms, ... They are rows
// of the table in composite.cpp. Decompositions of these ops into core ops are tested against this code, which
// therefore shares nothing with them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "graph/eval/eval.hpp"
#include "graph/eval/op_rows.hpp"
#include "graph/eval/run.hpp"

namespace tenfold::graph {

/// What an op is handed. An input that is left out is missing (is_missing()) or beyond the end.
using Inputs = std::span<const ConstTensor>;
using Outputs = std::span<const MutableTensor>;

struct CompositeRow {
  Dialect dialect;
  std::string_view kind;
  /// The shapes of all outputs that the op can have, by inputs that may be of any number and shape; it refuses those
  /// that the other two functions are not made for.
  Result<std::vector<Dims>> (*shapes)(const Op& op, Inputs inputs);
  /// There is at least one output; all have the shapes above.
  Status (*evaluate)(const Op& op, Inputs inputs, Outputs outputs);
  /// By how much the op's decomposition, compiled, may differ from `outputs`: one list an output, each empty (exact) or
  /// with one bound an element in row-major order. `input_bounds` are those of the inputs' elements before they were
  /// stored; stored_bound() makes them what counts.
  Result<std::vector<Bounds>> (*bounds)(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                        Outputs outputs);
};

/// Null when the op has no code of its own.
const CompositeRow* find_composite(const Op& op) noexcept;

/// evaluate_op() of such an op, once its tensors are known to be sound.
Status evaluate_composite(const CompositeRow& row, const Op& op, Inputs inputs, Outputs outputs);

/// Whether input `index` is there.
bool has_input(Inputs inputs, std::size_t index) noexcept;

}  // namespace tenfold::graph
