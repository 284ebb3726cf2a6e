// SPDX-License-Identifier: Apache-2.0
//
// f32 rounded to the words of bf16 on AVX2, which has no instruction for it; for avx2.cpp alone. A vector of 16
// lanes is two registers. All clobber ymm14 and ymm15.
#pragma once

#include <array>

#include "jit/assembler/assembler.hpp"
#include "jit/lane/order.hpp"

namespace tenfold::jit {

using Avx2Vector = std::array<Xbyak::Ymm, 2>;

/// To the upper halves of lanes: half a unit in the last place is added, less one when the last kept bit is even.
/// Canonical NaNs survive.
void add_half_units(Assembler& assembler, const Xbyak::Ymm& d, const Xbyak::Ymm& s);

/// Two registers at once, whose words come in turns, that of `even` first. Canonical NaNs survive. `d` may be any of
/// them but ymm15, and `spare` any but ymm14 and ymm15.
void round_words(Assembler& assembler, const Xbyak::Ymm& d, const Xbyak::Ymm& even, const Xbyak::Ymm& odd,
                 const Xbyak::Ymm& spare);

/// LaneOp::join_bf16 of the lanes of `a` and `b` in `order`; `d` may be either, and both the same. `exact`: all lanes
/// are of bf16 as they are.
void join_words(Assembler& assembler, const Avx2Vector& d, const Avx2Vector& a, const Avx2Vector& b, LaneOrder order,
                bool exact);

}  // namespace tenfold::jit
