// SPDX-License-Identifier: Apache-2.0
//
// What onnx.hpp declares, as libtenfold.so has it: the first model loads the module that is linked to protobuf. To load
// protobuf with libtenfold.so would cost every program that reads none.
#include <dlfcn.h>

#include "graph/read/onnx_door.hpp"

namespace tenfold::graph {
namespace {

struct Module {
  const OnnxDoor* door = nullptr;
  std::string fault;  ///< why there is none
};

/// The module is never closed.
Module load() {
  void* const handle = dlopen(TENFOLD_MODULE, RTLD_NOW | RTLD_LOCAL);
  const void* const symbol = handle == nullptr ? nullptr : dlsym(handle, kOnnxDoorSymbol);
  if (symbol == nullptr) {
    const char* const fault = dlerror();
    return {nullptr, fault == nullptr ? "no reason is known" : fault};
  }
  const OnnxDoor* const door = static_cast<const OnnxDoor*>(symbol);
  if (std::string_view(door->version) != TENFOLD_VERSION)
    return {nullptr, std::string(TENFOLD_MODULE " is of version ") + door->version};
  return {door, {}};
}

const Module& module() {
  static const Module loaded = load();
  return loaded;
}

Status absent() { return Status(Code::unsupported_op, "ONNX's reader cannot be loaded: " + module().fault); }

}  // namespace

bool can_read_onnx() noexcept { return module().door != nullptr; }

Result<Graph> read_onnx(std::string_view bytes, const OnnxOptions& options) {
  return can_read_onnx() ? module().door->read_onnx(bytes, options) : absent();
}

Result<Value> read_onnx_tensor(std::string_view bytes, const OnnxOptions& options) {
  return can_read_onnx() ? module().door->read_onnx_tensor(bytes, options) : absent();
}

Result<std::vector<std::string>> onnx_op_types(std::string_view bytes, const OnnxOptions& options) {
  return can_read_onnx() ? module().door->onnx_op_types(bytes, options) : absent();
}

}  // namespace tenfold::graph
