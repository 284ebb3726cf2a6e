// SPDX-License-Identifier: Apache-2.0
//
// Dropout, a row of composite.cpp.
#pragma once

#include "graph/eval/composite.hpp"

namespace tenfold::graph {

Result<std::vector<Dims>> dropout_shapes(const Op& op, Inputs inputs);
Status evaluate_dropout(const Op& op, Inputs inputs, Outputs outputs);
Result<std::vector<Bounds>> bound_dropout(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                          Outputs outputs);

}  // namespace tenfold::graph
