// SPDX-License-Identifier: Apache-2.0
//
// Tails of 16-bit elements in AVX2, which has no masked loads of them: a tail is its whole pairs, loaded under a mask,
// and the odd last one, broadcast and masked into its place. For the AVX2 layers alone.
#pragma once

#include "jit/assembler.hpp"
#include "jit/vector.hpp"

namespace tenfold::jit {

/// Writes the masks of 16 elements, those from `first` on, of a tail of `count`: 32 bytes at `pairs` and at `odd`. From
/// 0 on, it also notes which the last one is. Clobbers ymm14 and ymm15.
void prepare_word_tail(Assembler& assembler, const Xbyak::Reg64& count, int first, const Memory& pairs,
                       const Memory& odd);

/// Those 16 elements of the tail at `from`, with zeros past it. Clobbers ymm15.
void load_word_tail(Assembler& assembler, const Xbyak::Ymm& d, const Memory& from, int first, const Memory& pairs,
                    const Memory& odd);

}  // namespace tenfold::jit
