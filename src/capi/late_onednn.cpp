// SPDX-License-Identifier: Apache-2.0
//
// What onednn/call.hpp declares, as libtenfold.so has it: the first heavy op loads the module that is linked to oneDNN.
// To load oneDNN with libtenfold.so would take longer than all else that comes with it, and few graphs have heavy ops.
#include <atomic>

#include "capi/late_module.hpp"
#include "onednn/door.hpp"
#include "target/fork.hpp"

namespace tenfold::onednn {
namespace {

const capi::LateModule& module() {
  static std::atomic<const capi::LateModule*> loaded;
  return target::one_of_process(loaded, [] { return capi::load_module(TENFOLD_MODULE, kDoorSymbol); });
}

const Door* door() { return static_cast<const Door*>(module().door); }

}  // namespace

Result<std::shared_ptr<const HeavyCall>> make_call(const HeavySpec& spec) {
  if (door() == nullptr) return Status(Code::unsupported_op, "oneDNN cannot be loaded: " + module().fault);
  return door()->make_call(spec);
}

std::string library_version() { return door() == nullptr ? std::string() : door()->library_version(); }

}  // namespace tenfold::onednn
