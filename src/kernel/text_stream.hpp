// SPDX-License-Identifier: Apache-2.0
//
// The stream that text forms, and the keys made of them, are written to.
#pragma once

#include <locale>
#include <sstream>

namespace tenfold::kernel {

/// Writes numbers as text forms have them, whatever the process' own std::locale groups or marks.
class TextStream : public std::ostringstream {
 public:
  TextStream() { imbue(std::locale::classic()); }
};

}  // namespace tenfold::kernel
