// SPDX-License-Identifier: Apache-2.0
//
// The host's log callback. Nothing here prints; without a callback messages are not even put together.
#pragma once

#include <string>

#include "tenfold/tenfold.h"

namespace tenfold::capi {

/// Whether anybody listens to messages of that level; one relaxed load.
bool log_wants(tenfold_log_level_t level) noexcept;

void log(tenfold_log_level_t level, const std::string& message);

}  // namespace tenfold::capi
