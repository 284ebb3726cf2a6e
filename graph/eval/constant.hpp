// SPDX-License-Identifier: Apache-2.0
//
// onnx.Constant, where a graph file has it as an op: a row of composite.cpp.
#pragma once

#include "graph/eval/composite.hpp"

namespace tenfold::graph {

Result<std::vector<Dims>> constant_shapes(const Op& op, Inputs inputs);
Status evaluate_constant(const Op& op, Inputs inputs, Outputs outputs);
Result<std::vector<Bounds>> bound_constant(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                           Outputs outputs);

}  // namespace tenfold::graph
