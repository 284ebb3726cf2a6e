// SPDX-License-Identifier: Apache-2.0
//
// The last line of defence of the public API: what std containers or third-party code throw becomes a Status here.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "tenfold/status.hpp"

namespace tenfold::api {

/// Short enough to need no memory.
inline Status out_of_memory() noexcept { return Status(Code::out_of_memory, "out of memory"); }

/// There may be no memory for the text either.
inline Status unexpected(const char* what) noexcept {
  try {
    return Status(Code::internal_error, "unexpected exception" + (what == nullptr ? "" : std::string(": ") + what));
  } catch (...) {
    return out_of_memory();
  }
}

/// What `function` returns (a Status or a Result), or the Status that an exception stands for.
template <class Function>
auto guarded(Function&& function) noexcept -> decltype(function()) {
  try {
    return std::forward<Function>(function)();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::exception& error) {
    return unexpected(error.what());
  } catch (...) {
    return unexpected(nullptr);
  }
}

}  // namespace tenfold::api
