// SPDX-License-Identifier: Apache-2.0
//
// How many steps of an elementwise body take turns, an operation of each.
#pragma once

#include <optional>

#include "jit/lane/layer.hpp"
#include "jit/operand/access.hpp"
#include "jit/stage/stages.hpp"

namespace tenfold::jit {

struct Turns {
  int steps = 1;
  std::optional<StageProgram> program;  ///< nothing for one step
};

/// As many steps of `one` side by side as pay and vectors have room for, rounded together where the machine does that.
Turns find_turns(const StageProgram& one, const OperandAccess& access, const LaneLayer& layer);

}  // namespace tenfold::jit
