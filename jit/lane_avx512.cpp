// SPDX-License-Identifier: Apache-2.0
//
// Lane programs in AVX-512 (F, BW, DQ, VL): a virtual vector is a zmm, or its lower ymm for eight lanes of 32 bits, so
// that what is past the lanes is never computed with. k1 holds the tail; k2, zmm15 and zmm29 to zmm31 are the layer's
// own. BF16 and FP16 extensions are not used, as in vector_avx512.cpp.
#include <algorithm>
#include <utility>

#include "jit/lane_layer.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Address;
using Xbyak::Operand;
using Xbyak::Xmm;

using Emit = void (Xbyak::CodeGenerator::*)(const Xmm&, const Xmm&, const Operand&);
using EmitReal = void (Xbyak::CodeGenerator::*)(const Xmm&, const Operand&, const Operand&);
using EmitShift = void (Xbyak::CodeGenerator::*)(const Xmm&, const Operand&, std::uint8_t);
using G = Xbyak::CodeGenerator;

/// One instruction of two sources, on lanes of 32 and of 64 bits.
template <class Instruction>
struct TwoRow {
  LaneOp op;
  bool commutes;
  Instruction narrow, wide;
};

constexpr TwoRow<EmitReal> kReal[] = {
    {LaneOp::add, true, &G::vaddps, &G::vaddpd},      {LaneOp::subtract, false, &G::vsubps, &G::vsubpd},
    {LaneOp::multiply, true, &G::vmulps, &G::vmulpd}, {LaneOp::divide, false, &G::vdivps, &G::vdivpd},
    {LaneOp::lesser, false, &G::vminps, &G::vminpd},  {LaneOp::greater, false, &G::vmaxps, &G::vmaxpd},
};

constexpr TwoRow<Emit> kInteger[] = {
    {LaneOp::add, true, &G::vpaddd, &G::vpaddq},
    {LaneOp::subtract, false, &G::vpsubd, &G::vpsubq},
    {LaneOp::multiply, true, &G::vpmulld, &G::vpmullq},
    {LaneOp::bit_and, true, &G::vpandd, &G::vpandq},
    {LaneOp::bit_or, true, &G::vpord, &G::vporq},
    {LaneOp::bit_xor, true, &G::vpxord, &G::vpxorq},
    {LaneOp::bit_and_not, false, &G::vpandnd, &G::vpandnq},
    {LaneOp::shift_left_by, false, &G::vpsllvd, &G::vpsllvq},
    {LaneOp::shift_right_by, false, &G::vpsrlvd, &G::vpsrlvq},
    {LaneOp::shift_right_arithmetic_by, false, &G::vpsravd, &G::vpsravq},
    {LaneOp::greatest_signed, true, &G::vpmaxsd, &G::vpmaxsq},
    {LaneOp::greatest_unsigned, true, &G::vpmaxud, &G::vpmaxuq},
    {LaneOp::least_signed, true, &G::vpminsd, &G::vpminsq},
    {LaneOp::least_unsigned, true, &G::vpminud, &G::vpminuq},
};

/// 132: d = d s + a, 213: d = a d + s, 231: d = a s + d, with s the last operand, which may be memory.
struct FusedRow {
  Emit form132, form213, form231;
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

class Avx512Lanes final : public LaneLayer {
 public:
  Avx512Lanes(Assembler& assembler, int lanes, LaneOrder order) : LaneLayer(assembler, lanes, order) {}

  int vectors() const override { return 28; }

  void prepare_tail(const Xbyak::Reg64& count) override {
    const Gpr bits(assembler_);
    code_.mov(bits.r32(), -1);
    code_.bzhi(bits.r32(), bits.r32(), count.cvt32());
    code_.kmovd(tail_, bits.r32());
  }

  bool has_tails(DType) const override { return true; }

  void load(Vec d, DType dtype, const Memory& from, Part part) override {
    const int bytes = byte_size(dtype);
    if (part == Part::tail) {
      masked_move(bytes, vector(d, bytes) | tail_ | Xbyak::util::T_z, code_.ptr[from]);
      if (bytes < 4) widen_elements(vector(d, 4), dtype, vector(d, bytes));
    } else {
      widen_elements(vector(d, std::max(bytes, 4)), dtype, code_.ptr[from]);
    }
    if (order_ == LaneOrder::even_first)
      reorder(vector(d, 4), vector(d, 4), [this](int lane) { return element_of(order_, lane); });
  }

  void broadcast(Vec d, DType dtype, const Memory& from) override {
    const Xmm to = vector(d, std::max(byte_size(dtype), 4));
    const Address address = code_.ptr[from];
    switch (byte_size(dtype)) {
      case 1:
        code_.vpbroadcastb(to, address);
        widen_by_shift(to, dtype, 24);
        break;
      case 2:
        code_.vpbroadcastw(to, address);
        if (dtype == DType::f16) {
          code_.vcvtph2ps(to, vector(d, 2));
        } else if (dtype == DType::bf16) {
          code_.vpslld(to, to, 16);
        } else {
          widen_by_shift(to, dtype, 16);
        }
        break;
      case 4: code_.vpbroadcastd(to, address); break;
      default: code_.vpbroadcastq(to, address); break;
    }
  }

  void store(const Memory& to, DType dtype, Vec s, Part part) override {
    const int bytes = byte_size(dtype);
    Xmm from = vector(s, std::max(bytes, 4));
    if (order_ == LaneOrder::even_first) {
      reorder(sized(kOrdered, 4), from, [this](int element) { return lane_of(order_, element); });
      from = sized(kOrdered, 4);
    }
    if (part != Part::tail) {
      narrow_lanes(code_.ptr[to], dtype, from);
      return;
    }
    if (bytes < 4) narrow_lanes(sized(kSpare, bytes), dtype, from);
    masked_move(bytes, code_.ptr[to] | tail_, bytes < 4 ? sized(kSpare, bytes) : from);
  }

  void load_lanes(Vec d, LaneType type, const Memory& from) override {
    code_.vmovups(vector(d, lane_bytes(type)), code_.ptr[from]);
  }
  void store_lanes(const Memory& to, LaneType type, Vec s) override {
    code_.vmovups(code_.ptr[to], vector(s, lane_bytes(type)));
  }

  void store_around(const Memory& to, DType dtype, Vec s) override {
    code_.vmovntps(code_.ptr[to], vector(s, byte_size(dtype)));
  }

  void spill(const Memory& to, Vec s) override { code_.vmovdqu64(code_.ptr[to], vector(s, 8)); }
  void reload(Vec d, const Memory& from) override { code_.vmovdqu64(vector(d, 8), code_.ptr[from]); }

  void shift_lanes(Vec d, Vec s, LaneType type, int by) override {
    const int to = vector(d, 4).getIdx(), from = vector(s, 4).getIdx();
    switch (by * lane_bytes(type)) {
      case 32: code_.vextracti64x4(Xbyak::Ymm(to), Xbyak::Zmm(from), 1); break;
      case 16: code_.vextracti32x4(Xmm(to), Xbyak::Ymm(from), 1); break;
      case 8: code_.vpshufd(Xmm(to), Xmm(from), 0x4e); break;
      default: code_.vpshufd(Xmm(to), Xmm(from), 0xb1); break;
    }
  }

  int constants_of_vector() const override { return 1; }

  void operate(const LaneNode& node, Vec d, std::span<const LaneSource> from) override {
    std::array<LaneSource, 3> sources;
    for (std::size_t i = 0; i < from.size(); ++i) {
      sources[i] = from[i];
      if (from[i].is_constant()) sources[i].vec = held(from[i]);
    }
    const std::span<const LaneSource> args(sources.data(), from.size());
    switch (node.op) {
      case LaneOp::lookup: {
        const int index = in_register(args[0], 4).getIdx(), to = vector(d, 4).getIdx();
        const Address eight = table(node.immediate);
        lanes_ == 16 ? code_.vpermps(Xbyak::Zmm(to), Xbyak::Zmm(index), eight)
                     : code_.vpermps(Xbyak::Ymm(to), Xbyak::Ymm(index), eight);
        break;
      }
      case LaneOp::fma:
      case LaneOp::fnma: fused(node, d, args); break;
      case LaneOp::sqrt:
      case LaneOp::round: one_real(node, d, args[0]); break;
      case LaneOp::round_f16:
        code_.vcvtps2ph(sized(kSpare, 2), in_register(args[0], 4), 0);
        code_.vcvtph2ps(vector(d, 4), sized(kSpare, 2));
        break;
      case LaneOp::shift_left:
      case LaneOp::shift_right:
      case LaneOp::shift_right_arithmetic: shift(node, d, args[0]); break;
      case LaneOp::equal:
      case LaneOp::less:
      case LaneOp::less_equal:
      case LaneOp::unordered: compare(node, d, args); break;
      case LaneOp::select: select(node, d, args); break;
      case LaneOp::to_i32:
      case LaneOp::to_f32:
      case LaneOp::to_f64:
      case LaneOp::widen:
      case LaneOp::narrow:
      case LaneOp::extend_signed:
      case LaneOp::extend_zero:
      case LaneOp::low_half: convert(node, d, args[0]); break;
      default: two(node, d, args); break;
    }
  }

 protected:
  void load_constant(int index, const LaneSource& source) override {
    constant(vector(index, 8), source.pattern, source.bytes);
  }

 private:
  static constexpr int kSpare = 31, kOrdered = 30;

  /// Lane i of d = lane from(i) of s.
  template <class From>
  void reorder(const Xmm& d, const Xmm& s, const From& from) {
    std::array<std::uint8_t, 32> lanes{};
    for (int lane = 0; lane < lanes_; ++lane)
      lanes[static_cast<std::size_t>(lane)] = static_cast<std::uint8_t>(from(lane));
    const Xmm places = sized(kSpare, 4);
    code_.vpmovzxbd(places, assembler_.bytes(lanes));
    code_.vpermd(Xbyak::Zmm(d.getIdx()), Xbyak::Zmm(places.getIdx()), Xbyak::Zmm(s.getIdx()));
  }

  /// What all lanes of `bytes` take of a register.
  Xmm sized(int index, int bytes) const {
    const int total = lanes_ * bytes;
    return Xmm(total <= 16 ? Operand::XMM : total == 32 ? Operand::YMM : Operand::ZMM, index);
  }
  /// Number 15 is for what goes lane by lane; zmm28 stands in for it.
  Xmm vector(Vec v, int bytes) const { return sized(v == kLaneByLaneVector ? 28 : v, bytes); }

  Address memory(const LaneSource& source) { return assembler_.splat(source.pattern, source.bytes); }

  void constant(const Xmm& d, std::uint64_t pattern, int bytes) {
    if (pattern == 0) {
      code_.vpxord(d, d, d);
    } else {
      code_.vmovups(d, assembler_.splat(pattern, bytes));
    }
  }

  /// The register of `source`; the spare one, if it is a constant.
  Xmm in_register(const LaneSource& source, int bytes) {
    if (!source.is_constant()) return vector(source.vec, bytes);
    constant(sized(kSpare, bytes), source.pattern, source.bytes);
    return sized(kSpare, bytes);
  }

  /// Calls `emit` with the register of `source`, or with its constant in memory.
  template <class F>
  void with_operand(const LaneSource& source, int bytes, const F& emit) {
    if (source.is_constant()) {
      emit(memory(source));
    } else {
      emit(vector(source.vec, bytes));
    }
  }

  /// Of lanes full of copies of an integer, the topmost one, by a shift to the bottom.
  void widen_by_shift(const Xmm& d, DType dtype, std::uint8_t bits) {
    if (row(dtype).kind == DTypeKind::signed_integer) {
      code_.vpsrad(d, d, bits);
    } else {
      code_.vpsrld(d, d, bits);
    }
  }

  /// The moves alone are masked: they are what surely leaves alone the memory of lanes outside.
  template <class To, class From>
  void masked_move(int bytes, const To& to, const From& from) {
    switch (bytes) {
      case 1: code_.vmovdqu8(to, from); break;
      case 2: code_.vmovdqu16(to, from); break;
      case 4: code_.vmovdqu32(to, from); break;
      default: code_.vmovdqu64(to, from); break;
    }
  }

  void widen_elements(const Xmm& d, DType dtype, const Operand& from) {
    switch (dtype) {
      case DType::f16: code_.vcvtph2ps(d, from); break;
      case DType::bf16:
        code_.vpmovzxwd(d, from);
        code_.vpslld(d, d, 16);
        break;
      case DType::s8: code_.vpmovsxbd(d, from); break;
      case DType::u8:
      case DType::boolean: code_.vpmovzxbd(d, from); break;
      case DType::s16: code_.vpmovsxwd(d, from); break;
      case DType::u16: code_.vpmovzxwd(d, from); break;
      default: code_.vmovups(d, from); break;
    }
  }

  void narrow_lanes(const Operand& to, DType dtype, const Xmm& s) {
    switch (dtype) {
      case DType::f16: code_.vcvtps2ph(to, s, 0); break;
      case DType::bf16: code_.vpmovdw(to, rounded_to_bf16(s)); break;
      case DType::s8:
      case DType::u8:
      case DType::boolean: code_.vpmovdb(to, s); break;
      case DType::s16:
      case DType::u16: code_.vpmovdw(to, s); break;
      default: code_.vmovups(static_cast<const Address&>(to), s); break;
    }
  }

  /// As in the AVX2 layer: the same integers, the same bits. In the lower half of each lane of a spare register.
  Xmm rounded_to_bf16(const Xmm& s) {
    const Xmm t = sized(kSpare, 4);
    code_.vpsrld(t, s, 16);
    code_.vpandd(t, t, assembler_.splat(1, 4));
    code_.vpaddd(t, t, assembler_.splat(0x7fff, 4));
    code_.vpaddd(t, t, s);
    code_.vpsrld(t, t, 16);
    return t;
  }

  template <class Instruction, std::size_t n>
  bool two_by(const TwoRow<Instruction> (&rows)[n], const LaneNode& node, Vec d, LaneSource a, LaneSource b) {
    const int bytes = lane_bytes(node.type);
    for (const TwoRow<Instruction>& row : rows) {
      if (row.op != node.op) continue;
      if (row.commutes && a.is_constant()) std::swap(a, b);
      const Xmm first = in_register(a, bytes), to = vector(d, bytes);
      const Instruction instruction = bytes == 4 ? row.narrow : row.wide;
      G& code = code_;
      with_operand(b, bytes, [&](const Operand& second) { (code.*instruction)(to, first, second); });
      return true;
    }
    return false;
  }

  void two(const LaneNode& node, Vec d, std::span<const LaneSource> args) {
    if (is_real(node.type) && two_by(kReal, node, d, args[0], args[1])) return;
    two_by(kInteger, node, d, args[0], args[1]);
  }

  void fused(const LaneNode& node, Vec d, std::span<const LaneSource> args) {
    const int bytes = lane_bytes(node.type);
    const FusedRow& row = kFused[node.op == LaneOp::fnma][bytes == 8];
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
      constant(to, c.pattern, c.bytes);
    } else if (c.vec != d) {
      code_.vmovaps(to, vector(c.vec, bytes));
    }
    with_operand(b, bytes, [&](const Operand& s) { (code.*row.form231)(to, factor, s); });
  }

  void one_real(const LaneNode& node, Vec d, const LaneSource& a) {
    // Never raises the inexact exception: the bit above LaneRounding, which counts as the instruction does.
    const auto rounding = static_cast<std::uint8_t>(node.immediate | 8);
    const int bytes = lane_bytes(node.type);
    const Xmm to = vector(d, bytes);
    with_operand(a, bytes, [&](const Operand& s) {
      if (node.op == LaneOp::sqrt) {
        bytes == 4 ? code_.vsqrtps(to, s) : code_.vsqrtpd(to, s);
      } else {
        bytes == 4 ? code_.vrndscaleps(to, s, rounding) : code_.vrndscalepd(to, s, rounding);
      }
    });
  }

  void shift(const LaneNode& node, Vec d, const LaneSource& a) {
    const int bytes = lane_bytes(node.type);
    constexpr EmitShift kLeft[] = {&G::vpslld, &G::vpsllq}, kRight[] = {&G::vpsrld, &G::vpsrlq},
                        kArithmetic[] = {&G::vpsrad, &G::vpsraq};
    const EmitShift* forms = node.op == LaneOp::shift_left    ? kLeft
                             : node.op == LaneOp::shift_right ? kRight
                                                              : kArithmetic;
    G& code = code_;
    (code.*forms[bytes == 8])(vector(d, bytes), in_register(a, bytes), static_cast<std::uint8_t>(node.immediate));
  }

  void compare(const LaneNode& node, Vec d, std::span<const LaneSource> args) {
    const int bytes = lane_bytes(node.type);
    const bool swap = args[0].is_constant();
    const std::uint8_t predicate = swap ? predicates(node).swapped : predicates(node).straight;
    const Xmm first = in_register(args[swap ? 1 : 0], bytes);
    with_operand(args[swap ? 0 : 1], bytes, [&](const Operand& second) {
      if (is_real(node.type)) {
        bytes == 4 ? code_.vcmpps(mask_, first, second, predicate) : code_.vcmppd(mask_, first, second, predicate);
      } else {
        bytes == 4 ? code_.vpcmpd(mask_, first, second, predicate) : code_.vpcmpq(mask_, first, second, predicate);
      }
    });
    bytes == 4 ? code_.vpmovm2d(vector(d, 4), mask_) : code_.vpmovm2q(vector(d, 8), mask_);
  }

  void select(const LaneNode& node, Vec d, std::span<const LaneSource> args) {
    const int bytes = lane_bytes(node.type);
    const Xmm to = vector(d, bytes), mask = in_register(args[0], bytes);
    bytes == 4 ? code_.vpmovd2m(mask_, mask) : code_.vpmovq2m(mask_, mask);
    with_operand(args[1], bytes, [&](const Operand& yes) {
      if (args[2].is_constant() && args[2].pattern == 0) {
        bytes == 4 ? code_.vmovdqu32(to | mask_ | Xbyak::util::T_z, yes)
                   : code_.vmovdqu64(to | mask_ | Xbyak::util::T_z, yes);
        return;
      }
      const Xmm no = in_register(args[2], bytes);
      bytes == 4 ? code_.vpblendmd(to | mask_, no, yes) : code_.vpblendmq(to | mask_, no, yes);
    });
  }

  void convert(const LaneNode& node, Vec d, const LaneSource& a) {
    const Xmm from = in_register(a, lane_bytes(node.type)), to = vector(d, lane_bytes(result_type(node)));
    switch (node.op) {
      case LaneOp::to_i32: node.type == LaneType::f32 ? code_.vcvttps2dq(to, from) : code_.vcvttpd2dq(to, from); break;
      case LaneOp::to_f32: code_.vcvtdq2ps(to, from); break;
      case LaneOp::to_f64: code_.vcvtdq2pd(to, from); break;
      case LaneOp::widen: code_.vcvtps2pd(to, from); break;
      case LaneOp::narrow: code_.vcvtpd2ps(to, from); break;
      case LaneOp::extend_signed: code_.vpmovsxdq(to, from); break;
      case LaneOp::extend_zero: code_.vpmovzxdq(to, from); break;
      default: code_.vpmovqd(to, from); break;
    }
  }

  const Xbyak::Opmask tail_{1};
  const Xbyak::Opmask mask_{2};
};

}  // namespace

std::unique_ptr<LaneLayer> make_avx512_lanes(Assembler& assembler, int lanes, LaneOrder order) {
  return std::make_unique<Avx512Lanes>(assembler, lanes, order);
}

}  // namespace tenfold::jit
