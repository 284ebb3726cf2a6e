// SPDX-License-Identifier: Apache-2.0
#include "capi/late_module.hpp"

#include <dlfcn.h>

#include <string_view>

namespace tenfold::capi {

LateModule load_module(const char* file, const char* symbol) {
  void* const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  const void* const door = handle == nullptr ? nullptr : dlsym(handle, symbol);
  if (door == nullptr) {
    const char* const fault = dlerror();
    return {nullptr, fault == nullptr ? "no reason is known" : fault};
  }
  const std::string_view version = *static_cast<const char* const*>(door);
  if (version != TENFOLD_VERSION) return {nullptr, std::string(file) + " is of version " + std::string(version)};
  return {door, {}};
}

}  // namespace tenfold::capi
