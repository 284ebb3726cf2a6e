// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <type_traits>
#include <utility>

#include "jit/lane/avx512.hpp"
#include "jit/lane/between_lanes.hpp"
#include "jit/lane/instructions.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Address;
using Xbyak::Operand;
using Xbyak::Xmm;

using EmitCompare = void (Xbyak::CodeGenerator::*)(const Xbyak::Opmask&, const Xmm&, const Operand&, std::uint8_t);
using EmitTest = void (Xbyak::CodeGenerator::*)(const Xbyak::Opmask&, const Xmm&, const Operand&);
using EmitFromMask = void (Xbyak::CodeGenerator::*)(const Xmm&, const Xbyak::Opmask&);
using EmitToMask = void (Xbyak::CodeGenerator::*)(const Xbyak::Opmask&, const Xmm&);
using EmitMove = void (Xbyak::CodeGenerator::*)(const Xmm&, const Operand&);
using G = Xbyak::CodeGenerator;

constexpr TwoRow<EmitInteger> kBits[] = {
    {LaneOp::bit_and, true, {&G::vpandd, &G::vpandd, &G::vpandd, &G::vpandq}},
    {LaneOp::bit_or, true, {&G::vpord, &G::vpord, &G::vpord, &G::vporq}},
    {LaneOp::bit_xor, true, {&G::vpxord, &G::vpxord, &G::vpxord, &G::vpxorq}},
    {LaneOp::bit_and_not, false, {&G::vpandnd, &G::vpandnd, &G::vpandnd, &G::vpandnq}},
};

/// 132: d = d s + a, 213: d = a d + s, 231: d = a s + d, with s the last operand, which may be memory.
struct FusedRow {
  EmitInteger form132, form213, form231;
};
constexpr FusedRow kFused[2][2] = {
    {{&G::vfmadd132ps, &G::vfmadd213ps, &G::vfmadd231ps}, {&G::vfmadd132pd, &G::vfmadd213pd, &G::vfmadd231pd}},
    {{&G::vfnmadd132ps, &G::vfnmadd213ps, &G::vfnmadd231ps}, {&G::vfnmadd132pd, &G::vfnmadd213pd, &G::vfnmadd231pd}}};

/// Predicates of vcmpps and vpcmpd: of a and b as they are, and of b and a.
struct Predicates {
  std::uint8_t straight, swapped;
};

Predicates predicates(const LaneNode& node) {
  switch (node.op) {
    case LaneOp::less: return is_real(node.type) ? Predicates{17, 30} : Predicates{1, 6};
    case LaneOp::less_equal: return {18, 29};
    case LaneOp::unordered: return {3, 3};
    default: return {0, 0};
  }
}

}  // namespace

void Avx512Operation::constant(Assembler& assembler, const Xmm& d, std::uint64_t pattern, int bytes) {
  Xbyak::CodeGenerator& code = assembler.code();
  if (pattern == 0) {
    code.vpxord(d, d, d);
  } else {
    code.vmovups(d, assembler.splat(pattern, bytes));
  }
}

/// The register of `source`; the spare one, if it is a constant.
Xmm Avx512Operation::in_register(const LaneSource& source, int bytes) {
  if (!source.is_constant()) return vector(source.vec, bytes);
  constant(assembler_, sized(kSpare, bytes), source.pattern, source.bytes);
  return sized(kSpare, bytes);
}

/// Calls `emit` with the register of `source`, or with its constant in memory.
template <class F>
void Avx512Operation::with_operand(const LaneSource& source, int bytes, const F& emit) {
  if (source.is_constant()) {
    emit(memory(source));
  } else {
    emit(vector(source.vec, bytes));
  }
}

template <class Row, std::size_t n>
bool Avx512Operation::two_by(const Row (&rows)[n], Vec d, LaneSource a, LaneSource b) {
  const int bytes = lane_bytes(node_.type);
  const Row* const row = find_row(rows, node_.op);
  if (row == nullptr) return false;
  if (row->commutes && a.is_constant()) std::swap(a, b);
  const Xmm first = in_register(a, bytes), to = vector(d, bytes);
  const auto instruction = of_width(row->instructions, bytes);
  G& code = code_;
  with_operand(b, bytes, [&](const Operand& second) { (code.*instruction)(to, first, second); });
  return true;
}

void Avx512Operation::two(Vec d, std::span<const LaneSource> args) {
  if (node_.op == LaneOp::multiply && node_.type == LaneType::i64 && node_.immediate != 0) {
    const bool is_signed = static_cast<LaneFactors>(node_.immediate) == LaneFactors::signed_halves;
    const EmitInteger multiply = is_signed ? &G::vpmuldq : &G::vpmuludq;
    const TwoRow<EmitInteger> halves[] = {{LaneOp::multiply, true, {nullptr, nullptr, nullptr, multiply}}};
    two_by(halves, d, args[0], args[1]);
    return;
  }
  if (node_.op == LaneOp::multiply && node_.type == LaneType::i8) return multiply8(d, args[0], args[1]);
  if (is_real(node_.type) && two_by(instructions::kReal, d, args[0], args[1])) return;
  if (!two_by(kBits, d, args[0], args[1])) two_by(instructions::kInteger, d, args[0], args[1]);
}

/// As words: their lower bytes multiply as they are; an upper one and the other word without its lower byte, to the
/// upper byte.
void Avx512Operation::multiply8(Vec d, LaneSource a, LaneSource b) {
  if (a.is_constant()) std::swap(a, b);
  const Xmm first = vector(a.vec, 1), upper = sized(kOrdered, 1), lower = sized(kSpare, 1);
  code_.vpsrlw(upper, first, 8);
  with_operand(b, 1, [&](const Operand& second) {
    code_.vmovdqu8(lower, second);
    code_.vpandd(lower, lower, assembler_.splat(0xff00, 2));
    code_.vpmullw(upper, upper, lower);
    code_.vpmullw(lower, first, second);
  });
  code_.vpandd(lower, lower, assembler_.splat(0x00ff, 2));
  code_.vpord(vector(d, 1), lower, upper);
}

void Avx512Operation::fused(Vec d, std::span<const LaneSource> args) {
  const int bytes = lane_bytes(node_.type);
  const FusedRow& row = kFused[node_.op == LaneOp::fnma][bytes == 8];
  LaneSource a = args[0], b = args[1], c = args[2];
  if (a.is_constant() || b.vec == d) std::swap(a, b);
  const Xmm to = vector(d, bytes);
  G& code = code_;
  if (a.vec == d) {
    if (c.is_constant()) {
      const Xmm factor = in_register(b, bytes);
      (code.*row.form213)(to, factor, memory(c));
    } else {
      const Xmm addend = vector(c.vec, bytes);
      with_operand(b, bytes, [&](const Operand& s) { (code.*row.form132)(to, addend, s); });
    }
    return;
  }
  const Xmm factor = in_register(a, bytes);
  if (c.is_constant()) {
    constant(assembler_, to, c.pattern, c.bytes);
  } else if (c.vec != d) {
    code_.vmovaps(to, vector(c.vec, bytes));
  }
  with_operand(b, bytes, [&](const Operand& s) { (code.*row.form231)(to, factor, s); });
}

void Avx512Operation::one_real(Vec d, const LaneSource& a) {
  // Never raises the inexact exception: the bit above LaneRounding, which counts as the instruction does.
  const auto rounding = static_cast<std::uint8_t>(node_.immediate | 8);
  const int bytes = lane_bytes(node_.type);
  const Xmm to = vector(d, bytes);
  with_operand(a, bytes, [&](const Operand& s) {
    if (node_.op == LaneOp::sqrt) {
      bytes == 4 ? code_.vsqrtps(to, s) : code_.vsqrtpd(to, s);
    } else {
      bytes == 4 ? code_.vrndscaleps(to, s, rounding) : code_.vrndscalepd(to, s, rounding);
    }
  });
}

void Avx512Operation::shift(Vec d, const LaneSource& a) {
  const int bytes = lane_bytes(node_.type);
  G& code = code_;
  if (in_mask()) {
    constexpr EmitTest kTest[] = {&G::vptestmb, &G::vptestmw, &G::vptestmd, &G::vptestmq};
    const auto top = static_cast<unsigned>(8 * bytes - 1) - static_cast<unsigned>(node_.immediate);
    LaneSource bit{-1, std::uint64_t{1} << top, bytes};
    bit.vec = layer_.held(bit);
    const Xmm of = in_register(a, bytes);
    with_operand(bit, bytes, [&](const Operand& s) { (code.*of_width(kTest, bytes))(mask_, of, s); });
    return;
  }
  (code.*instructions::shift(node_.op, bytes))(vector(d, bytes), in_register(a, bytes),
                                               static_cast<std::uint8_t>(node_.immediate));
}

void Avx512Operation::compare(Vec d, std::span<const LaneSource> args) {
  const int bytes = lane_bytes(node_.type);
  const bool swap = args[0].is_constant();
  const std::uint8_t predicate = swap ? predicates(node_).swapped : predicates(node_).straight;
  const Xmm first = in_register(args[swap ? 1 : 0], bytes);
  with_operand(args[swap ? 0 : 1], bytes, [&](const Operand& second) {
    if (is_real(node_.type)) {
      bytes == 4 ? code_.vcmpps(mask_, first, second, predicate) : code_.vcmppd(mask_, first, second, predicate);
    } else {
      constexpr EmitCompare kCompare[] = {&G::vpcmpb, &G::vpcmpw, &G::vpcmpd, &G::vpcmpq};
      G& code = code_;
      (code.*of_width(kCompare, bytes))(mask_, first, second, predicate);
    }
  });
  if (in_mask()) return;
  // A core of Golden Cove's kind waits for what has been in the register, which may be the step before: its logarithms
  // took 68 cycles a vector so, and take 20 apart.
  const Xmm all(vector(d, bytes).getIdx());
  code_.vpxord(all, all, all);
  constexpr EmitFromMask kFromMask[] = {&G::vpmovm2b, &G::vpmovm2w, &G::vpmovm2d, &G::vpmovm2q};
  G& code = code_;
  (code.*of_width(kFromMask, bytes))(vector(d, bytes), mask_);
}

void Avx512Operation::select(Vec d, std::span<const LaneSource> args) {
  constexpr EmitToMask kToMask[] = {&G::vpmovb2m, &G::vpmovw2m, &G::vpmovd2m, &G::vpmovq2m};
  constexpr EmitMove kMove[] = {&G::vmovdqu8, &G::vmovdqu16, &G::vmovdqu32, &G::vmovdqu64};
  constexpr EmitInteger kBlend[] = {&G::vpblendmb, &G::vpblendmw, &G::vpblendmd, &G::vpblendmq};
  const int bytes = lane_bytes(node_.type);
  const Xmm to = vector(d, bytes);
  G& code = code_;
  if (!in_mask()) (code.*of_width(kToMask, bytes))(mask_, in_register(args[0], bytes));
  with_operand(args[1], bytes, [&](const Operand& yes) {
    if (args[2].is_constant() && args[2].pattern == 0) {
      (code.*of_width(kMove, bytes))(to | mask_ | Xbyak::util::T_z, yes);
      return;
    }
    const Xmm no = in_register(args[2], bytes);
    (code.*of_width(kBlend, bytes))(to | mask_, no, yes);
  });
}

void Avx512Operation::convert(Vec d, const LaneSource& a) {
  const Xmm from = in_register(a, lane_bytes(node_.type)), to = vector(d, lane_bytes(result_type(node_)));
  switch (node_.op) {
    case LaneOp::to_i32: node_.type == LaneType::f32 ? code_.vcvttps2dq(to, from) : code_.vcvttpd2dq(to, from); break;
    case LaneOp::to_f32: code_.vcvtdq2ps(to, from); break;
    case LaneOp::to_f64: code_.vcvtdq2pd(to, from); break;
    case LaneOp::widen: code_.vcvtps2pd(to, from); break;
    case LaneOp::narrow: code_.vcvtpd2ps(to, from); break;
    case LaneOp::extend_signed: code_.vpmovsxdq(to, from); break;
    case LaneOp::extend_zero: code_.vpmovzxdq(to, from); break;
    default: code_.vpmovqd(to, from); break;
  }
}

void Avx512Operation::between_lanes(Vec d, std::span<const LaneSource> args) {
  const int bytes = lane_bytes(node_.type);
  const Xmm a = in_register(args[0], bytes);
  with_operand(args.back(), bytes, [&](const Operand& second) {
    emit_between_lanes(assembler_, node_, lanes_, vector(d, bytes), a, second, sized(kOrdered, bytes));
  });
}

/// Times the scale, which their exponents have room for.
Address Avx512Operation::roots(LaneLayer& layer, std::uint64_t scale_bits) {
  std::array<std::uint32_t, 8> entries = kEighthRoots;
  for (std::uint32_t& entry : entries) entry += static_cast<std::uint32_t>(scale_bits) << 23;
  return layer.table(entries);
}

/// What the root leaves of the power is the floor of b.
void Avx512Operation::exp2_eighths(Vec d, const LaneSource& a, const LaneSource& b) {
  const int index = in_register(a, 4).getIdx(), kept = layer_.held(LaneSource::roots(node_.immediate));
  const auto look_up = [&](const auto& root, const auto& by) {
    kept < 0 ? code_.vpermps(root, by, roots(layer_, node_.immediate))
             : code_.vpermps(root, by, std::decay_t<decltype(root)>(kept));
  };
  lanes_ == 16 ? look_up(Xbyak::Zmm(kSpare), Xbyak::Zmm(index)) : look_up(Xbyak::Ymm(kSpare), Xbyak::Ymm(index));
  with_operand(b, 4, [&](const Xbyak::Operand& by) { code_.vscalefps(vector(d, 4), sized(kSpare, 4), by); });
}

void Avx512Operation::emit(Vec d, std::span<const LaneSource> from) {
  std::array<LaneSource, 3> sources;
  for (std::size_t i = 0; i < from.size(); ++i) {
    sources[i] = from[i];
    if (from[i].is_constant()) sources[i].vec = layer_.held(from[i]);
  }
  const std::span<const LaneSource> args(sources.data(), from.size());
  if (node_.op == LaneOp::bit_and && args[0].is_constant() && args[0] == args[1]) {
    constant(assembler_, vector(d, args[0].bytes), args[0].pattern, args[0].bytes);
    return;
  }
  switch (node_.op) {
    case LaneOp::exp2_eighths: exp2_eighths(d, args[0], args[1]); break;
    case LaneOp::fma:
    case LaneOp::fnma: fused(d, args); break;
    case LaneOp::sqrt:
    case LaneOp::round: one_real(d, args[0]); break;
    case LaneOp::round_f16:
      code_.vcvtps2ph(sized(kSpare, 2), in_register(args[0], 4), 0);
      code_.vcvtph2ps(vector(d, 4), sized(kSpare, 2));
      break;
    case LaneOp::shift_left:
    case LaneOp::shift_right:
    case LaneOp::shift_right_arithmetic: shift(d, args[0]); break;
    case LaneOp::equal:
    case LaneOp::less:
    case LaneOp::less_equal:
    case LaneOp::unordered: compare(d, args); break;
    case LaneOp::select: select(d, args); break;
    case LaneOp::to_i32:
    case LaneOp::to_f32:
    case LaneOp::to_f64:
    case LaneOp::widen:
    case LaneOp::narrow:
    case LaneOp::extend_signed:
    case LaneOp::extend_zero:
    case LaneOp::low_half: convert(d, args[0]); break;
    case LaneOp::prefix_sum:
    case LaneOp::last_lane:
    case LaneOp::shift_in: between_lanes(d, args); break;
    default: two(d, args); break;
  }
}

}  // namespace tenfold::jit
