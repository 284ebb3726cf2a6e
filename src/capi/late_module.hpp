// SPDX-License-Identifier: Apache-2.0
//
// Modules that libtenfold.so loads when they are first needed (tenfold_late_module() in cmake/TenfoldRoom.cmake makes
// them): what few programs need of another library does not come with it.
#pragma once

#include <string>

namespace tenfold::capi {

struct LateModule {
  const void* door = nullptr;  ///< the module's one symbol; null where it cannot be loaded
  std::string fault;           ///< why not
};

/// Loads `file`, which lies beside libtenfold.so, and is never closed. Its door `symbol` begins with the version of
/// Tenfold that it is of, a const char*; another than this library's is a fault.
LateModule load_module(const char* file, const char* symbol);

}  // namespace tenfold::capi
