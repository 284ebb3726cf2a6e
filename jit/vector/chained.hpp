// SPDX-License-Identifier: Apache-2.0
//
// What the AVX2 layer does where chains of f32 end: lanes put in order, and widened. Clobbers ymm14 and ymm15 at most.
#pragma once

#include "jit/vector/vector.hpp"

namespace tenfold::jit {

/// VectorLayer::join() and join64().
void join_avx2(Xbyak::CodeGenerator& code, Vec d);
void join64_avx2(Xbyak::CodeGenerator& code, Vec lo, Vec hi);
/// VectorLayer::widen(), of a vector or of memory.
void widen_avx2(Xbyak::CodeGenerator& code, Vec lo, Vec hi, Vec s);
void join_and_widen_avx2(Xbyak::CodeGenerator& code, Vec lo, Vec hi, Vec s);
void widen_avx2(Xbyak::CodeGenerator& code, Vec lo, Vec hi, const Memory& from);

}  // namespace tenfold::jit
