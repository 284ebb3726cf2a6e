// SPDX-License-Identifier: Apache-2.0
//
// The room's door as libtenfold.so has it: the first heavy op loads the module that is linked to oneDNN. To load oneDNN
// with libtenfold.so would take longer than all else that comes with it, and few graphs have heavy ops.
#include <dlfcn.h>

#include <string_view>

#include "onednn/door.hpp"

namespace tenfold::onednn {
namespace {

struct Module {
  const Door* door = nullptr;
  std::string fault;  ///< why there is none
};

/// The module is never closed: calls hold its code.
Module load() {
  void* const handle = dlopen(TENFOLD_MODULE, RTLD_NOW | RTLD_LOCAL);
  const void* const symbol = handle == nullptr ? nullptr : dlsym(handle, kDoorSymbol);
  if (symbol == nullptr) {
    const char* const fault = dlerror();
    return {nullptr, fault == nullptr ? "no reason is known" : fault};
  }
  const Door* const door = static_cast<const Door*>(symbol);
  if (std::string_view(door->version) != TENFOLD_VERSION)
    return {nullptr, std::string(TENFOLD_MODULE " is of version ") + door->version};
  return {door, {}};
}

const Module& module() {
  static const Module loaded = load();
  return loaded;
}

}  // namespace

Result<std::shared_ptr<const HeavyCall>> make_call(const HeavySpec& spec) {
  if (module().door == nullptr) return Status(Code::unsupported_op, "oneDNN cannot be loaded: " + module().fault);
  return module().door->make_call(spec);
}

std::string library_version() { return module().door == nullptr ? std::string() : module().door->library_version(); }

}  // namespace tenfold::onednn
