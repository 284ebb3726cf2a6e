// SPDX-License-Identifier: Apache-2.0
//
// oneDNN's backward ops of elementwise ops: rows of composite.cpp.
#pragma once

#include "graph/eval/composite.hpp"

namespace tenfold::graph {

Result<std::vector<Dims>> backward_shapes(const Op& op, Inputs inputs);
Status evaluate_backward(const Op& op, Inputs inputs, Outputs outputs);
Result<std::vector<Bounds>> bound_backward(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                           Outputs outputs);

// The two that sum: PReLUBackward by its slope, BiasAddBackward.
Result<std::vector<Dims>> summing_backward_shapes(const Op& op, Inputs inputs);
Status evaluate_summing_backward(const Op& op, Inputs inputs, Outputs outputs);
Result<std::vector<Bounds>> bound_summing_backward(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                                   Outputs outputs);

}  // namespace tenfold::graph
