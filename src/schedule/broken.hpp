// SPDX-License-Identifier: Apache-2.0
//
// What check() and its like answer where the emitter could not follow a schedule.
#pragma once

#include <string>
#include <string_view>

#include "tenfold/status.hpp"

namespace tenfold::schedule {

/// internal_error, as the heuristic makes no such schedule.
inline Status broken(std::string_view what) { return {Code::internal_error, "schedule: " + std::string(what)}; }

}  // namespace tenfold::schedule
