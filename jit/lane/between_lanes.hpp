// SPDX-License-Identifier: Apache-2.0
//
// The operations of lane programs that look at the lanes beside their own (is_between_lanes); for avx2.cpp and
// avx512_operation.cpp alone.
#pragma once

#include <array>

#include "jit/assembler/assembler.hpp"
#include "jit/lane/lane.hpp"

namespace tenfold::jit {

/// d = op(a, b) on registers of all the step's lanes, of which d may be any; `second` may also be memory. Clobbers
/// `own`, which is none of them.
void emit_between_lanes(Assembler& assembler, const LaneNode& node, int lanes, const Xbyak::Xmm& d, const Xbyak::Xmm& a,
                        const Xbyak::Operand& second, const Xbyak::Xmm& own);

/// A step of AVX2 in so many registers, one or two.
struct Halves {
  std::array<Xbyak::Ymm, 2> of;
  int count = 1;
};

/// Likewise. Clobbers ymm14 and ymm15, which constants may be in: of `a` and of `b`.
void emit_between_lanes(Assembler& assembler, const LaneNode& node, const Halves& d, const Halves& a, const Halves& b);

}  // namespace tenfold::jit
