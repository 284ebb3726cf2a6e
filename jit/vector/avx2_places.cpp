// SPDX-License-Identifier: Apache-2.0
//
// Places of extremes in packed rows, in AVX2: registers of elements whose lanes meet, and of places, which are below
// zero. ymm14 and ymm15 are the operations'.
#include "jit/vector/integer.hpp"
#include "jit/vector/packed.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Xmm;
using Xbyak::Ymm;

}  // namespace

void PackedVectors::part(Register early, Register x_number, Register y_number, int bytes) {
  const Ymm first(early), x(x_number), y(y_number), mask(15);
  switch (bytes) {
    case 16:
      code_.vinserti128(first, x, Xmm(y_number), 1);
      code_.vperm2i128(y, x, y, 0x31);
      break;
    case 4:
      code_.vshufps(first, x, y, 0x88);
      code_.vshufps(y, x, y, 0xdd);
      break;
    case 2:
      code_.vpslld(first, y, 16);
      code_.vpblendw(first, x, first, 0xaa);
      code_.vpsrld(x, x, 16);
      code_.vpblendw(y, x, y, 0xaa);
      break;
    default:
      code_.vmovdqu(mask, assembler_.splat(0xff00, 2));
      code_.vpsllw(first, y, 8);
      assembler_.select(first, mask, first, x);
      code_.vpsrlw(x, x, 8);
      assembler_.select(y, mask, y, x);
      break;
  }
}

void PackedVectors::swap_quarters(Register d) { code_.vpermq(Ymm(d), Ymm(d), 0xd8); }

void PackedVectors::blend(Register d, const Bytes& other, Register mask, bool set) {
  if (set) return assembler_.select(Ymm(d), Ymm(mask), assembler_.bytes(other), Ymm(d));
  load_constant(15, other);
  assembler_.select(Ymm(d), Ymm(mask), Ymm(d), Ymm(15));
}

void PackedVectors::equal(Register mask, Register a, Register b, int bytes) {
  switch (bytes) {
    case 1: code_.vpcmpeqb(Ymm(mask), Ymm(a), Ymm(b)); break;
    case 2: code_.vpcmpeqw(Ymm(mask), Ymm(a), Ymm(b)); break;
    default: code_.vpcmpeqd(Ymm(mask), Ymm(a), Ymm(b)); break;
  }
}

/// Unsigned, what is no more than a limit does not change it.
void PackedVectors::jump_unless_settled(Register greatest_number, Register seen_number, std::uint64_t infinity,
                                        int bytes, const Xbyak::Label& target) {
  const Ymm greatest(greatest_number), seen(seen_number), limit(15);
  const std::uint64_t sign = std::uint64_t{1} << (8 * bytes - 1);
  const auto beyond = [&](const Ymm& x, std::uint64_t most) {
    code_.vmovdqu(limit, assembler_.splat(most, bytes));
    integer_avx2(assembler_, IntegerOp::greatest_unsigned, x, x, limit, 8 * bytes);
    code_.vpxor(x, x, limit);
  };
  add_constant(greatest_number, -1, bytes);
  beyond(greatest, infinity - 1);
  beyond(seen, infinity | sign);
  code_.vpor(greatest, greatest, seen);
  code_.vptest(greatest, greatest);
  code_.jnz(target, Xbyak::CodeGenerator::T_NEAR);
}

void PackedVectors::add_bytes(Register d, Register s, const Bytes& to, int bytes) {
  switch (bytes) {
    case 1: code_.vpaddb(Ymm(d), Ymm(s), assembler_.bytes(to)); break;
    case 2: code_.vpaddw(Ymm(d), Ymm(s), assembler_.bytes(to)); break;
    default: code_.vpaddd(Ymm(d), Ymm(s), assembler_.bytes(to)); break;
  }
}

void PackedVectors::choose(Register d, Register mask, const Bytes& taken, const Bytes& other) {
  load_constant(d, other);
  assembler_.select(Ymm(d), Ymm(mask), assembler_.bytes(taken), Ymm(d));
}

void PackedVectors::store_places(const Memory& to, Register s, int bytes, DType dtype) {
  const Ymm zero(15), places(s), wide(14);
  const Xmm low(s), high(15);
  code_.vpxor(zero, zero, zero);
  switch (bytes) {
    case 1: code_.vpsubb(places, zero, places); break;
    case 2: code_.vpsubw(places, zero, places); break;
    default: code_.vpsubd(places, zero, places); break;
  }
  const int to_bytes = byte_size(dtype);
  if (bytes == to_bytes) return store(to, s);
  code_.vextracti128(high, places, 1);
  const int of_half = kBytes / 2 / bytes, of_store = kBytes / to_bytes;
  for (const Xmm& half : {low, high})
    for (int lane = 0; lane < of_half; lane += of_store) {
      if (lane > 0) code_.vpsrldq(half, half, static_cast<std::uint8_t>(of_store * bytes));
      if (bytes == 4) {
        code_.vpmovzxdq(wide, half);
      } else if (bytes == 2) {
        to_bytes == 4 ? code_.vpmovzxwd(wide, half) : code_.vpmovzxwq(wide, half);
      } else {
        to_bytes == 4 ? code_.vpmovzxbd(wide, half) : code_.vpmovzxbq(wide, half);
      }
      code_.vmovdqu(code_.ptr[to + ((half.getIdx() == low.getIdx() ? 0 : of_half) + lane) * to_bytes], wide);
    }
}

}  // namespace tenfold::jit
