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

/// What `function` returns (a Status or a Result), or the Status that an exception stands for.
template <class Function>
auto guarded(Function&& function) noexcept -> decltype(function()) {
  try {
    return std::forward<Function>(function)();
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory, "out of memory");
  } catch (const std::exception& error) {
    return Status(Code::internal_error, std::string("unexpected exception: ") + error.what());
  } catch (...) {
    return Status(Code::internal_error, "unexpected exception");
  }
}

}  // namespace tenfold::api
