// SPDX-License-Identifier: Apache-2.0
//
// Interpolate and its backward op: rows of composite.cpp.
#pragma once

#include "graph/eval/composite.hpp"

namespace tenfold::graph {

Result<std::vector<Dims>> interpolate_shapes(const Op& op, Inputs inputs);
Status evaluate_interpolate(const Op& op, Inputs inputs, Outputs outputs);
Result<std::vector<Bounds>> bound_interpolate(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                              Outputs outputs);

}  // namespace tenfold::graph
