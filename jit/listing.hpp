// SPDX-License-Identifier: Apache-2.0
//
// Machine code as people read it. A target of its own, which only the command links: the library does without Zydis.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tenfold/status.hpp"

namespace tenfold::jit {

/// A line for each instruction: its offset, its bytes, and the instruction in Intel's syntax, with jumps to offsets.
/// Bytes that are no instruction are "db". A kernel's constants, which lie behind its code, are "dd", eight numbers of
/// 32 bits a line. unsupported_target when this was built without Zydis.
Result<std::string> listing(std::span<const std::uint8_t> code);

}  // namespace tenfold::jit
