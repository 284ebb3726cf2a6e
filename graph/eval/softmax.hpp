// SPDX-License-Identifier: Apache-2.0
//
// Softmax of both dialects, its logarithm, their backward ops, and Hardmax: rows of composite.cpp.
#pragma once

#include "graph/eval/composite.hpp"

namespace tenfold::graph {

Result<std::vector<Dims>> softmax_shapes(const Op& op, Inputs inputs);
Status evaluate_softmax(const Op& op, Inputs inputs, Outputs outputs);
Result<std::vector<Bounds>> bound_softmax(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                          Outputs outputs);

Status evaluate_hardmax(const Op& op, Inputs inputs, Outputs outputs);
Result<std::vector<Bounds>> bound_hardmax(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                          Outputs outputs);

Result<std::vector<Dims>> softmax_backward_shapes(const Op& op, Inputs inputs);
Status evaluate_softmax_backward(const Op& op, Inputs inputs, Outputs outputs);
Result<std::vector<Bounds>> bound_softmax_backward(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                                   Outputs outputs);

}  // namespace tenfold::graph
