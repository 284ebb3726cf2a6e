// SPDX-License-Identifier: Apache-2.0
//
// Keys of arg-reductions in AVX2, elements above codes of their places (state/keys.hpp). ymm14 and ymm15
// are the operations'.
#include "jit/vector/integer.hpp"
#include "jit/vector/packed.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Xmm;
using Xbyak::Ymm;

}  // namespace

void PackedVectors::sign_to_integer(Register d, Register magnitude, int bytes) {
  code_.vpand(Ymm(magnitude), Ymm(d), splat_of(all_but_sign(8 * bytes), bytes));
  // What is 0x80...0 has magnitude 0, so that its sign does not matter.
  bytes == 2 ? code_.vpsignw(Ymm(d), Ymm(magnitude), Ymm(d)) : code_.vpsignd(Ymm(d), Ymm(magnitude), Ymm(d));
}

void PackedVectors::flip_bits(Register d, std::uint64_t pattern, int bytes) {
  code_.vpxor(Ymm(d), Ymm(d), splat_of(pattern, bytes));
}

void PackedVectors::flip_signs(Register d, int bytes) { flip_bits(d, std::uint64_t{1} << (8 * bytes - 1), bytes); }

void PackedVectors::load_constant(Register d, const Bytes& bytes) { code_.vmovdqu(Ymm(d), constant(bytes)); }

void PackedVectors::unpack_keys(Register d, Register upper, const Bytes& codes, int bytes) {
  unpack_keys(d, upper, in_register(codes, 15).getIdx(), bytes);
}

void PackedVectors::unpack_keys(Register d, Register upper, Register codes, int bytes) {
  const Ymm x(d), high(upper), low(codes);
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

void PackedVectors::add_constant(Register d, int value, int bytes) {
  const auto bits = static_cast<std::uint64_t>(value);
  if (bytes == 1) {
    code_.vpaddb(Ymm(d), Ymm(d), splat_of((bits & 0xff) * 0x0101, 2));
  } else if (bytes == 2) {
    code_.vpaddw(Ymm(d), Ymm(d), splat_of(bits, 2));
  } else {
    code_.vpaddd(Ymm(d), Ymm(d), splat_of(bits, 4));
  }
}

void PackedVectors::broadcast32(Register d, const Memory& from) { code_.vpbroadcastd(Ymm(d), code_.ptr[from]); }

void PackedVectors::first_lane(const Xbyak::Reg32& d, Register s) { code_.vmovd(d, Xmm(s)); }

void PackedVectors::broadcast_element(Register d, const Xbyak::Reg32& s, int bytes) {
  code_.vmovd(Xmm(d), s);
  bytes == 1 ? code_.vpbroadcastb(Ymm(d), Xmm(d)) : code_.vpbroadcastw(Ymm(d), Xmm(d));
}

void PackedVectors::beats(Register mask, Register late, Register early, bool greatest, int bytes) {
  const Ymm above(greatest ? late : early), below(greatest ? early : late);
  switch (bytes) {
    case 1: code_.vpcmpgtb(Ymm(mask), above, below); break;
    case 2: code_.vpcmpgtw(Ymm(mask), above, below); break;
    default: code_.vpcmpgtd(Ymm(mask), above, below); break;
  }
}

void PackedVectors::step_codes(Register d, Register codes, Register mask, bool down, int bytes) {
  // A mask says -1.
  if (down) {
    bytes == 1 ? code_.vpaddb(Ymm(d), Ymm(codes), Ymm(mask)) : code_.vpaddw(Ymm(d), Ymm(codes), Ymm(mask));
  } else {
    bytes == 1 ? code_.vpsubb(Ymm(d), Ymm(codes), Ymm(mask)) : code_.vpsubw(Ymm(d), Ymm(codes), Ymm(mask));
  }
}

void PackedVectors::blend(Register d, Register taken, Register mask) {
  assembler_.select(Ymm(d), Ymm(mask), Ymm(taken), Ymm(d));
}

void PackedVectors::equal_bytes(const Xbyak::Reg32& d, Register a, Register b, int bytes) {
  bytes == 1 ? code_.vpcmpeqb(Ymm(a), Ymm(a), Ymm(b)) : code_.vpcmpeqw(Ymm(a), Ymm(a), Ymm(b));
  code_.vpmovmskb(d, Ymm(a));
}

void PackedVectors::fold32(const Xbyak::Reg32& d, Register s, IntegerOp op) {
  const Xmm lanes(s), others(15);
  code_.vextracti128(others, Ymm(s), 1);
  integer_avx2(assembler_, op, lanes, lanes, others, 32);
  code_.vpshufd(others, lanes, 0x4e);
  integer_avx2(assembler_, op, lanes, lanes, others, 32);
  code_.vpshufd(others, lanes, 0xb1);
  integer_avx2(assembler_, op, lanes, lanes, others, 32);
  code_.vmovd(d, lanes);
}

void PackedVectors::load_integers(Register d, const Memory& from, int bytes, bool is_signed) {
  if (bytes == 1) {
    is_signed ? code_.vpmovsxbd(Ymm(d), code_.ptr[from]) : code_.vpmovzxbd(Ymm(d), code_.ptr[from]);
  } else {
    is_signed ? code_.vpmovsxwd(Ymm(d), code_.ptr[from]) : code_.vpmovzxwd(Ymm(d), code_.ptr[from]);
  }
}

void PackedVectors::take_better(Register best, Register index, Register x, Register at, bool greatest) {
  const Ymm better(15);
  greatest ? code_.vpcmpgtd(better, Ymm(x), Ymm(best)) : code_.vpcmpgtd(better, Ymm(best), Ymm(x));
  assembler_.select(Ymm(best), better, Ymm(x), Ymm(best));
  assembler_.select(Ymm(index), better, Ymm(at), Ymm(index));
}

void PackedVectors::store_indices(const Memory& to, Register s, DType dtype) {
  if (dtype == DType::s32) return store(to, s);
  code_.vextracti128(Xmm(15), Ymm(s), 1);
  code_.vpmovsxdq(Ymm(14), Xmm(s));
  code_.vmovdqu(code_.ptr[to], Ymm(14));
  code_.vpmovsxdq(Ymm(14), Xmm(15));
  code_.vmovdqu(code_.ptr[to + kBytes], Ymm(14));
}

void PackedVectors::store_codes(const Memory& to, Register s, int bytes, bool inverted, DType dtype) {
  const Xbyak::Operand& mask = splat_of((std::uint64_t{1} << (4 * bytes)) - 1, bytes);
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
