// SPDX-License-Identifier: Apache-2.0
//
// What onnx.hpp declares, in a build without protobuf or without onnx.proto: a clear refusal.
#include "graph/write/onnx.hpp"

namespace tenfold::graph {

bool can_write_onnx() noexcept { return false; }

Result<std::string> write_onnx(const Graph&) {
  return Status(Code::unsupported_op,
                "this Tenfold was built without ONNX (it needs libprotobuf-dev, protobuf-compiler and libonnx-dev)");
}

}  // namespace tenfold::graph
