// SPDX-License-Identifier: Apache-2.0
//
// Elements of 8 and 16 bits to the lanes of 32 bits of one ymm register, exactly; for the AVX2 layers alone.
#pragma once

#include "jit/assembler/assembler.hpp"
#include "kernel/spec.hpp"

namespace tenfold::jit {

/// Eight elements side by side, of `from`, an xmm register or an address, to `d`: f16 and bf16 as f32, integers as
/// integers, with their sign or zeros above. Elements of 32 bits are moved as they are, of a ymm register.
void widen_elements_avx2(Assembler& assembler, const Xbyak::Ymm& d, DType dtype, const Xbyak::Operand& from);

}  // namespace tenfold::jit
