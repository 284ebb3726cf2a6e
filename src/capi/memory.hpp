// SPDX-License-Identifier: Apache-2.0
//
// Memory that callers ask for: from their allocator or the library's.
#pragma once

#include <cstddef>
#include <string>

#include "tenfold/status.hpp"
#include "tenfold/tenfold.h"

namespace tenfold::capi {

/// `size` bytes (at least one) at a multiple of 64.
Result<void*> allocate(const tenfold_allocator_t* allocator, std::size_t size);

/// A copy of `text` with a zero at its end.
Status give_text(const std::string& text, const tenfold_allocator_t* allocator, char** out);

}  // namespace tenfold::capi
