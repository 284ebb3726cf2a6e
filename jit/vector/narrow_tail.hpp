// SPDX-License-Identifier: Apache-2.0
//
// Tails of 16- and 8-bit elements in AVX2, which has no masked loads of them: a tail is its whole dwords, loaded under
// a mask, and the odd last elements, one of 16 bits or one to three of 8, broadcast and masked into their place. For
// the AVX2 layers alone.
#pragma once

#include <array>

#include "jit/assembler/assembler.hpp"
#include "jit/vector/vector.hpp"

namespace tenfold::jit {

/// Writes the masks of 16 elements, those from `first` on, of a tail of `count`: 32 bytes at `pairs` and at `odd`. From
/// 0 on, it also notes which the last one is. Clobbers ymm14 and ymm15.
void prepare_word_tail(Assembler& assembler, const Xbyak::Reg64& count, int first, const Memory& pairs,
                       const Memory& odd);

/// Those 16 elements of the tail at `from`, with zeros past it. Clobbers ymm15.
void load_word_tail(Assembler& assembler, const Xbyak::Ymm& d, const Memory& from, int first, const Memory& pairs,
                    const Memory& odd);

/// Writes the masks of 32 elements of 8 bits, those from `first` on, of a tail of `count`: 32 bytes at `quads`
/// and at `odd`. Clobbers ymm14 and ymm15.
void prepare_byte_tail(Assembler& assembler, const Xbyak::Reg64& count, int first, const Memory& quads,
                       const Memory& odd);

/// The 64 elements of the tail at `from`, as long as frame::kTailCount says, with zeros past it; 64 bytes of masks are
/// at `quads` and at `odd`. Clobbers ymm14 and ymm15.
void load_byte_tail(Assembler& assembler, const std::array<Xbyak::Ymm, 2>& d, const Memory& from, const Memory& quads,
                    const Memory& odd);

}  // namespace tenfold::jit
