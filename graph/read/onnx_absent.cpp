// SPDX-License-Identifier: Apache-2.0
//
// What onnx.hpp declares, in a build without protobuf or without onnx.proto: a clear refusal.
#include "graph/read/onnx.hpp"

namespace tenfold::graph {
namespace {

Status absent() {
  return Status(Code::unsupported_op,
                "this Tenfold was built without ONNX (it needs libprotobuf-dev, protobuf-compiler and libonnx-dev)");
}

}  // namespace

bool can_read_onnx() noexcept { return false; }

Result<Graph> read_onnx(std::string_view, const OnnxOptions&) { return absent(); }

Result<Value> read_onnx_tensor(std::string_view, const OnnxOptions&) { return absent(); }

Result<std::vector<std::string>> onnx_op_types(std::string_view, const OnnxOptions&) { return absent(); }

}  // namespace tenfold::graph
