// SPDX-License-Identifier: Apache-2.0
//
// Ops of ONNX's dialect that oneDNN's has too, under other names and with other attributes: products of matrices,
// convolutions and pools. The judge, the evaluator and the passes each read an ONNX op as its twin, so that each knows
// what a window is but once. What has no place in the twin (Gemm's alpha and beta, MaxPool's indices, where means stop
// to count pads) they read from the op itself.
#pragma once

#include <optional>
#include <span>

#include "graph/ir/graph.hpp"

namespace tenfold::graph {

struct Twin {
  Op op;  ///< of oneDNN's dialect: the same id, name, inputs (none left out at the end) and outputs
  /// It does all that the ONNX op does, whatever dims are not known yet, but for dtypes that oneDNN's op has not and
  /// outputs beyond the first.
  bool is_whole = true;
};

/// `inputs`: the shapes of the op's first two inputs, as far as they are there; dims may be kUnknownDim. What breaks a
/// rule in the op does so in its twin. nullopt: `op` is no such op.
std::optional<Twin> onednn_twin(const Op& op, std::span<const Dims> inputs);

}  // namespace tenfold::graph
