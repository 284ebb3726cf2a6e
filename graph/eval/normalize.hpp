// SPDX-License-Identifier: Apache-2.0
//
// Norms of both dialects, LayerNorm's backward op and global pools: rows of composite.cpp.
#pragma once

#include "graph/eval/composite.hpp"

namespace tenfold::graph {

Result<std::vector<Dims>> norm_shapes(const Op& op, Inputs inputs);
Status evaluate_norm(const Op& op, Inputs inputs, Outputs outputs);
Result<std::vector<Bounds>> bound_norm(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                       Outputs outputs);

Result<std::vector<Dims>> norm_backward_shapes(const Op& op, Inputs inputs);
Status evaluate_norm_backward(const Op& op, Inputs inputs, Outputs outputs);
Result<std::vector<Bounds>> bound_norm_backward(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                                Outputs outputs);

Result<std::vector<Dims>> global_pool_shapes(const Op& op, Inputs inputs);
Status evaluate_global_pool(const Op& op, Inputs inputs, Outputs outputs);
Result<std::vector<Bounds>> bound_global_pool(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                              Outputs outputs);

}  // namespace tenfold::graph
