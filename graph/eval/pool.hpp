// SPDX-License-Identifier: Apache-2.0
//
// Pools and their backward ops: rows of composite.cpp.
#pragma once

#include "graph/eval/composite.hpp"

namespace tenfold::graph {

Result<std::vector<Dims>> pool_shapes(const Op& op, Inputs inputs);
Status evaluate_average_pool(const Op& op, Inputs inputs, Outputs outputs);
Status evaluate_max_pool(const Op& op, Inputs inputs, Outputs outputs);
Result<std::vector<Bounds>> bound_average_pool(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                               Outputs outputs);
Result<std::vector<Bounds>> bound_max_pool(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                           Outputs outputs);

}  // namespace tenfold::graph
