// SPDX-License-Identifier: Apache-2.0
#include "jit/vector/chained.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Xmm;
using Xbyak::Ymm;

Ymm ymm(Vec v, int half) { return Ymm(2 * v + half); }

}  // namespace

void join_avx2(Xbyak::CodeGenerator& code, Vec d) {
  code.vpunpckhdq(Ymm(15), ymm(d, 0), ymm(d, 1));
  code.vpunpckldq(ymm(d, 0), ymm(d, 0), ymm(d, 1));
  code.vperm2i128(ymm(d, 1), ymm(d, 0), Ymm(15), 0x31);
  code.vperm2i128(ymm(d, 0), ymm(d, 0), Ymm(15), 0x20);
}

void join64_avx2(Xbyak::CodeGenerator& code, Vec lo, Vec hi) {
  // Lanes 0, 2, 4, 6 | 8, ..., 14 and 1, 3, 5, 7 | 9, ..., 15.
  for (int half = 0; half < 2; ++half) {
    code.vunpcklpd(Ymm(14 + half), ymm(lo, half), ymm(hi, half));
    code.vunpckhpd(ymm(half == 0 ? lo : hi, half), ymm(lo, half), ymm(hi, half));
  }
  // 14: 0 1 4 5; low half of lo: 2 3 6 7; 15: 8 9 12 13; high half of hi: 10 11 14 15.
  code.vperm2f128(ymm(lo, 1), Ymm(14), ymm(lo, 0), 0x31);
  code.vperm2f128(ymm(lo, 0), Ymm(14), ymm(lo, 0), 0x20);
  code.vperm2f128(ymm(hi, 0), Ymm(15), ymm(hi, 1), 0x20);
  code.vperm2f128(ymm(hi, 1), Ymm(15), ymm(hi, 1), 0x31);
}

void widen_avx2(Xbyak::CodeGenerator& code, Vec lo, Vec hi, Vec s) {
  code.vextractf128(Xmm(15), ymm(s, 1), 1);
  code.vextractf128(Xmm(14), ymm(s, 0), 1);
  code.vcvtps2pd(ymm(hi, 1), Xmm(15));
  code.vcvtps2pd(ymm(hi, 0), Xmm(2 * s + 1));
  code.vcvtps2pd(ymm(lo, 1), Xmm(14));
  code.vcvtps2pd(ymm(lo, 0), Xmm(2 * s));
}

/// Conversions take halves, so that these need not change places before.
void join_and_widen_avx2(Xbyak::CodeGenerator& code, Vec lo, Vec hi, Vec s) {
  code.vunpckhps(Ymm(15), ymm(s, 0), ymm(s, 1));
  code.vunpcklps(Ymm(14), ymm(s, 0), ymm(s, 1));
  for (const Vec to : {lo, hi}) {
    if (to == hi)
      for (const int reg : {14, 15}) code.vextractf128(Xmm(reg), Ymm(reg), 1);
    code.vcvtps2pd(ymm(to, 0), Xmm(14));
    code.vcvtps2pd(ymm(to, 1), Xmm(15));
  }
}

void widen_avx2(Xbyak::CodeGenerator& code, Vec lo, Vec hi, const Memory& from) {
  for (int half = 0; half < 2; ++half) {
    code.vcvtps2pd(ymm(lo, half), code.ptr[from + 16 * half]);
    code.vcvtps2pd(ymm(hi, half), code.ptr[from + 32 + 16 * half]);
  }
}

}  // namespace tenfold::jit
