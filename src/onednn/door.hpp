// SPDX-License-Identifier: Apache-2.0
//
// What the module libtenfold_onednn.so shows to libtenfold.so: the functions of call.hpp, with the version that both
// must be of, as C++ types pass between them. Not a door for other rooms.
#pragma once

#include "onednn/call.hpp"

namespace tenfold::onednn {

struct Door {
  const char* version;  ///< Tenfold's
  decltype(&onednn::make_call) make_call;
  decltype(&onednn::library_version) library_version;
};

/// The module's one symbol, a Door.
inline constexpr char kDoorSymbol[] = "tenfold_onednn_door";

}  // namespace tenfold::onednn
