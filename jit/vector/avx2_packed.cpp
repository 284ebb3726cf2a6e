// SPDX-License-Identifier: Apache-2.0
//
// Packed rows in AVX2. ymm13 takes what is to be combined with another register, ymm14 and ymm15 are the operations'.
#include "jit/vector/integer.hpp"
#include "jit/vector/packed.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Xmm;
using Xbyak::Ymm;

constexpr PackedVectors::Register kMet = 13;

}  // namespace

void PackedVectors::load(Register d, const Memory& from) { code_.vmovdqu(Ymm(d), code_.ptr[from]); }

void PackedVectors::load_first(Register d, int bytes, const Memory& from) {
  switch (bytes) {
    case 4: code_.vmovd(Xmm(d), code_.dword[from]); break;
    case 8: code_.vmovq(Xmm(d), code_.qword[from]); break;
    default: code_.vmovdqu(Xmm(d), code_.ptr[from]); break;
  }
}

void PackedVectors::load_halves(Register d, const Memory& low, const Memory& high) {
  code_.vbroadcasti128(Ymm(d), code_.ptr[high]);
  code_.vpblendd(Ymm(d), Ymm(d), code_.ptr[low], 0x0f);
}

void PackedVectors::load_upper(Register d, const Memory& from) {
  code_.vpblendd(Ymm(d), Ymm(d), code_.ptr[from], 0xf0);
}

void PackedVectors::load_widened(Register d, DType dtype, const Memory& from) {
  if (dtype == DType::f16) {
    code_.vcvtph2ps(Ymm(d), code_.ptr[from]);
    return;
  }
  Bytes in_order{};
  for (std::size_t byte = 0; byte < kBytes / 2; ++byte) in_order[byte] = static_cast<std::uint8_t>(byte);
  load_spread_widened(d, dtype, from, in_order);
}

void PackedVectors::load_spread_widened(Register d, DType dtype, const Memory& from, const Bytes& bytes) {
  if (dtype == DType::f16) {
    code_.vmovdqu(Xmm(d), code_.ptr[from]);
    code_.vpshufb(Xmm(d), Xmm(d), Xmm(in_register(bytes, 15).getIdx()));
    code_.vcvtph2ps(Ymm(d), Xmm(d));
    return;
  }
  // The shuffle that brings each bf16 to its place brings it to the upper half of its lane as well: one operation on
  // the busy shuffle ports, where widening and shifting are two.
  Bytes to_upper{};
  for (std::size_t byte = 0; byte < kBytes; ++byte)
    to_upper[byte] = byte % 4 < 2 ? kZero : bytes[byte / 4 * 2 + byte % 2];
  code_.vbroadcasti128(Ymm(d), code_.ptr[from]);
  code_.vpshufb(Ymm(d), Ymm(d), constant(to_upper));
}

void PackedVectors::load_widened_quarters(Register d, const Memory& low, const Memory& high) {
  code_.vmovq(Xmm(d), code_.ptr[low]);
  code_.vmovhps(Xmm(d), Xmm(d), code_.ptr[high]);
  code_.vcvtph2ps(Ymm(d), Xmm(d));
}

void PackedVectors::widen_pairs(Register first, Register d) {
  code_.vpslld(Ymm(first), Ymm(d), 16);
  code_.vpand(Ymm(d), Ymm(d), splat_of(0xffff0000, 4));
}

void PackedVectors::store(const Memory& to, Register s) { code_.vmovdqu(code_.ptr[to], Ymm(s)); }

void PackedVectors::store_first(const Memory& to, Register s, int bytes) {
  if (bytes == kBytes) return store(to, s);
  if (bytes < kBytes / 2) return store_words(to, Xmm(s), bytes);
  code_.vmovdqu(code_.ptr[to], Xmm(s));
  if (bytes > kBytes / 2) store_first_of_upper(to + kBytes / 2, s, bytes - kBytes / 2);
}

void PackedVectors::store_first_of_upper(const Memory& to, Register s, int bytes) {
  code_.vextracti128(Xmm(15), Ymm(s), 1);
  if (bytes == kBytes / 2) {
    code_.vmovdqu(code_.ptr[to], Xmm(15));
  } else {
    store_words(to, Xmm(15), bytes);
  }
}

/// Less than 16 bytes, the widest words first.
void PackedVectors::store_words(const Memory& to, const Xmm& s, int bytes) {
  int at = 0;
  for (const int word : {8, 4, 2, 1}) {
    if ((bytes & word) == 0) continue;
    const std::uint8_t number = static_cast<std::uint8_t>(at / word);
    const Memory place = to + at;
    switch (word) {
      case 8: code_.vmovq(code_.qword[place], s); break;
      case 4: at == 0 ? code_.vmovd(code_.dword[place], s) : code_.vpextrd(code_.dword[place], s, number); break;
      case 2: code_.vpextrw(code_.word[place], s, number); break;
      default: code_.vpextrb(code_.byte[place], s, number); break;
    }
    at += word;
  }
}

void PackedVectors::narrow32(Register s, DType dtype) {
  if (dtype == DType::f32) return;
  if (dtype == DType::f16) return code_.vcvtps2ph(Xmm(s), Ymm(s), 0);
  round_to_bf16(s);
  code_.vpsrld(Ymm(s), Ymm(s), 16);
  code_.vextracti128(Xmm(15), Ymm(s), 1);
  code_.vpackusdw(Xmm(s), Xmm(s), Xmm(15));
}

void PackedVectors::store32(const Memory& to, DType dtype, Register s) {
  narrow32(s, dtype);
  store_first(to, s, kBytes / 4 * byte_size(dtype));
}

void PackedVectors::store_in_turn(const Memory& to, Register s) {
  round_to_bf16(s);
  code_.vextracti128(Xmm(15), Ymm(s), 1);
  code_.vpsrld(Xmm(s), Xmm(s), 16);
  code_.vpblendw(Xmm(s), Xmm(s), Xmm(15), 0xaa);
  code_.vmovdqu(code_.ptr[to], Xmm(s));
}

/// In the upper halves of lanes, as the AVX2 layer does.
void PackedVectors::round_to_bf16(Register s) {
  code_.vpsrld(Ymm(15), Ymm(s), 16);
  code_.vpand(Ymm(15), Ymm(15), splat_of(1, 4));
  code_.vpaddd(Ymm(s), Ymm(s), Ymm(15));
  code_.vpaddd(Ymm(s), Ymm(s), splat_of(0x7fff, 4));
}

void PackedVectors::splat(Register d, std::uint64_t pattern, int bytes) {
  code_.vmovdqu(Ymm(d), splat_of(pattern, bytes));
}

void PackedVectors::and_bytes(Register d, const Bytes& mask) { code_.vpand(Ymm(d), Ymm(d), constant(mask)); }
void PackedVectors::or_bytes(Register d, const Bytes& pattern) { code_.vpor(Ymm(d), Ymm(d), constant(pattern)); }

void PackedVectors::keep_inside(Register d, const Bytes& inside, const Bytes& outside) {
  if (outside == Bytes{}) return and_bytes(d, inside);
  const Ymm other = in_register(outside, 15);
  and_or(d, constant(inside), other);
}

void PackedVectors::and_or(Register d, const Xbyak::Operand& mask, const Ymm& other) {
  if (assembler_.encoding() == Encoding::vex) {
    code_.vpand(Ymm(d), Ymm(d), mask);
    return code_.vpor(Ymm(d), Ymm(d), other);
  }
  constexpr int kFirstAndThirdOrSecond = 0xec;
  code_.vpternlogd(Ymm(d), other, mask, kFirstAndThirdOrSecond);
}

void PackedVectors::fill_dwords(Register d, int lanes, std::uint64_t pattern, int bytes) {
  // A zero is made of nothing, and loads are what rows that lie across lines have too many of.
  if (pattern == 0) {
    code_.vpxor(Ymm(15), Ymm(15), Ymm(15));
    code_.vpblendd(Ymm(d), Ymm(d), Ymm(15), static_cast<std::uint8_t>(lanes));
  } else {
    code_.vpblendd(Ymm(d), Ymm(d), splat_of(pattern, bytes), static_cast<std::uint8_t>(lanes));
  }
}

void PackedVectors::shuffle_in_halves(Register d, Register s, const Bytes& from) {
  code_.vpshufb(Ymm(d), Ymm(s), constant(from));
}

void PackedVectors::shuffle_pair(Register d, Register a, Register b, const std::array<int, 4>& from) {
  const int lanes = from[0] | from[1] << 2 | from[2] << 4 | from[3] << 6;
  code_.vshufps(Ymm(d), Ymm(a), Ymm(b), static_cast<std::uint8_t>(lanes));
}

void PackedVectors::blend_words(Register d, Register a, Register b, int places) {
  code_.vpblendw(Ymm(d), Ymm(a), Ymm(b), static_cast<std::uint8_t>(places));
}

void PackedVectors::rotate_words(Register d, int by) {
  if (by > 0) code_.vpalignr(Ymm(d), Ymm(d), Ymm(d), static_cast<std::uint8_t>(2 * by));
}

void PackedVectors::permute_dwords(Register d, const std::array<std::uint32_t, 8>& from) {
  Bytes bytes{};
  for (std::size_t lane = 0; lane < from.size(); ++lane) bytes[4 * lane] = static_cast<std::uint8_t>(from[lane]);
  code_.vpermd(Ymm(d), in_register(bytes, 15), Ymm(d));
}

void PackedVectors::load_permuted(Register d, const Memory& from, const Bytes& bytes) {
  code_.vpermb(Ymm(d), in_register(bytes, 15), code_.ptr[from]);
}

void PackedVectors::permute_bytes(Register d, const Bytes& bytes) {
  code_.vpermb(Ymm(d), in_register(bytes, 15), Ymm(d));
}

PackedVectors::Register PackedVectors::meet(Register x_number, Register y_number, int bytes) {
  const Ymm x(x_number), y(y_number), met(kMet), spare(14);
  switch (bytes) {
    case 16:
      code_.vperm2i128(met, x, y, 0x21);
      code_.vpblendd(x, x, y, 0xf0);
      break;
    case 8:
      code_.vshufpd(met, x, y, 0x5);
      code_.vpblendd(x, x, y, 0xcc);
      break;
    case 4:
      code_.vpblendd(met, y, x, 0xaa);
      code_.vpshufd(met, met, 0xb1);
      code_.vpblendd(x, x, y, 0xaa);
      break;
    case 2:
      // Shifts, since a word cannot be moved by one of the cheap blends: lanes of x that have the bit set meet those
      // that have not where the latter are, lanes of y where the former are.
      code_.vpsrld(met, x, 16);
      code_.vpblendw(met, met, y, 0xaa);
      code_.vpslld(y, y, 16);
      code_.vpblendw(x, x, y, 0xaa);
      break;
    default:
      code_.vpsrlw(met, x, 8);
      code_.vpsllw(spare, y, 8);
      and_or(x_number, splat_of(0x00ff, 2), spare);
      and_or(y_number, splat_of(0xff00, 2), met);
      return y_number;
  }
  return kMet;
}

void PackedVectors::arithmetic(Arithmetic op, Register d, Register a, Register b, int bytes) {
  const bool add = op == Arithmetic::add;
  if (bytes == 8) {
    add ? code_.vaddpd(Ymm(d), Ymm(a), Ymm(b)) : code_.vmulpd(Ymm(d), Ymm(a), Ymm(b));
  } else {
    add ? code_.vaddps(Ymm(d), Ymm(a), Ymm(b)) : code_.vmulps(Ymm(d), Ymm(a), Ymm(b));
  }
}

void PackedVectors::integer(IntegerOp op, Register d, Register a, Register b, int lane_bits) {
  integer_avx2(assembler_, op, Ymm(d), Ymm(a), Ymm(b), lane_bits);
}

void PackedVectors::abs_float(Register d, int bytes) {
  code_.vpand(Ymm(d), Ymm(d), splat_of(all_but_sign(8 * bytes), bytes));
}

void PackedVectors::abs_integer(Register d, int lane_bits) { abs_integer_avx2(assembler_, Ymm(d), lane_bits); }

void PackedVectors::add_zero(Register d, int bytes) {
  code_.vpxor(Ymm(15), Ymm(15), Ymm(15));
  bytes == 8 ? code_.vaddpd(Ymm(d), Ymm(d), Ymm(15)) : code_.vaddps(Ymm(d), Ymm(d), Ymm(15));
}

void PackedVectors::divide32(Register d, float by) {
  code_.vdivps(Ymm(d), Ymm(d), splat_of(std::bit_cast<std::uint32_t>(by), 4));
}

void PackedVectors::divide64(Register d, const Memory& by) {
  code_.vbroadcastsd(Ymm(15), code_.ptr[by]);
  code_.vdivpd(Ymm(d), Ymm(d), Ymm(15));
}

void PackedVectors::square_root(Register d, int bytes) {
  bytes == 8 ? code_.vsqrtpd(Ymm(d), Ymm(d)) : code_.vsqrtps(Ymm(d), Ymm(d));
}

void PackedVectors::canonical_nan(Register d, int bytes) {
  if (bytes == 8) {
    code_.vcmpunordpd(Ymm(15), Ymm(d), Ymm(d));
    code_.vblendvpd(Ymm(d), Ymm(d), splat_of(float_bits(DType::f64).canonical_nan, 8), Ymm(15));
  } else {
    code_.vcmpunordps(Ymm(15), Ymm(d), Ymm(d));
    code_.vblendvps(Ymm(d), Ymm(d), splat_of(float_bits(DType::f32).canonical_nan, 4), Ymm(15));
  }
}

void PackedVectors::widen(Register low, Register high, Register s) {
  code_.vextractf128(Xmm(15), Ymm(s), 1);
  code_.vcvtps2pd(Ymm(low), Xmm(s));
  code_.vcvtps2pd(Ymm(high), Xmm(15));
}

void PackedVectors::narrow(Register d, Register low, Register high) {
  code_.vcvtpd2ps(Xmm(15), Ymm(high));
  code_.vcvtpd2ps(Xmm(d), Ymm(low));
  code_.vinsertf128(Ymm(d), Ymm(d), Xmm(15), 1);
}

void PackedVectors::order_key(Register d, int bytes) {
  switch (bytes) {
    case 2: code_.vpsraw(Ymm(15), Ymm(d), 15); break;
    case 4: code_.vpsrad(Ymm(15), Ymm(d), 31); break;
    default:
      code_.vpxor(Ymm(15), Ymm(15), Ymm(15));
      code_.vpcmpgtq(Ymm(15), Ymm(15), Ymm(d));
      break;
  }
  const Xbyak::Operand& magnitude = splat_of(all_but_sign(8 * bytes), bytes);
  if (assembler_.encoding() != Encoding::vex) {
    constexpr int kFirstXorSecondAndThird = 0x78;
    return code_.vpternlogd(Ymm(d), Ymm(15), magnitude, kFirstXorSecondAndThird);
  }
  code_.vpand(Ymm(15), Ymm(15), magnitude);
  code_.vpxor(Ymm(d), Ymm(d), Ymm(15));
}

Ymm PackedVectors::beyond(Register keys, bool above, std::uint64_t limit, int bytes) {
  const Ymm mask(15), against = in_register(splat_bytes(limit, bytes), 14);
  const Ymm &greater = above ? Ymm(keys) : against, &less = above ? against : Ymm(keys);
  switch (bytes) {
    case 2: code_.vpcmpgtw(mask, greater, less); break;
    case 4: code_.vpcmpgtd(mask, greater, less); break;
    default: code_.vpcmpgtq(mask, greater, less); break;
  }
  return mask;
}

void PackedVectors::replace_beyond(Register d, bool above, std::uint64_t limit, std::uint64_t other, int bytes) {
  const Ymm mask = beyond(d, above, limit, bytes);
  assembler_.select(Ymm(d), mask, splat_of(other, bytes), Ymm(d));
}

/// Of zeros, and only of these, each order of the operands may give other bits: of +0 and -0 the greater is what both
/// orders share, the less what either has.
void PackedVectors::extreme_number(Register d, Register a, Register b, bool greatest, int bytes) {
  const Ymm other(15);
  if (bytes == 8) {
    greatest ? code_.vmaxpd(other, Ymm(b), Ymm(a)) : code_.vminpd(other, Ymm(b), Ymm(a));
    greatest ? code_.vmaxpd(Ymm(d), Ymm(a), Ymm(b)) : code_.vminpd(Ymm(d), Ymm(a), Ymm(b));
  } else {
    greatest ? code_.vmaxps(other, Ymm(b), Ymm(a)) : code_.vminps(other, Ymm(b), Ymm(a));
    greatest ? code_.vmaxps(Ymm(d), Ymm(a), Ymm(b)) : code_.vminps(Ymm(d), Ymm(a), Ymm(b));
  }
  greatest ? code_.vandps(Ymm(d), Ymm(d), other) : code_.vorps(Ymm(d), Ymm(d), other);
}

void PackedVectors::extreme64(Register d, Register a, Register b, bool greatest) {
  greatest ? code_.vmaxpd(Ymm(d), Ymm(a), Ymm(b)) : code_.vminpd(Ymm(d), Ymm(a), Ymm(b));
}

void PackedVectors::jump_if_zero64(Register s, const Xbyak::Label& target) {
  const Ymm mask(15);
  code_.vxorpd(mask, mask, mask);
  code_.vcmpeqpd(mask, Ymm(s), mask);
  code_.vptest(mask, mask);
  code_.jnz(target, Xbyak::CodeGenerator::T_NEAR);
}

void PackedVectors::jump_if_nan(Register a, Register b, int bytes, const Xbyak::Label& target) {
  const Ymm mask(15);
  bytes == 8 ? code_.vcmpunordpd(mask, Ymm(a), Ymm(b)) : code_.vcmpunordps(mask, Ymm(a), Ymm(b));
  code_.vptest(mask, mask);
  code_.jnz(target, Xbyak::CodeGenerator::T_NEAR);
}

void PackedVectors::jump_if_nan_of_16(Register a, Register b, std::uint64_t infinity, const Xbyak::Label& target) {
  const Ymm mask(15), other(14);
  code_.vpand(mask, Ymm(a), splat_of(all_but_sign(16), 2));
  code_.vpand(other, Ymm(b), splat_of(all_but_sign(16), 2));
  code_.vpmaxsw(mask, mask, other);
  code_.vpcmpgtw(mask, mask, splat_of(infinity, 2));
  code_.vptest(mask, mask);
  code_.jnz(target, Xbyak::CodeGenerator::T_NEAR);
}

void PackedVectors::jump_unless_signs(Register s, bool set, int bytes, const Xbyak::Label& target) {
  // ZF: no sign is set; CF: all are.
  code_.vptest(Ymm(s), splat_of(~all_but_sign(8 * bytes), bytes));
  set ? code_.jnc(target, Xbyak::CodeGenerator::T_NEAR) : code_.jnz(target, Xbyak::CodeGenerator::T_NEAR);
}

void PackedVectors::choose_by_sign(Register d, Register s, Register negative, Register positive, int bytes) {
  if (bytes == 4) return code_.vblendvps(Ymm(d), Ymm(positive), Ymm(negative), Ymm(s));
  code_.vpsraw(Ymm(15), Ymm(s), 15);
  assembler_.select(Ymm(d), Ymm(15), Ymm(negative), Ymm(positive));
}

void PackedVectors::copy(Register d, Register s) { code_.vmovdqa(Ymm(d), Ymm(s)); }

void PackedVectors::jump_if_beyond(Register keys, bool above, std::uint64_t limit, int bytes,
                                   const Xbyak::Label& target) {
  const Ymm mask = beyond(keys, above, limit, bytes);
  code_.vptest(mask, mask);
  code_.jnz(target, Xbyak::CodeGenerator::T_NEAR);
}

}  // namespace tenfold::jit
