// SPDX-License-Identifier: Apache-2.0
//
// Quantization and back, of both dialects: rows of composite.cpp. All maths is in f32, step by step, so that whoever
// takes the same steps has the same bits.
#pragma once

#include "graph/eval/composite.hpp"

namespace tenfold::graph {

Result<std::vector<Dims>> quantize_shapes(const Op& op, Inputs inputs);
Status evaluate_quantize(const Op& op, Inputs inputs, Outputs outputs);
Result<std::vector<Bounds>> bound_quantize(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                           Outputs outputs);

/// onnx.DynamicQuantizeLinear: y, its scale and its zero point.
Result<std::vector<Dims>> dynamic_quantize_shapes(const Op& op, Inputs inputs);
Status evaluate_dynamic_quantize(const Op& op, Inputs inputs, Outputs outputs);
Result<std::vector<Bounds>> bound_dynamic_quantize(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                                   Outputs outputs);

}  // namespace tenfold::graph
