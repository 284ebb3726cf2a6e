// SPDX-License-Identifier: Apache-2.0
//
// Where a kernel that is one of several reads and writes.
#pragma once

#include <cstdint>

namespace tenfold::compiler {

struct Place {
  enum class Kind : std::uint8_t {
    operand,  ///< an input of the whole spec, or where it is written to, an output
    between,  ///< a buffer that lives from one kernel to another
  };
  Kind kind = Kind::operand;
  int index = 0;            ///< which operand, or which buffer
  std::int64_t offset = 0;  ///< bytes into it
  friend bool operator==(const Place&, const Place&) = default;
};

}  // namespace tenfold::compiler
