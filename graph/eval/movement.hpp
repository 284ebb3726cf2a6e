// SPDX-License-Identifier: Apache-2.0
//
// Ops that only move elements: rows of composite.cpp. Lists of integers that are inputs are read when the op runs.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/eval/composite.hpp"

namespace tenfold::graph {

// The elements in the same order under another shape: Reshape, Squeeze, Unsqueeze, Flatten.
Result<std::vector<Dims>> reshape_shapes(const Op& op, Inputs inputs);
Status evaluate_reshape(const Op& op, Inputs inputs, Outputs outputs);
Result<std::vector<Bounds>> bound_reshape(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                          Outputs outputs);

// Elements at regular places of the input: Transpose, Expand, Slice, Split.
Result<std::vector<Dims>> view_shapes(const Op& op, Inputs inputs);
Status evaluate_view(const Op& op, Inputs inputs, Outputs outputs);
Result<std::vector<Bounds>> bound_view(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                       Outputs outputs);

Result<std::vector<Dims>> concat_shapes(const Op& op, Inputs inputs);
Status evaluate_concat(const Op& op, Inputs inputs, Outputs outputs);
Result<std::vector<Bounds>> bound_concat(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                         Outputs outputs);

// What depends on the input's shape alone: GenIndex, Shape, Size.
Result<std::vector<Dims>> shape_op_shapes(const Op& op, Inputs inputs);
Status evaluate_shape_op(const Op& op, Inputs inputs, Outputs outputs);
Result<std::vector<Bounds>> bound_shape_op(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                           Outputs outputs);

// Along one axis: CumSum and TopK.
Result<std::vector<Dims>> scan_shapes(const Op& op, Inputs inputs);
Status evaluate_scan(const Op& op, Inputs inputs, Outputs outputs);
Result<std::vector<Bounds>> bound_scan(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                       Outputs outputs);

/// A list of integers that is input `index`; empty when it is left out.
Result<std::vector<std::int64_t>> read_integers(const Op& op, Inputs inputs, std::size_t index);

/// A dim in [0, rank), counted from the end when negative; invalid_op with reduce.C3.
Result<std::size_t> read_axis(const Op& op, std::int64_t axis, std::size_t rank);

}  // namespace tenfold::graph
