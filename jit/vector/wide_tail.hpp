// SPDX-License-Identifier: Apache-2.0
//
// Tails of 32- and 64-bit lanes in AVX2, as they are stored. For the AVX2 layers alone.
#pragma once

#include <array>

#include "jit/assembler/assembler.hpp"
#include "jit/vector/vector.hpp"

namespace tenfold::jit {

/// The first lanes of `s`, of 4 or 8 bytes, as many as the 64 bytes of masks at `masks` name. Clobbers ymm15.
void store_wide_tail(Xbyak::CodeGenerator& code, const Memory& to, const std::array<Xbyak::Ymm, 2>& s,
                     const Memory& masks, int lane_bytes);

}  // namespace tenfold::jit
