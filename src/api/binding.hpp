// SPDX-License-Identifier: Apache-2.0
//
// What stands between a graph as the user gave it and one that can be compiled: the caller's input shapes are bound,
// and graph inputs that hold run-time axes are found. Works on copies of the IR; compiles nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/ir/graph.hpp"
#include "tenfold/graph_builder.hpp"
#include "tenfold/status.hpp"
#include "tenfold/tensor.hpp"

namespace tenfold::api {

/// Values such as a graph's inputs for messages: "0 (f32 [4, 8]), 3 (s32 [1])".
std::string values_text(const graph::Graph& graph, const std::vector<graph::ValueId>& places);

/// Replaces the shapes of graph inputs. When one really changes, the shapes of everything that ops produce are
/// forgotten, so that infer() works them out again instead of finding them in contradiction.
Status bind_input_shapes(graph::Graph& graph, const std::vector<std::pair<TensorId, Dims>>& shapes);

/// invalid_shape naming every graph input that still has unknown dims.
Status require_known_inputs(const graph::Graph& graph);

/// A graph input whose elements decide shapes: axes of reductions, a shape to expand to, starts and ends of a slice.
struct ShapeInput {
  TensorId id = 0;
  std::size_t input = 0;  ///< index into the partition's inputs
  DType dtype = DType::s32;
  std::int64_t count = 0;
  std::int64_t stride = 1;  ///< in elements
};

/// Those of `core`, which is `bound` after the pipeline, that are still not constant, by the op tables
/// (`decides_shape`). unsupported_op when another op computes one.
Result<std::vector<ShapeInput>> find_shape_inputs(const graph::Graph& core, const graph::Graph& bound);

/// Turns these inputs of `bound` into constants. `values` holds the elements of all of them, one after another.
void fix_shape_inputs(graph::Graph& bound, std::span<const ShapeInput> inputs, std::span<const std::int64_t> values);

}  // namespace tenfold::api
