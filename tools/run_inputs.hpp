// SPDX-License-Identifier: Apache-2.0
//
// Inputs of `tenfold run`: which file or shape the user gave for which graph input, and the tensors that follow.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tenfold/compiled_partition.hpp"
#include "tenfold/graph_builder.hpp"
#include "tenfold/status.hpp"
#include "tools/fill.hpp"
#include "tools/tensor.hpp"

namespace tenfold::tools {

/// "4096x1024", and "-" for rank 0; invalid_argument for anything else.
Result<Dims> parse_shape(const std::string& text);

using InputShapes = std::vector<std::pair<TensorId, Dims>>;

/// `--input` and `--shape` after parsing, by tensor id.
struct GivenInputs {
  std::vector<std::pair<TensorId, std::string>> files;
  InputShapes shapes;
};

/// invalid_argument for what is not ID=FILE or ID=AxB, for ids that are no graph input, and for ids given twice; where
/// the graph has names, an input's name may stand for its id. A file for an input whose dims the graph leaves open
/// gives its shape as well, and a dim that has a name gives its size to the others of that name.
/// When an input stays without a shape, that is invalid_argument, too, and the message says how to give it one.
Result<GivenInputs> parse_given_inputs(const graph::Graph& graph, const std::vector<std::string>& inputs,
                                       const std::vector<std::string>& shapes);

/// Gives graph inputs other shapes, dense ones; what ops produce is to be inferred afresh.
void adopt_shapes(graph::Graph& graph, const InputShapes& shapes);

struct FilledInput {
  Tensor tensor;
  std::string source;     ///< the file's name, or how it was filled
  bool is_drawn = false;  ///< rather than read
};

/// The tensors for the partition's inputs, in its order; `is_stopped` as for fill_input().
Result<std::vector<FilledInput>> make_inputs(const graph::Graph& graph, const std::vector<TensorInfo>& infos,
                                             const GivenInputs& given, std::uint64_t seed,
                                             IsStopped is_stopped = nullptr);

}  // namespace tenfold::tools
