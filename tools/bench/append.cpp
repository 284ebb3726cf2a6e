// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/append.hpp"

#include <cstdarg>
#include <cstdio>

namespace tenfold::tools::bench {

void append(std::string& out, const char* format, ...) {
  std::va_list args, measured;
  va_start(args, format);
  va_copy(measured, args);
  const int length = std::vsnprintf(nullptr, 0, format, measured);
  va_end(measured);
  if (length > 0) {
    const std::size_t before = out.size();
    // The terminating zero goes where the string has its own.
    out.resize(before + static_cast<std::size_t>(length));
    std::vsnprintf(out.data() + before, static_cast<std::size_t>(length) + 1, format, args);
  }
  va_end(args);
}

}  // namespace tenfold::tools::bench
