// SPDX-License-Identifier: Apache-2.0
//
// Modules that libtenfold.so loads when they are first needed (tenfold_late_module() in cmake/TenfoldRoom.cmake makes
// them): what few programs need of another library does not come with it.
#pragma once

#include <atomic>
#include <string>

namespace tenfold::capi {

struct LateModule {
  const void* door = nullptr;  ///< the module's one symbol; null where it cannot be loaded
  std::string fault;           ///< why not
  bool is_final = true;        ///< false: it may be loaded yet, as when a process has too many files open
};

/// Loads `file`, which lies beside libtenfold.so, and is never closed. Its door `symbol` begins with the version of
/// Tenfold that it is of, a const char*; another than this library's is a fault.
LateModule load_module(const char* file, const char* symbol);

/// The same once for all callers: what is final is found again in `kept`, else loading is tried again.
LateModule late_module(std::atomic<const LateModule*>& kept, const char* file, const char* symbol);

}  // namespace tenfold::capi
