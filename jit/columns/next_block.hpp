// SPDX-License-Identifier: Apache-2.0
//
// Columns inside a kept level come in blocks, one behind the other. A row of a block is too short to become a stream,
// and rows that are read side by side are not in the order of memory; so where they are read they ask for what is as
// far down in the next block (Schedule::blocks).
#pragma once

#include "jit/nest/nest.hpp"

namespace tenfold::jit {

/// Asks for the lines that `bytes` begin at `place`, a block ahead, if blocks ask.
void ask_next_block(const LoopNest& nest, const Memory& place, int bytes);

}  // namespace tenfold::jit
