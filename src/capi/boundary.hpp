// SPDX-License-Identifier: Apache-2.0
//
// What every function of the C API passes through: exceptions become statuses, failures leave a message on the thread
// and in the log, and arguments are asked for by name.
#pragma once

#include <initializer_list>
#include <string>

#include "api/guard.hpp"
#include "tenfold/status.hpp"
#include "tenfold/tenfold.h"

namespace tenfold::capi {

/// oneDNN Graph's number for one of our codes.
tenfold_status_t number_of(Code code) noexcept;

/// Keeps the failure for tenfold_last_error(), logs it, and returns its number.
tenfold_status_t fail(const char* function, const Status& status) noexcept;

/// Runs the body of an API function: `body()` returns a Status.
template <class Body>
tenfold_status_t answer(const char* function, Body&& body) noexcept {
  const Status status = api::guarded([&]() -> Status { return body(); });
  return status.ok() ? tenfold_success : fail(function, status);
}

struct Argument {
  const char* name;
  const void* pointer;
};

/// invalid_argument naming the first null one.
Status require(std::initializer_list<Argument> arguments);

/// For lists of any length, of dims, channels or ids: null only when they are empty, and at most 2^28 long, as what is
/// above is a negative number or garbage.
Status require_list(const char* name, const void* list, std::size_t count);

/// For arrays that the caller sizes: `given` elements for `wanted`, null only when there are none.
Status require_array(const char* name, const void* array, std::size_t given, std::size_t wanted);

}  // namespace tenfold::capi
