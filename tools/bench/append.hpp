// SPDX-License-Identifier: Apache-2.0
//
// Text as printf makes it, at the end of a report. For names of any length: nothing is cut.
#pragma once

#include <string>

namespace tenfold::tools::bench {

[[gnu::format(printf, 2, 3)]] void append(std::string& out, const char* format, ...);

}  // namespace tenfold::tools::bench
