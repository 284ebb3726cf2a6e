// SPDX-License-Identifier: Apache-2.0
//
// `run --check`: the reference evaluator on the graph as written, and each output held against its stated bound.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/ir/graph.hpp"
#include "tenfold/compiled_partition.hpp"
#include "tenfold/status.hpp"
#include "tools/tensor.hpp"

namespace tenfold::tools {

/// How one output fared.
struct Comparison {
  TensorId id = 0;
  std::int64_t elements = 0;
  std::int64_t outside = 0;        ///< elements that do not agree
  double greatest_difference = 0;  ///< among elements that are finite on both sides
  double greatest_bound = 0;       ///< the widest that an element has; infinite where one has none
  std::int64_t unbounded = 0;      ///< elements that nothing is stated of, which agree whatever they are
  std::string first_outside;       ///< "[3, 0]: got 1.5, expected 1.25 within 1e-6"
};

/// What the reference evaluator makes of a graph, and how far each element may be from it.
struct Expected {
  std::vector<Tensor> outputs;
  std::vector<std::vector<double>> bounds;  ///< by output, row-major; an empty vector: all 0
};

/// Evaluates `graph` (verified) on inputs of the shapes that were run; outputs get the final descs `output_infos`.
Result<Expected> evaluate_expected(graph::Graph graph, std::span<const TensorInfo> input_infos,
                                   std::span<const Tensor* const> inputs, std::span<const TensorInfo> output_infos);

/// Holds what a partition made against it.
std::vector<Comparison> compare_outputs(const Expected& expected, std::span<const TensorInfo> output_infos,
                                        std::span<const Tensor> outputs);

}  // namespace tenfold::tools
