// SPDX-License-Identifier: Apache-2.0
//
// What graph/read/onnx.hpp declares, as libtenfold.so has it: the first model loads the module that is linked to
// protobuf. To load protobuf with libtenfold.so would cost every program that reads none.
#include <atomic>
#include <new>

#include "capi/late_module.hpp"
#include "graph/read/onnx_door.hpp"

namespace tenfold::graph {
namespace {

capi::LateModule module() {
  static std::atomic<const capi::LateModule*> kept;
  return capi::late_module(kept, TENFOLD_MODULE, kOnnxDoorSymbol);
}

/// What `function` of the reader gives.
template <class Read>
Result<Read> ask(Result<Read> (*OnnxDoor::*function)(std::string_view, const OnnxOptions&), std::string_view bytes,
                 const OnnxOptions& options) {
  const capi::LateModule loaded = module();
  if (loaded.door == nullptr) return Status(Code::unsupported_op, "ONNX's reader cannot be loaded: " + loaded.fault);
  return (static_cast<const OnnxDoor*>(loaded.door)->*function)(bytes, options);
}

}  // namespace

bool can_read_onnx() noexcept {
  try {
    return module().door != nullptr;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

Result<Graph> read_onnx(std::string_view bytes, const OnnxOptions& options) {
  return ask(&OnnxDoor::read_onnx, bytes, options);
}

Result<Value> read_onnx_tensor(std::string_view bytes, const OnnxOptions& options) {
  return ask(&OnnxDoor::read_onnx_tensor, bytes, options);
}

Result<std::vector<std::string>> onnx_op_types(std::string_view bytes, const OnnxOptions& options) {
  return ask(&OnnxDoor::onnx_op_types, bytes, options);
}

}  // namespace tenfold::graph
