// SPDX-License-Identifier: Apache-2.0
//
// Which passes over a tile of columns go up its rows instead of down: each that may, where the one before it, or that
// after it, goes the other way. It then begins with the rows that the caches still have from the last one; where a tile
// is larger than they are and all passes go down, each finds that those have just left.
#pragma once

#include <vector>

#include "jit/stage/stages.hpp"

namespace tenfold::jit {

/// By pass. What is summed or multiplied stays in order, as that decides bits.
std::vector<bool> find_backward_passes(const Stages& stages);

/// By pass, of a schedule that turns none back: those that sum from the last row on.
std::vector<bool> find_reverse_passes(const Stages& stages);

}  // namespace tenfold::jit
