// SPDX-License-Identifier: Apache-2.0
//
// Packed rows in AVX2: keys of arg-reductions, elements above codes of their places (packed_keys.cpp). ymm14 and ymm15
// are the operations'.
#include "jit/vector_packed.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Xmm;
using Xbyak::Ymm;

}  // namespace

void PackedVectors::sign_to_integer(Register d, Register magnitude, int bytes) {
  const std::uint64_t all_but_sign = (~std::uint64_t{0} >> (64 - 8 * bytes)) >> 1;
  code_.vpand(Ymm(magnitude), Ymm(d), assembler_.splat(all_but_sign, bytes));
  // What is 0x80...0 has magnitude 0, so that its sign does not matter.
  bytes == 2 ? code_.vpsignw(Ymm(d), Ymm(magnitude), Ymm(d)) : code_.vpsignd(Ymm(d), Ymm(magnitude), Ymm(d));
}

void PackedVectors::flip_signs(Register d, int bytes) {
  const std::uint64_t sign = bytes == 1 ? 0x8080 : std::uint64_t{1} << (8 * bytes - 1);
  code_.vpxor(Ymm(d), Ymm(d), assembler_.splat(sign, bytes == 1 ? 2 : bytes));
}

void PackedVectors::unpack_keys(Register d, Register upper, const Bytes& codes, int bytes) {
  const Ymm x(d), high(upper), low(15);
  code_.vmovdqu(low, assembler_.bytes(codes));
  switch (bytes) {
    case 1:
      code_.vpunpckhbw(high, low, x);
      code_.vpunpcklbw(x, low, x);
      break;
    case 2:
      code_.vpunpckhwd(high, low, x);
      code_.vpunpcklwd(x, low, x);
      break;
    default:
      code_.vpunpckhdq(high, low, x);
      code_.vpunpckldq(x, low, x);
      break;
  }
}

void PackedVectors::store_codes(const Memory& to, Register s, int bytes, bool inverted, DType dtype) {
  const Xbyak::Address mask = assembler_.splat((std::uint64_t{1} << (4 * bytes)) - 1, bytes);
  const int to_bytes = byte_size(dtype);
  const Xmm low(s), high(15);
  inverted ? code_.vpandn(Ymm(s), Ymm(s), mask) : code_.vpand(Ymm(s), Ymm(s), mask);
  if (bytes == to_bytes) return store(to, s);
  code_.vextracti128(high, Ymm(s), 1);
  if (bytes > to_bytes) {
    code_.vshufps(low, low, high, 0x88);
    return code_.vmovdqu(code_.ptr[to], low);
  }
  const auto widen = [&](const Xmm& from, int offset) {
    if (bytes == 4) {
      code_.vpmovzxdq(Ymm(14), from);
    } else if (to_bytes == 4) {
      code_.vpmovzxwd(Ymm(14), from);
    } else {
      code_.vpmovzxwq(Ymm(14), from);
    }
    code_.vmovdqu(code_.ptr[to + offset], Ymm(14));
  };
  const int half = kBytes / 2 * to_bytes / bytes;
  for (const Xmm& part : {low, high}) {
    const int offset = part.getIdx() == low.getIdx() ? 0 : half;
    widen(part, offset);
    if (half == kBytes) continue;
    code_.vpsrldq(part, part, 8);
    widen(part, offset + kBytes);
  }
}

}  // namespace tenfold::jit
