// SPDX-License-Identifier: Apache-2.0
//
// The room's door where Tenfold is built without oneDNN: every spec is refused, so every heavy op runs on the reference
// evaluator.
#include "onednn/call.hpp"

namespace tenfold::onednn {

Result<std::shared_ptr<const HeavyCall>> make_call(const HeavySpec&) {
  return Status(Code::unsupported_op, "built without oneDNN (libdnnl-dev)");
}

std::string library_version() { return {}; }

}  // namespace tenfold::onednn
