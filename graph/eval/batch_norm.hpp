// SPDX-License-Identifier: Apache-2.0
//
// Batch norms in training, forward and backward: rows of composite.cpp. (With given stats, it is a norm like others.)
#pragma once

#include "graph/eval/composite.hpp"

namespace tenfold::graph {

Result<std::vector<Dims>> batch_norm_shapes(const Op& op, Inputs inputs);
Status evaluate_batch_norm(const Op& op, Inputs inputs, Outputs outputs);
Result<std::vector<Bounds>> bound_batch_norm(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                             Outputs outputs);

}  // namespace tenfold::graph
