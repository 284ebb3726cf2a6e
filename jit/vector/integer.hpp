// SPDX-License-Identifier: Apache-2.0
//
// Integer operations of the vector layers, on whole registers of any width. What an instruction set lacks (64-bit
// extremes and products on AVX2, 8-bit products on both) is put together here. Clobbers the layer's own registers only.
#pragma once

#include "jit/vector/vector.hpp"

namespace tenfold::jit {

/// AVX2; clobbers ymm14 and ymm15, which may be no operand of the harder ones (64-bit ones, products of 8 bits).
void integer_avx2(Assembler& assembler, IntegerOp op, const Xbyak::Xmm& d, const Xbyak::Xmm& a, const Xbyak::Xmm& b,
                  int lane_bits);
void abs_integer_avx2(Assembler& assembler, const Xbyak::Xmm& d, int lane_bits);

/// AVX-512; clobbers zmm30 and zmm31 for products of 8 bits.
void integer_avx512(Assembler& assembler, IntegerOp op, const Xbyak::Xmm& d, const Xbyak::Xmm& a, const Xbyak::Xmm& b,
                    int lane_bits);
void abs_integer_avx512(Assembler& assembler, const Xbyak::Xmm& d, int lane_bits);

}  // namespace tenfold::jit
