// SPDX-License-Identifier: Apache-2.0
//
// Where a kernel or a call of oneDNN finds an operand: in a value, which it may begin beyond the first element of.
#pragma once

#include <cstdint>

#include "graph/ir/graph.hpp"

namespace tenfold::compiler {

struct OperandSource {
  graph::ValueId value = graph::kNone;
  std::int64_t offset = 0;  ///< bytes from its element 0
  friend bool operator==(const OperandSource&, const OperandSource&) = default;
};

}  // namespace tenfold::compiler
