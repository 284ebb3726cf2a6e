// SPDX-License-Identifier: Apache-2.0
#include "jit/vector/integer.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Xmm;
using Xbyak::Ymm;

constexpr std::uint64_t kSign64 = std::uint64_t{1} << 63;

/// Register `index` as wide as `like`.
Xmm same_width(int index, const Xmm& like) { return like.isYMM() ? static_cast<Xmm>(Ymm(index)) : Xmm(index); }

void multiply8(Assembler& assembler, const Xmm& d, const Xmm& a, const Xmm& b) {
  Xbyak::CodeGenerator& c = assembler.code();
  const Xmm odd = same_width(14, d), even = same_width(15, d);
  c.vpsrlw(odd, a, 8);
  c.vpsrlw(even, b, 8);
  c.vpmullw(odd, odd, even);
  c.vpsllw(odd, odd, 8);
  c.vpmullw(even, a, b);
  c.vpand(even, even, assembler.splat(0x00ff, 2));
  c.vpor(d, odd, even);
}

/// a b mod 2^64 = low a low b + 2^32 (high a low b + low a high b).
void multiply64(Assembler& assembler, const Xmm& d, const Xmm& a, const Xmm& b) {
  Xbyak::CodeGenerator& c = assembler.code();
  const Xmm cross = same_width(14, d), other = same_width(15, d);
  c.vpsrlq(cross, a, 32);
  if (a.getIdx() == b.getIdx()) {
    c.vpmuludq(cross, cross, a);
    c.vpsllq(cross, cross, 33);
    c.vpmuludq(other, a, a);
    c.vpaddq(d, cross, other);
    return;
  }
  c.vpmuludq(cross, cross, b);
  c.vpsrlq(other, b, 32);
  c.vpmuludq(other, other, a);
  c.vpaddq(cross, cross, other);
  c.vpsllq(cross, cross, 32);
  c.vpmuludq(other, a, b);
  c.vpaddq(d, cross, other);
}

/// The only 64-bit comparison is signed; unsigned ones flip the sign bits first.
void extreme64(Assembler& assembler, const Xmm& d, const Xmm& a, const Xmm& b, bool greatest, bool is_signed) {
  Xbyak::CodeGenerator& c = assembler.code();
  const Xmm left = same_width(14, d), greater = same_width(15, d);
  if (is_signed) {
    c.vpcmpgtq(greater, a, b);
  } else {
    c.vpxor(left, a, assembler.splat(kSign64, 8));
    c.vpxor(greater, b, assembler.splat(kSign64, 8));
    c.vpcmpgtq(greater, left, greater);
  }
  if (greatest) {
    c.vblendvpd(d, b, a, greater);
  } else {
    c.vblendvpd(d, a, b, greater);
  }
}

void operation64(Assembler& assembler, IntegerOp op, const Xmm& d, const Xmm& a, const Xmm& b) {
  switch (op) {
    case IntegerOp::add: assembler.code().vpaddq(d, a, b); break;
    case IntegerOp::multiply: multiply64(assembler, d, a, b); break;
    case IntegerOp::greatest_signed: extreme64(assembler, d, a, b, true, true); break;
    case IntegerOp::greatest_unsigned: extreme64(assembler, d, a, b, true, false); break;
    case IntegerOp::least_signed: extreme64(assembler, d, a, b, false, true); break;
    case IntegerOp::least_unsigned: extreme64(assembler, d, a, b, false, false); break;
  }
}

}  // namespace

void integer_avx2(Assembler& assembler, IntegerOp op, const Xmm& d, const Xmm& a, const Xmm& b, int lane_bits) {
  Xbyak::CodeGenerator& c = assembler.code();
  if (lane_bits == 64) return operation64(assembler, op, d, a, b);
  const bool bytes = lane_bits == 8, words = lane_bits == 16;
  switch (op) {
    case IntegerOp::add: bytes ? c.vpaddb(d, a, b) : words ? c.vpaddw(d, a, b) : c.vpaddd(d, a, b); break;
    case IntegerOp::multiply:
      bytes ? multiply8(assembler, d, a, b) : words ? c.vpmullw(d, a, b) : c.vpmulld(d, a, b);
      break;
    case IntegerOp::greatest_signed:
      bytes ? c.vpmaxsb(d, a, b) : words ? c.vpmaxsw(d, a, b) : c.vpmaxsd(d, a, b);
      break;
    case IntegerOp::greatest_unsigned:
      bytes ? c.vpmaxub(d, a, b) : words ? c.vpmaxuw(d, a, b) : c.vpmaxud(d, a, b);
      break;
    case IntegerOp::least_signed: bytes ? c.vpminsb(d, a, b) : words ? c.vpminsw(d, a, b) : c.vpminsd(d, a, b); break;
    case IntegerOp::least_unsigned: bytes ? c.vpminub(d, a, b) : words ? c.vpminuw(d, a, b) : c.vpminud(d, a, b); break;
  }
}

void abs_integer_avx2(Assembler& assembler, const Xmm& d, int lane_bits) {
  Xbyak::CodeGenerator& c = assembler.code();
  if (lane_bits == 8) return c.vpabsb(d, d);
  if (lane_bits == 16) return c.vpabsw(d, d);
  if (lane_bits == 32) return c.vpabsd(d, d);
  const Xmm negative = same_width(15, d);
  c.vpxor(negative, negative, negative);
  c.vpcmpgtq(negative, negative, d);
  c.vpxor(d, d, negative);
  c.vpsubq(d, d, negative);
}

}  // namespace tenfold::jit
