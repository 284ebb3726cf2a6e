// SPDX-License-Identifier: Apache-2.0
//
// Who else could do a case's work: oneDNN's primitive, and plain C++ loops.
#pragma once

#include <span>
#include <vector>

#include "graph/ir/graph.hpp"
#include "tenfold/status.hpp"
#include "tenfold/tensor.hpp"
#include "tools/bench/case.hpp"
#include "tools/bench/measure.hpp"

namespace tenfold::tools::bench {

struct RivalCase {
  const Case* what = nullptr;
  TensorDesc in;
  Dims kept_shape;  ///< with reduced dims kept as 1
  const void* data = nullptr;
  void* out = nullptr;  ///< as large as the first output of ours
};

/// oneDNN's reduction primitive; unsupported_op with the reason when it is not installed or refuses the case.
Result<Contender> onednn_reduction(const RivalCase& rival);

struct OpRival {
  const Case* what = nullptr;
  const graph::Graph* graph = nullptr;
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
};

/// oneDNN's softmax for a graph that is one SoftMax or LogSoftmax; unsupported_op with the reason for others.
Result<Contender> onednn_op(const OpRival& rival);

/// The plain loops, as the language asks and with -ffast-math; unsupported_op for what they are not written for.
Result<std::vector<Contender>> plain_loops(const RivalCase& rival);

}  // namespace tenfold::tools::bench
