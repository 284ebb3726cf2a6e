// SPDX-License-Identifier: Apache-2.0
//
// Memory for what a partition writes: asked for when its inputs are there, as their values may decide shapes.
#pragma once

#include <span>
#include <vector>

#include "tenfold/compiled_partition.hpp"
#include "tenfold/status.hpp"
#include "tools/tensor.hpp"

namespace tenfold::tools {

/// make_tensor() for each.
Result<std::vector<Tensor>> make_tensors(std::span<const TensorInfo> infos);

struct Outputs {
  std::vector<TensorInfo> infos;
  std::vector<Tensor> tensors;
  std::vector<void*> addresses;  ///< of the tensors
};

/// The outputs of `partition` for these inputs, not yet written.
Result<Outputs> make_outputs(const CompiledPartition& partition, const std::vector<const void*>& inputs);

/// Runs it; adds nothing to what that takes.
Status execute(const CompiledPartition& partition, const std::vector<const void*>& inputs, const Outputs& outputs);

}  // namespace tenfold::tools
