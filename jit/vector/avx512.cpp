// SPDX-License-Identifier: Apache-2.0
//
// The vector layer for AVX-512 (F, BW, DQ, VL): a virtual vector is a zmm; k1 holds the tail, k2, k3, zmm30 and
// zmm31 are the layer's own. BF16 and FP16 extensions are not used: VCVTNEPS2BF16 flushes denormals, which the contract
// forbids, and widening, order and rounding need nothing that F and BW lack.
#include <bit>

#include "jit/vector/arg.hpp"
#include "jit/vector/gather.hpp"
#include "jit/vector/integer.hpp"
#include "jit/vector/isa.hpp"
#include "jit/vector/nan_watch.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Opmask;
using Xbyak::Xmm;
using Xbyak::Ymm;
using Xbyak::Zmm;

/// Lanes 0, 8, 1, 9, ... of 32 bits.
constexpr Assembler::Bytes64 interleaved() {
  Assembler::Bytes64 bytes{};
  for (std::size_t lane = 0; lane < bytes.size() / 4; ++lane)
    bytes[4 * lane] = static_cast<std::uint8_t>(lane / 2 + lane % 2 * 8);
  return bytes;
}
constexpr Assembler::Bytes64 kInterleaved = interleaved();

class Avx512Layer final : public VectorLayer {
 public:
  using VectorLayer::VectorLayer;

  int vectors() const override { return 30; }
  SpareVectors spare() const override { return {30, 31, 64}; }
  bool has_extremes_of_64_bits() const override { return true; }
  std::unique_ptr<ArgVectors> arg_vectors() override { return make_avx512_arg_vectors(*this, assembler_); }
  std::unique_ptr<NanWatch> nan_watch(DType dtype, bool maximum, const std::vector<Vec>& slots) override {
    return make_avx512_nan_watch(assembler_, dtype, maximum, slots);
  }
  bool gathers() const override { return true; }
  std::unique_ptr<GatherVectors> gather_vectors() override { return make_avx512_gather_vectors(assembler_); }

  void prepare_tail(const Xbyak::Reg64& count, int, int) override {
    Gpr bits(assembler_);
    code_.mov(bits, -1);
    code_.bzhi(bits, bits, count);
    code_.kmovq(tail_, bits);
  }

  void fill_past_tail(Vec v, std::uint64_t pattern, int lane_bits) override {
    code_.knotq(mask_, tail_);
    const Xbyak::Address fill = assembler_.splat(pattern, lane_bits / 8);
    switch (lane_bits) {
      case 8: code_.vmovdqu8(zmm(v) | mask_, fill); break;
      case 16: code_.vmovdqu16(zmm(v) | mask_, fill); break;
      case 32: code_.vmovdqu32(zmm(v) | mask_, fill); break;
      default: code_.vmovdqu64(zmm(v) | mask_, fill); break;
    }
  }

  void load32(Vec d, DType dtype, const Memory& from, Part part) override {
    const Xbyak::Address address = code_.ptr[from];
    if (dtype == DType::f32) {
      code_.vmovups(part == Part::tail ? zmm(d) | tail_ | Xbyak::util::T_z : zmm(d), address);
      return;
    }
    if (part == Part::tail) {
      code_.vmovdqu16(ymm(d) | tail_ | Xbyak::util::T_z, address);
      widen_words(d, dtype, ymm(d));
    } else {
      widen_words(d, dtype, address);
    }
  }

  void load16(Vec d, const Memory& from, Part part) override {
    code_.vmovdqu16(part == Part::tail ? zmm(d) | tail_ | Xbyak::util::T_z : zmm(d), code_.ptr[from]);
  }

  void load_integers(Vec d, const Memory& from, int lane_bits, Part part) override {
    const Zmm to = part == Part::tail ? zmm(d) | tail_ | Xbyak::util::T_z : zmm(d);
    switch (lane_bits) {
      case 8: code_.vmovdqu8(to, code_.ptr[from]); break;
      case 16: code_.vmovdqu16(to, code_.ptr[from]); break;
      case 32: code_.vmovdqu32(to, code_.ptr[from]); break;
      default: code_.vmovdqu64(to, code_.ptr[from]); break;
    }
  }

  void load64(Vec d, const Memory& from, int half, Part part, double past) override {
    const Memory at = from + 64 * half;
    if (part != Part::tail) return load_bytes(d, at);
    if (half == 1) code_.kshiftrw(mask_, tail_, 8);
    splat(d, std::bit_cast<std::uint64_t>(past), 8);
    code_.vmovupd(zmm(d) | (half == 1 ? mask_ : tail_), code_.ptr[at]);
  }

  void store_integers(const Memory& to, Vec s, int lane_bits, Part part) override {
    const Xbyak::Address address = part == Part::tail ? code_.ptr[to] | tail_ : code_.ptr[to];
    const bool one = part == Part::one;
    if (part == Part::full) return store_bytes(to, s);
    switch (lane_bits) {
      case 8: one ? code_.vpextrb(code_.byte[to], xmm(s), 0) : code_.vmovdqu8(address, zmm(s)); break;
      case 16: one ? code_.vpextrw(code_.word[to], xmm(s), 0) : code_.vmovdqu16(address, zmm(s)); break;
      case 32: one ? code_.vmovd(code_.dword[to], xmm(s)) : code_.vmovdqu32(address, zmm(s)); break;
      default: one ? code_.vmovq(code_.qword[to], xmm(s)) : code_.vmovdqu64(address, zmm(s)); break;
    }
  }

  void load_bytes(Vec d, const Memory& from) override { code_.vmovdqu64(zmm(d), code_.ptr[from]); }
  void store_bytes(const Memory& to, Vec s) override {
    around_ ? code_.vmovntdq(code_.ptr[to], zmm(s)) : code_.vmovdqu64(code_.ptr[to], zmm(s));
  }

  void store32(const Memory& to, DType dtype, Vec s, Part part) override {
    const Xbyak::Address address = code_.ptr[to];
    if (dtype == DType::f32) {
      if (part == Part::full) return store_bytes(to, s);
      part == Part::one ? code_.vmovss(address, xmm(s)) : code_.vmovups(address | tail_, zmm(s));
      return;
    }
    if (part == Part::one) {
      dtype == DType::bf16 ? round_to_bf16(xmm(s), Xmm(31)) : code_.vcvtps2ph(xmm(s), xmm(s), 0);
      code_.vpextrw(address, xmm(s), 0);
      return;
    }
    if (dtype == DType::bf16) {
      round_to_bf16(zmm(s), Zmm(31));
      code_.vpmovdw(ymm(s), zmm(s));
    } else {
      code_.vcvtps2ph(ymm(s), zmm(s), 0);
    }
    code_.vmovdqu16(part == Part::tail ? address | tail_ : address, ymm(s));
  }

  void store64_one(const Memory& to, Vec s) override { code_.vmovsd(code_.ptr[to], xmm(s)); }
  bool stores_tails_of(int) const override { return true; }

  void splat(Vec d, std::uint64_t pattern, int bytes) override {
    if (pattern == 0) {
      code_.vpxord(zmm(d), zmm(d), zmm(d));
    } else {
      code_.vmovdqu64(zmm(d), assembler_.splat(pattern, bytes));
    }
  }

  void arithmetic32(Arithmetic op, Vec d, Vec a, Vec b) override { arithmetic_ps(op, zmm(d), zmm(a), zmm(b)); }
  void arithmetic32(Arithmetic op, Vec d, Vec a, const Memory& b) override {
    arithmetic_ps(op, zmm(d), zmm(a), code_.ptr[b]);
  }

  bool pairs(DType dtype) const override { return dtype == DType::bf16 || dtype == DType::f16; }

  /// bf16: even elements in one sum and odd ones in the other. f16: lower and upper halves in registers of 32 bytes, as
  /// a conversion to 64 takes 1.33 cycles and two to 32 take 1.1.
  void start_pair(Vec d, DType dtype) override {
    code_.vmovdqu64(Zmm(31), assembler_.splat(0x3f800000, 4));
    if (dtype == DType::bf16) return code_.vmovdqu64(Zmm(30), assembler_.splat(0xffff0000, 4));
    for (const Vec upper : {d + 16, d + 17}) code_.vpxord(zmm(upper), zmm(upper), zmm(upper));
  }

  void sum_pair(Vec d, DType dtype, const Memory& from) override {
    const Vec loaded = vectors() - 1, odd = vectors() - 2;
    if (dtype == DType::bf16) {
      code_.vmovdqu64(zmm(loaded), code_.ptr[from]);
      code_.vpandd(zmm(odd), zmm(loaded), Zmm(30));
      code_.vpslld(zmm(loaded), zmm(loaded), 16);
      code_.vfmadd231ps(zmm(d), zmm(loaded), Zmm(31));
      code_.vfmadd231ps(zmm(d + 1), zmm(odd), Zmm(31));
      return;
    }
    const Vec sums[] = {d, d + 16, d + 1, d + 17};
    for (int i = 0; i < 4; ++i) {
      const Ymm half = ymm(i % 2 == 0 ? loaded : odd);
      code_.vcvtph2ps(half, code_.ptr[from + 16 * i]);
      code_.vfmadd231ps(ymm(sums[i]), half, Ymm(31));
    }
  }

  bool join_pair(Vec d, DType dtype) override {
    if (dtype == DType::f16) {
      for (const Vec v : {d, d + 1}) code_.vinsertf64x4(zmm(v), zmm(v), ymm(v + 16), 1);
      return false;
    }
    const Vec spare = vectors() - 1;
    code_.vshuff64x2(zmm(spare), zmm(d), zmm(d + 1), 0xee);
    code_.vinsertf64x4(zmm(d), zmm(d), ymm(d + 1), 1);
    code_.vmovaps(zmm(d + 1), zmm(spare));
    return true;
  }

  /// From even lanes before odd ones.
  void join(Vec d) override {
    code_.vmovdqu64(Zmm(31), assembler_.bytes(kInterleaved));
    code_.vpermd(zmm(d), Zmm(31), zmm(d));
  }

  void integer(IntegerOp op, Vec d, Vec a, Vec b, int lane_bits) override {
    integer_avx512(assembler_, op, zmm(d), zmm(a), zmm(b), lane_bits);
  }

  void abs_integer(Vec d, int lane_bits) override { abs_integer_avx512(assembler_, zmm(d), lane_bits); }
  void abs_float(Vec d, int lane_bits) override {
    code_.vandps(zmm(d), zmm(d), assembler_.splat(all_but_sign(lane_bits), lane_bits / 8));
  }

  void widen(Vec lo, Vec hi, Vec s) override {
    code_.vextractf64x4(Ymm(31), zmm(s), 1);
    code_.vcvtps2pd(zmm(hi), Ymm(31));
    code_.vcvtps2pd(zmm(lo), ymm(s));
  }

  void widen(Vec lo, Vec hi, const Memory& from) override {
    code_.vcvtps2pd(zmm(lo), code_.ptr[from]);
    code_.vcvtps2pd(zmm(hi), code_.ptr[from + 32]);
  }

  void narrow(Vec d, Vec lo, Vec hi, Part part) override {
    if (part == Part::one) {
      code_.vcvtsd2ss(xmm(d), xmm(lo), xmm(lo));
      return;
    }
    code_.vcvtpd2ps(Ymm(31), zmm(hi));
    code_.vcvtpd2ps(ymm(d), zmm(lo));
    code_.vinsertf64x4(zmm(d), zmm(d), Ymm(31), 1);
  }

  void arithmetic64(Arithmetic op, Vec d, Vec a, Vec b) override { arithmetic_pd(op, zmm(d), zmm(a), zmm(b)); }

  void arithmetic64(Arithmetic op, Vec d, Vec a, const Memory& b) override {
    arithmetic_pd(op, zmm(d), zmm(a), code_.ptr[b]);
  }

  void divide32(Vec d, const Memory& by_f64) override {
    code_.vmovsd(Xbyak::Xmm(31), code_.ptr[by_f64]);
    code_.vcvtsd2ss(Xbyak::Xmm(31), Xbyak::Xmm(31), Xbyak::Xmm(31));
    code_.vbroadcastss(zmm(31), Xbyak::Xmm(31));
    code_.vdivps(zmm(d), zmm(d), zmm(31));
  }

  void square_root32(Vec d) override { code_.vsqrtps(zmm(d), zmm(d)); }

  void divide64(Vec d, const Memory& by_f64, Part part) override {
    if (part == Part::one) {
      code_.vdivsd(xmm(d), xmm(d), code_.ptr[by_f64]);
    } else {
      code_.vdivpd(zmm(d), zmm(d), code_.ptr_b[by_f64]);
    }
  }

  void square_root64(Vec d, Part part) override {
    if (part == Part::one) {
      code_.vsqrtsd(xmm(d), xmm(d), xmm(d));
    } else {
      code_.vsqrtpd(zmm(d), zmm(d));
    }
  }

  void canonical_nan32(Vec d, Part part) override {
    constexpr std::uint8_t kUnordered = 3;
    if (part == Part::one) {
      code_.vcmpps(mask_, xmm(d), xmm(d), kUnordered);
      code_.vmovdqu32(xmm(d) | mask_, assembler_.splat(0x7fc00000, 4));
      return;
    }
    code_.vcmpps(mask_, zmm(d), zmm(d), kUnordered);
    code_.vmovdqu32(zmm(d) | mask_, assembler_.splat(0x7fc00000, 4));
  }

  void canonical_nan64(Vec d, Part) override {
    constexpr std::uint8_t kUnordered = 3;
    code_.vcmppd(mask_, zmm(d), zmm(d), kUnordered);
    code_.vmovdqu64(zmm(d) | mask_, assembler_.splat(0x7ff8000000000000, 8));
  }

  void fold64(Arithmetic op, Vec lo, Vec hi) override {
    arithmetic64(op, lo, lo, hi);
    code_.vextractf64x4(Ymm(31), zmm(lo), 1);
    arithmetic_pd(op, ymm(lo), ymm(lo), Ymm(31));
    code_.vextractf64x2(Xmm(31), ymm(lo), 1);
    arithmetic_pd(op, xmm(lo), xmm(lo), Xmm(31));
    code_.vunpckhpd(Xmm(31), xmm(lo), xmm(lo));
    arithmetic_pd(op, xmm(lo), xmm(lo), Xmm(31));
  }

  void fold_integer(IntegerOp op, Vec d, int lane_bits) override {
    // Not 30 or 31, which products of 8 bits need: 29 is the vector that this may clobber.
    code_.vextracti64x4(Ymm(29), zmm(d), 1);
    integer_avx512(assembler_, op, ymm(d), ymm(d), Ymm(29), lane_bits);
    code_.vextracti32x4(Xmm(29), ymm(d), 1);
    integer_avx512(assembler_, op, xmm(d), xmm(d), Xmm(29), lane_bits);
    code_.vpshufd(Xmm(29), xmm(d), 0x4e);
    integer_avx512(assembler_, op, xmm(d), xmm(d), Xmm(29), lane_bits);
    for (int bits = 32; bits >= lane_bits; bits /= 2) {
      code_.vpsrlq(Xmm(29), xmm(d), static_cast<std::uint8_t>(bits));
      integer_avx512(assembler_, op, xmm(d), xmm(d), Xmm(29), lane_bits);
    }
  }

  void jump_if_signs(Vec v, bool set, int lane_bits, const Xbyak::Label& target, Part part) override {
    Zmm tested = zmm(v);
    if (part == Part::one) {
      tested = Zmm(31);
      if (lane_bits == 16) code_.vpbroadcastw(tested, xmm(v));
      if (lane_bits == 32) code_.vpbroadcastd(tested, xmm(v));
      if (lane_bits == 64) code_.vpbroadcastq(tested, xmm(v));
    }
    // kortest: ZF says that no bit is set, CF that all are.
    if (lane_bits == 16) {
      code_.vpmovw2m(mask_, tested);
      code_.kortestd(mask_, mask_);
    } else if (lane_bits == 32) {
      code_.vpmovd2m(mask_, tested);
      code_.kortestw(mask_, mask_);
    } else {
      code_.vpmovq2m(mask_, tested);
      code_.kortestb(mask_, mask_);
    }
    if (set) {
      code_.jc(target, Xbyak::CodeGenerator::T_NEAR);
    } else {
      code_.jz(target, Xbyak::CodeGenerator::T_NEAR);
    }
  }

  void jump_if_equal(Vec v, std::uint64_t pattern, int bytes, const Xbyak::Label& target) override {
    code_.vpcmpeqd(mask_, zmm(v), assembler_.splat(pattern, bytes));
    code_.kortestw(mask_, mask_);
    code_.jc(target, Xbyak::CodeGenerator::T_NEAR);
  }

  void choose_by_sign(Vec d, int lane_bits, Vec if_clear, Vec if_set) override {
    if (lane_bits == 32) {
      code_.vpmovd2m(mask_, zmm(d));
      code_.vpblendmd(zmm(d) | mask_, zmm(if_clear), zmm(if_set));
    } else {
      code_.vpmovq2m(mask_, zmm(d));
      code_.vpblendmq(zmm(d) | mask_, zmm(if_clear), zmm(if_set));
    }
  }

  void finish_order(bool maximum, DType dtype, Vec greatest, Vec greatest_unsigned, Vec least_unsigned, Part) override {
    constexpr std::uint8_t kGreater = 6;
    const FloatBits bits = float_bits(dtype);
    const int bytes = byte_size(dtype);
    // A NaN was seen: positive ones are above infinity as signed, negative ones above -infinity as unsigned.
    // Greatest: the signed greatest unless all are negative, then the least unsigned. Least: the greatest unsigned if
    // any is negative, else the least unsigned.
    const Zmm all_signed = zmm(greatest), all_unsigned = zmm(greatest_unsigned);
    const Zmm result = maximum ? all_signed : all_unsigned;
    const Zmm if_clear = zmm(maximum ? greatest : least_unsigned);
    const Zmm if_set = zmm(maximum ? least_unsigned : greatest_unsigned);
    const auto constant = [&](std::uint64_t pattern) { return assembler_.splat(pattern, bytes); };
    if (bytes == 2) {
      code_.vpcmpw(nan_, all_signed, constant(bits.infinity), kGreater);
      code_.vpcmpuw(mask_, all_unsigned, constant(bits.negative_infinity), kGreater);
      code_.kord(nan_, nan_, mask_);
      code_.vpmovw2m(mask_, result);
      code_.vpblendmw(result | mask_, if_clear, if_set);
      code_.vmovdqu16(result | nan_, constant(bits.canonical_nan));
    } else if (bytes == 4) {
      code_.vpcmpd(nan_, all_signed, constant(bits.infinity), kGreater);
      code_.vpcmpud(mask_, all_unsigned, constant(bits.negative_infinity), kGreater);
      code_.korw(nan_, nan_, mask_);
      code_.vpmovd2m(mask_, result);
      code_.vpblendmd(result | mask_, if_clear, if_set);
      code_.vmovdqu32(result | nan_, constant(bits.canonical_nan));
    } else {
      code_.vpcmpq(nan_, all_signed, constant(bits.infinity), kGreater);
      code_.vpcmpuq(mask_, all_unsigned, constant(bits.negative_infinity), kGreater);
      code_.korb(nan_, nan_, mask_);
      code_.vpmovq2m(mask_, result);
      code_.vpblendmq(result | mask_, if_clear, if_set);
      code_.vmovdqu64(result | nan_, constant(bits.canonical_nan));
    }
  }

 private:
  static Zmm zmm(Vec v) { return Zmm(v); }
  static Ymm ymm(Vec v) { return Ymm(v); }
  static Xmm xmm(Vec v) { return Xmm(v); }

  void widen_words(Vec d, DType dtype, const Xbyak::Operand& from) {
    if (dtype == DType::f16) {
      code_.vcvtph2ps(zmm(d), from);
    } else {
      code_.vpmovzxwd(zmm(d), from);
      code_.vpslld(zmm(d), zmm(d), 16);
    }
  }

  /// As in the AVX2 layer: the same integers, the same bits.
  void round_to_bf16(const Xmm& s, const Xmm& spare) {
    code_.vpsrld(spare, s, 16);
    code_.vpandd(spare, spare, assembler_.splat(1, 4));
    code_.vpaddd(s, s, spare);
    code_.vpaddd(s, s, assembler_.splat(0x7fff, 4));
    code_.vpsrld(s, s, 16);
  }

  const Opmask tail_{1};
  const Opmask mask_{2};
  const Opmask nan_{3};
};

}  // namespace

std::unique_ptr<VectorLayer> make_avx512_layer(Assembler& assembler) {
  return std::make_unique<Avx512Layer>(assembler);
}

}  // namespace tenfold::jit
