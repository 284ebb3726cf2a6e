// SPDX-License-Identifier: Apache-2.0
//
// The operations of lane programs on a ymm register. What AVX2 lacks for lanes of 64 bits (products, extremes,
// arithmetic shifts), or of 8 (products), is put together from what it has.
#include "jit/lane/avx2.hpp"
#include "jit/lane/instructions.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Ymm;

using G = Xbyak::CodeGenerator;

constexpr std::uint64_t kSign64 = std::uint64_t{1} << 63;

/// Of `less` the arguments change places.
constexpr TwoRow<EmitInteger> kComparisons[] = {
    {LaneOp::equal, true, {&G::vpcmpeqb, &G::vpcmpeqw, &G::vpcmpeqd, &G::vpcmpeqq}},
    {LaneOp::less, false, {&G::vpcmpgtb, &G::vpcmpgtw, &G::vpcmpgtd, &G::vpcmpgtq}},
};

}  // namespace

void Avx2Operation::emit(int half, std::span<const LaneSource> args) {
  for (std::size_t i = 0; i < args.size(); ++i)
    regs_[i] = args[i].is_constant() ? layer_.held(args[i]) : 2 * args[i].vec + half;
  args_ = args;
  switch (node_.op) {
    case LaneOp::fma:
    case LaneOp::fnma: fused(); break;
    case LaneOp::select: select(); break;
    case LaneOp::sqrt: {
      const Ymm a = reg(0, 14);
      wide_ ? c_.vsqrtpd(d_, a) : c_.vsqrtps(d_, a);
      break;
    }
    case LaneOp::round: {
      constexpr int kNoException = 8;
      const auto mode = static_cast<std::uint8_t>(node_.immediate | kNoException);
      const Ymm a = reg(0, 14);
      wide_ ? c_.vroundpd(d_, a, mode) : c_.vroundps(d_, a, mode);
      break;
    }
    case LaneOp::round_f16:
      c_.vcvtps2ph(Xbyak::Xmm(15), reg(0, 14), 0);
      c_.vcvtph2ps(d_, Xbyak::Xmm(15));
      break;
    case LaneOp::to_i32: c_.vcvttps2dq(d_, reg(0, 14)); break;
    case LaneOp::to_f32: c_.vcvtdq2ps(d_, reg(0, 14)); break;
    case LaneOp::shift_left:
    case LaneOp::shift_right:
    case LaneOp::shift_right_arithmetic: shift(reg(0, 14), static_cast<std::uint8_t>(node_.immediate)); break;
    default:
      if (real_ && node_.op <= LaneOp::greater) {
        arithmetic();
      } else if (real_ && node_.op >= LaneOp::equal && node_.op <= LaneOp::unordered) {
        compare();
      } else {
        integer();
      }
      break;
  }
}

Ymm Avx2Operation::reg(std::size_t arg, int spare) {
  if (regs_[arg] >= 0) return Ymm(regs_[arg]);
  c_.vmovdqu(Ymm(spare), memory(arg));
  return Ymm(spare);
}

Xbyak::Address Avx2Operation::memory(std::size_t arg) { return a_.splat(args_[arg].pattern, args_[arg].bytes); }

void Avx2Operation::arithmetic() {
  const EmitReal instruction = of_width(find_row(instructions::kReal, node_.op)->instructions, lane_bytes(node_.type));
  const Ymm a = reg(0, 14);
  with_last(1, [&](const Xbyak::Operand& b) { (c_.*instruction)(d_, a, b); });
}

void Avx2Operation::compare() {
  // Quiet predicates: equal, less, less or equal, unordered.
  constexpr std::uint8_t kPredicates[] = {0x00, 0x11, 0x12, 0x03};
  const std::uint8_t predicate =
      kPredicates[static_cast<std::size_t>(node_.op) - static_cast<std::size_t>(LaneOp::equal)];
  const Ymm a = reg(0, 14);
  with_last(1,
            [&](const Xbyak::Operand& b) { wide_ ? c_.vcmppd(d_, a, b, predicate) : c_.vcmpps(d_, a, b, predicate); });
}

/// The form (132, 213, 231) follows from which argument the destination is.
void Avx2Operation::fused() {
  const bool minus = node_.op == LaneOp::fnma;
  std::size_t x = 0, y = 1;
  const int d = d_.getIdx();
  if (regs_[2] != d && (regs_[0] == d || regs_[1] == d)) {
    if (regs_[0] != d) std::swap(x, y);
    if (regs_[2] >= 0) {
      const Ymm c(regs_[2]);
      with_last(y, [&](const Xbyak::Operand& b) {
        if (minus) {
          wide_ ? c_.vfnmadd132pd(d_, c, b) : c_.vfnmadd132ps(d_, c, b);
        } else {
          wide_ ? c_.vfmadd132pd(d_, c, b) : c_.vfmadd132ps(d_, c, b);
        }
      });
      return;
    }
    const Ymm b = reg(y, 14);
    const Xbyak::Address c = memory(2);
    if (minus) {
      wide_ ? c_.vfnmadd213pd(d_, b, c) : c_.vfnmadd213ps(d_, b, c);
    } else {
      wide_ ? c_.vfmadd213pd(d_, b, c) : c_.vfmadd213ps(d_, b, c);
    }
    return;
  }
  if (regs_[0] < 0) std::swap(x, y);
  const Ymm a = reg(x, 14);
  if (regs_[2] != d) with_last(2, [&](const Xbyak::Operand& c) { c_.vmovups(d_, c); });
  with_last(y, [&](const Xbyak::Operand& b) {
    if (minus) {
      wide_ ? c_.vfnmadd231pd(d_, a, b) : c_.vfnmadd231ps(d_, a, b);
    } else {
      wide_ ? c_.vfmadd231pd(d_, a, b) : c_.vfmadd231ps(d_, a, b);
    }
  });
}

/// Of lanes of 16 bits each byte has to know the sign.
void Avx2Operation::select() {
  Ymm mask = reg(0, 14);
  const Ymm no = reg(2, 15);
  const int bytes = lane_bytes(node_.type);
  if (bytes == 2) {
    c_.vpsraw(Ymm(14), mask, 15);
    mask = Ymm(14);
  }
  if (bytes < 4) return with_last(1, [&](const Xbyak::Operand& yes) { c_.vpblendvb(d_, no, yes, mask); });
  with_last(
      1, [&](const Xbyak::Operand& yes) { wide_ ? c_.vblendvpd(d_, no, yes, mask) : c_.vblendvps(d_, no, yes, mask); });
}

void Avx2Operation::shift(const Ymm& a, std::uint8_t bits) {
  if (!wide_ || node_.op != LaneOp::shift_right_arithmetic) {
    (c_.*instructions::shift(node_.op, lane_bytes(node_.type)))(d_, a, bits);
    return;
  }
  // Flipping the bits of negative numbers around a shift that brings in zeros.
  c_.vpxor(Ymm(15), Ymm(15), Ymm(15));
  c_.vpcmpgtq(Ymm(15), Ymm(15), a);
  c_.vpxor(d_, a, Ymm(15));
  c_.vpsrlq(d_, d_, bits);
  c_.vpxor(d_, d_, Ymm(15));
}

void Avx2Operation::integer() {
  const int bytes = lane_bytes(node_.type);
  if (wide_ && integer64()) return;
  if (bytes == 1 && node_.op == LaneOp::multiply) return multiply8();
  if (node_.op >= LaneOp::bit_and && node_.op <= LaneOp::bit_and_not) return combine_bits();
  const TwoRow<EmitInteger>* row = find_row(kComparisons, node_.op);
  if (row == nullptr) row = find_row(instructions::kInteger, node_.op);
  const EmitInteger instruction = of_width(row->instructions, bytes);
  const bool reversed = node_.op == LaneOp::less;  // b > a
  const Ymm a = reg(reversed ? 1 : 0, 14);
  with_last(reversed ? 0 : 1, [&](const Xbyak::Operand& b) { (c_.*instruction)(d_, a, b); });
}

void Avx2Operation::combine_bits() {
  const Ymm a = reg(0, 14);
  with_last(1, [&](const Xbyak::Operand& b) {
    switch (node_.op) {
      case LaneOp::bit_and: real_ ? c_.vandps(d_, a, b) : c_.vpand(d_, a, b); break;
      case LaneOp::bit_or: real_ ? c_.vorps(d_, a, b) : c_.vpor(d_, a, b); break;
      case LaneOp::bit_xor: real_ ? c_.vxorps(d_, a, b) : c_.vpxor(d_, a, b); break;
      default: real_ ? c_.vandnps(d_, a, b) : c_.vpandn(d_, a, b); break;
    }
  });
}

/// As words: their lower bytes multiply as they are; an upper one and the other word without its lower byte, to the
/// upper byte.
void Avx2Operation::multiply8() {
  const std::size_t x = regs_[0] < 0 ? 1 : 0, y = 1 - x;
  const Ymm a(regs_[x]), lower(14), upper(15);
  c_.vpsrlw(lower, a, 8);
  with_last(y, [&](const Xbyak::Operand& b) {
    c_.vmovdqu(upper, b);
    c_.vpand(upper, upper, a_.splat(0xff00, 2));
    c_.vpmullw(upper, upper, lower);
    c_.vpmullw(lower, a, b);
  });
  c_.vpand(lower, lower, a_.splat(0x00ff, 2));
  c_.vpor(d_, lower, upper);
}

/// What AVX2 has no instruction for; false when it has one.
bool Avx2Operation::integer64() {
  switch (node_.op) {
    case LaneOp::multiply: multiply64(); return true;
    case LaneOp::greatest_signed: extreme64(true, true); return true;
    case LaneOp::greatest_unsigned: extreme64(true, false); return true;
    case LaneOp::least_signed: extreme64(false, true); return true;
    case LaneOp::least_unsigned: extreme64(false, false); return true;
    case LaneOp::shift_right_arithmetic_by: {
      const Ymm a = reg(0, 14);
      c_.vpxor(Ymm(15), Ymm(15), Ymm(15));
      c_.vpcmpgtq(Ymm(15), Ymm(15), a);
      c_.vpxor(Ymm(14), a, Ymm(15));
      with_last(1, [&](const Xbyak::Operand& b) { c_.vpsrlvq(Ymm(14), Ymm(14), b); });
      c_.vpxor(d_, Ymm(14), Ymm(15));
      return true;
    }
    default: return false;
  }
}

/// a b mod 2^64 = low a low b + 2^32 (high a low b + low a high b).
void Avx2Operation::multiply64() {
  const std::size_t x = regs_[0] < 0 ? 1 : 0, y = 1 - x;
  const Ymm a(regs_[x]), cross(14), other(15);
  const auto factors = static_cast<LaneFactors>(node_.immediate);
  if (factors != LaneFactors::any) {
    with_last(y, [&](const Xbyak::Operand& b) {
      factors == LaneFactors::signed_halves ? c_.vpmuldq(d_, a, b) : c_.vpmuludq(d_, a, b);
    });
    return;
  }
  if (regs_[x] == regs_[y]) {
    c_.vpsrlq(cross, a, 32);
    c_.vpmuludq(cross, cross, a);
    c_.vpsllq(cross, cross, 33);
    c_.vpmuludq(other, a, a);
    c_.vpaddq(d_, cross, other);
    return;
  }
  c_.vpsrlq(cross, a, 32);
  with_last(y, [&](const Xbyak::Operand& b) {
    c_.vpmuludq(cross, cross, b);
    c_.vmovdqu(other, b);
    c_.vpsrlq(other, other, 32);
    c_.vpmuludq(other, other, a);
    c_.vpaddq(cross, cross, other);
    c_.vpsllq(cross, cross, 32);
    c_.vpmuludq(other, a, b);
  });
  c_.vpaddq(d_, cross, other);
}

/// The only 64-bit comparison is signed; unsigned ones flip the sign bits first.
void Avx2Operation::extreme64(bool greatest, bool is_signed) {
  const Ymm mask(15);
  if (is_signed) {
    const Ymm a = reg(0, 14);
    with_last(1, [&](const Xbyak::Operand& b) { c_.vpcmpgtq(mask, a, b); });
  } else {
    const Ymm a = reg(0, 14);
    c_.vpxor(Ymm(14), a, a_.splat(kSign64, 8));
    const Ymm b = reg(1, 15);
    c_.vpxor(mask, b, a_.splat(kSign64, 8));
    c_.vpcmpgtq(mask, Ymm(14), mask);
  }
  const std::size_t above = greatest ? 0 : 1;
  const Ymm no = reg(1 - above, 14);
  with_last(above, [&](const Xbyak::Operand& yes) { c_.vblendvpd(d_, no, yes, mask); });
}

}  // namespace tenfold::jit
