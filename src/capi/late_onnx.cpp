// SPDX-License-Identifier: Apache-2.0
//
// What graph/read/onnx.hpp declares, as libtenfold.so has it: the first model loads the module that is linked to
// protobuf. To load protobuf with libtenfold.so would cost every program that reads none.
#include <atomic>

#include "capi/late_module.hpp"
#include "graph/read/onnx_door.hpp"
#include "target/fork.hpp"

namespace tenfold::graph {
namespace {

const capi::LateModule& module() {
  static std::atomic<const capi::LateModule*> loaded;
  return target::one_of_process(loaded, [] { return capi::load_module(TENFOLD_MODULE, kOnnxDoorSymbol); });
}

const OnnxDoor* door() { return static_cast<const OnnxDoor*>(module().door); }

Status absent() { return Status(Code::unsupported_op, "ONNX's reader cannot be loaded: " + module().fault); }

}  // namespace

bool can_read_onnx() noexcept { return door() != nullptr; }

Result<Graph> read_onnx(std::string_view bytes, const OnnxOptions& options) {
  return can_read_onnx() ? door()->read_onnx(bytes, options) : absent();
}

Result<Value> read_onnx_tensor(std::string_view bytes, const OnnxOptions& options) {
  return can_read_onnx() ? door()->read_onnx_tensor(bytes, options) : absent();
}

Result<std::vector<std::string>> onnx_op_types(std::string_view bytes, const OnnxOptions& options) {
  return can_read_onnx() ? door()->onnx_op_types(bytes, options) : absent();
}

}  // namespace tenfold::graph
