// SPDX-License-Identifier: Apache-2.0
//
// Reader of ONNX models and of single ONNX tensors, from the bytes of their protobuf files. Never opens a file; what a
// model keeps outside itself is asked of the caller. What ops demand is for verify(), as with graph files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

/// The newest operator set of ai.onnx whose ops we know.
inline constexpr std::int64_t kNewestOnnxOpset = 25;

struct OnnxLimits {
  std::size_t bytes = std::size_t{512} << 20;
  std::size_t records = 4'000'000;  ///< messages, strings and lists in the file
  int depth = 64;                   ///< messages within messages
  std::size_t ops = 100'000;
  std::size_t tensors = 400'000;
  std::size_t name = 64 << 10;  ///< bytes of one name
  std::size_t constant_bytes = std::size_t{1} << 30;
};

/// Gives `length` bytes (-1: all that follow) at `offset` of the file `location`, as the model names it.
using ExternalData =
    std::function<Result<std::string>(const std::string& location, std::int64_t offset, std::int64_t length)>;

struct OnnxOptions {
  OnnxLimits limits;
  ExternalData external_data;  ///< null: a model with external data is refused
};

/// Whether the reader was built; without protobuf, all of the functions below are unsupported_op.
bool can_read_onnx() noexcept;

/// The model's graph, connected but not verified: ops of the dialect onnx with the opset that the model imports, ids
/// and inputs and outputs in the model's order, names kept. Initializers and Constant nodes become constants; symbolic
/// dims become kUnknownDim. invalid_file with the byte where the protobuf is broken; invalid_graph, invalid_shape and
/// invalid_dtype for what contradicts itself; unsupported_* for functions, control flow, other domains, opsets and
/// types that are no dense tensors of numbers, each by its name.
Result<Graph> read_onnx(std::string_view bytes, const OnnxOptions& options = {});

/// A serialized TensorProto (the .pb files of ONNX's node tests) as a constant.
Result<Value> read_onnx_tensor(std::string_view bytes, const OnnxOptions& options = {});

/// The distinct op types of the model's graph, in order of first use, whatever else is in it.
Result<std::vector<std::string>> onnx_op_types(std::string_view bytes, const OnnxOptions& options = {});

}  // namespace tenfold::graph
