// SPDX-License-Identifier: Apache-2.0
//
// What onednn/call.hpp declares, as libtenfold.so has it: the first heavy op loads the module that is linked to oneDNN.
// To load oneDNN with libtenfold.so would take longer than all else that comes with it, and few graphs have heavy ops.
#include <atomic>

#include "capi/late_module.hpp"
#include "onednn/door.hpp"

namespace tenfold::onednn {
namespace {

capi::LateModule module() {
  static std::atomic<const capi::LateModule*> kept;
  return capi::late_module(kept, TENFOLD_MODULE, kDoorSymbol);
}

const Door* door_of(const capi::LateModule& module) { return static_cast<const Door*>(module.door); }

}  // namespace

Result<std::shared_ptr<const HeavyCall>> make_call(const HeavySpec& spec) {
  const capi::LateModule loaded = module();
  if (loaded.door == nullptr) return Status(Code::unsupported_op, "oneDNN cannot be loaded: " + loaded.fault);
  return door_of(loaded)->make_call(spec);
}

std::string library_version() {
  const capi::LateModule loaded = module();
  return loaded.door == nullptr ? std::string() : door_of(loaded)->library_version();
}

}  // namespace tenfold::onednn
