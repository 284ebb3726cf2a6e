// SPDX-License-Identifier: Apache-2.0
//
// Convolutions, transposed ones, and their backward ops: rows of composite.cpp.
#pragma once

#include "graph/eval/composite.hpp"

namespace tenfold::graph {

Result<std::vector<Dims>> convolution_shapes(const Op& op, Inputs inputs);
Status evaluate_convolution(const Op& op, Inputs inputs, Outputs outputs);
Result<std::vector<Bounds>> bound_convolution(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                              Outputs outputs);

}  // namespace tenfold::graph
