// SPDX-License-Identifier: Apache-2.0
//
// Writer of ONNX models: the counterpart of graph/read/onnx.hpp. It takes ONNX's ops alone; to_onnx() of
// graph/pass/pass.hpp turns what it can of oneDNN's into them.
#pragma once

#include <string>

#include "graph/ir/graph.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

/// Whether the writer was built; without protobuf, write_onnx() is unsupported_op.
bool can_write_onnx() noexcept;

/// The bytes of a model of the verified `graph`, whose ops are all of the dialect onnx and of one opset that is not 0.
/// Values keep their names; those without, or whose name another has, are called after their id. Inputs and constants
/// are listed in the order of their ids, constants as raw_data; those that nobody uses are left out. What a model has
/// no place for is dropped: strides, and keys that we do not know. unsupported_* and invalid_graph by the op's, or the
/// tensor's, name.
Result<std::string> write_onnx(const Graph& graph);

}  // namespace tenfold::graph
