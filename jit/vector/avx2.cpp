// SPDX-License-Identifier: Apache-2.0
//
// The vector layer for AVX2 + FMA + F16C: a virtual vector is ymm(2i) and ymm(2i+1); the last pair is the layer's own.
#include <bit>

#include "jit/assembler/frame.hpp"
#include "jit/vector/arg.hpp"
#include "jit/vector/chained.hpp"
#include "jit/vector/integer.hpp"
#include "jit/vector/isa.hpp"
#include "jit/vector/nan_watch.hpp"
#include "jit/vector/narrow_tail.hpp"
#include "jit/vector/wide_tail.hpp"
#include "jit/vector/widen_avx2.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Xmm;
using Xbyak::Ymm;

constexpr std::uint64_t kSign64 = std::uint64_t{1} << 63;
constexpr int kLaneMask = frame::kMasks;       // lane is in the tail
constexpr int kPairMask = frame::kMasks + 64;  // all elements of 8 or 16 bits of the dword are in the tail
constexpr int kOddMask = frame::kMasks + 128;  // element is one of the odd last ones: one of 16 bits, one to three of 8

class Avx2Layer final : public VectorLayer {
 public:
  using VectorLayer::VectorLayer;

  int vectors() const override { return 7; }
  SpareVectors spare() const override { return {14, 15, 32}; }
  bool has_extremes_of_64_bits() const override { return false; }
  std::unique_ptr<ArgVectors> arg_vectors() override { return make_avx2_arg_vectors(*this, assembler_); }
  std::unique_ptr<NanWatch> nan_watch(DType dtype, bool, const std::vector<Vec>& slots) override {
    return dtype == DType::f32 ? make_avx2_nan_watch(assembler_, slots) : nullptr;
  }

  void prepare_tail(const Xbyak::Reg64& count, int lane_bits, int element_bytes) override {
    for (int half = 0; half < 2; ++half) {
      if (element_bytes == 2) prepare_word_tail(assembler_, count, 16 * half, pairs(half), odd(half));
      if (element_bytes == 1) prepare_byte_tail(assembler_, count, 32 * half, pairs(half), odd(half));
    }
    code_.vmovd(Xmm(14), count.cvt32());
    switch (lane_bits) {
      case 8: code_.vpbroadcastb(Ymm(14), Xmm(14)); break;
      case 16: code_.vpbroadcastw(Ymm(14), Xmm(14)); break;
      case 32: code_.vpbroadcastd(Ymm(14), Xmm(14)); break;
      default: code_.vpbroadcastq(Ymm(14), Xmm(14)); break;
    }
    for (int half = 0; half < 2; ++half) {
      const Xbyak::Address lanes = assembler_.iota(0, 1, lane_bits / 8, 32 * half);
      switch (lane_bits) {
        case 8: code_.vpcmpgtb(Ymm(15), Ymm(14), lanes); break;
        case 16: code_.vpcmpgtw(Ymm(15), Ymm(14), lanes); break;
        case 32: code_.vpcmpgtd(Ymm(15), Ymm(14), lanes); break;
        default: code_.vpcmpgtq(Ymm(15), Ymm(14), lanes); break;
      }
      code_.vmovdqu(scratch(kLaneMask, half), Ymm(15));
    }
  }

  void fill_past_tail(Vec v, std::uint64_t pattern, int lane_bits) override {
    for (int half = 0; half < 2; ++half) {
      code_.vmovdqu(Ymm(15), scratch(kLaneMask, half));
      code_.vmovdqu(Ymm(14), assembler_.splat(pattern, lane_bits / 8));
      code_.vpblendvb(ymm(v, half), Ymm(14), ymm(v, half), Ymm(15));
    }
  }

  void load32(Vec d, DType dtype, const Memory& from, Part part) override {
    if (dtype == DType::f32) {
      for (int half = 0; half < 2; ++half) load_dwords(ymm(d, half), from + 32 * half, half, part);
      return;
    }
    if (part == Part::full) {
      for (int half = 0; half < 2; ++half)
        widen_elements_avx2(assembler_, ymm(d, half), dtype, code_.ptr[from + 16 * half]);
      return;
    }
    load_words(ymm(d, 0), from, 0);
    code_.vextracti128(Xmm(15), ymm(d, 0), 1);
    widen_elements_avx2(assembler_, ymm(d, 1), dtype, Xmm(15));
    widen_elements_avx2(assembler_, ymm(d, 0), dtype, xmm(d));
  }

  bool splits(DType dtype) const override { return dtype == DType::bf16; }

  /// Even elements in one half, odd ones in the other: 3 operations on any port, where load32() has 4 that contend for
  /// two.
  void load_split(Vec d, const Memory& from) override {
    code_.vmovdqu(ymm(d, 0), code_.ptr[from]);
    code_.vpand(ymm(d, 1), ymm(d, 0), Ymm(14));
    code_.vpslld(ymm(d, 0), ymm(d, 0), 16);
  }

  void join(Vec d) override { join_avx2(code_, d); }
  void join64(Vec lo, Vec hi) override { join64_avx2(code_, lo, hi); }

  void load16(Vec d, const Memory& from, Part part) override {
    for (int half = 0; half < 2; ++half) {
      if (part == Part::full) {
        code_.vmovdqu(ymm(d, half), code_.ptr[from + 32 * half]);
      } else {
        load_words(ymm(d, half), from, half);
      }
    }
  }

  void load_integers(Vec d, const Memory& from, int lane_bits, Part part) override {
    if (part == Part::full || lane_bits == 16) return load16(d, from, part);
    if (lane_bits == 8) return load_byte_tail(assembler_, {ymm(d, 0), ymm(d, 1)}, from, pairs(0), odd(0));
    for (int half = 0; half < 2; ++half) load_lanes(ymm(d, half), from + 32 * half, half, lane_bits);
  }

  void load64(Vec d, const Memory& from, int half, Part part, double past) override {
    const Memory at = from + 64 * half;
    if (part != Part::tail) return load_bytes(d, at);
    for (int quarter = 0; quarter < 2; ++quarter) {
      code_.vpmovsxdq(Ymm(15), code_.ptr[code_.rbp + kLaneMask + 32 * half + 16 * quarter]);
      code_.vmaskmovpd(ymm(d, quarter), Ymm(15), code_.ptr[at + 32 * quarter]);
      if (past == 0) continue;
      code_.vmovupd(Ymm(14), assembler_.splat(std::bit_cast<std::uint64_t>(past), 8));
      code_.vblendvpd(ymm(d, quarter), Ymm(14), ymm(d, quarter), Ymm(15));
    }
  }

  void store_integers(const Memory& to, Vec s, int lane_bits, Part part) override {
    if (part == Part::one) {
      switch (lane_bits) {
        case 8: code_.vpextrb(code_.byte[to], xmm(s), 0); break;
        case 16: code_.vpextrw(code_.word[to], xmm(s), 0); break;
        case 32: code_.vmovd(code_.dword[to], xmm(s)); break;
        default: code_.vmovq(code_.qword[to], xmm(s)); break;
      }
    } else if (part == Part::tail) {
      store_dwords(to, s, part);
    } else {
      store_bytes(to, s);
    }
  }

  void load_bytes(Vec d, const Memory& from) override {
    for (int half = 0; half < 2; ++half) code_.vmovdqu(ymm(d, half), code_.ptr[from + 32 * half]);
  }

  void store_bytes(const Memory& to, Vec s) override {
    for (int half = 0; half < 2; ++half) {
      const Xbyak::Address address = code_.ptr[to + 32 * half];
      around_ ? code_.vmovntdq(address, ymm(s, half)) : code_.vmovdqu(address, ymm(s, half));
    }
  }

  void store32(const Memory& to, DType dtype, Vec s, Part part) override {
    if (dtype == DType::f32) {
      store_dwords(to, s, part);
      return;
    }
    if (dtype == DType::bf16) {
      round_to_bf16(s, part);
    } else {
      code_.vcvtps2ph(xmm(s), narrow_source(s, 0, part), 0);
      if (part == Part::full) code_.vcvtps2ph(Xmm(15), ymm(s, 1), 0);
      if (part == Part::full) code_.vinserti128(ymm(s, 0), ymm(s, 0), Xmm(15), 1);
    }
    if (part == Part::one) {
      code_.vpextrw(code_.word[to], xmm(s), 0);
    } else {
      code_.vmovdqu(code_.ptr[to], ymm(s, 0));
    }
  }

  void store64_one(const Memory& to, Vec s) override { code_.vmovsd(code_.ptr[to], xmm(s)); }
  bool stores_tails_of(int element_bytes) const override { return element_bytes == 4; }

  void splat(Vec d, std::uint64_t pattern, int bytes) override {
    for (int half = 0; half < 2; ++half) {
      if (pattern == 0) {
        code_.vpxor(ymm(d, half), ymm(d, half), ymm(d, half));
      } else {
        code_.vmovdqu(ymm(d, half), assembler_.splat(pattern, bytes));
      }
    }
  }

  void arithmetic32(Arithmetic op, Vec d, Vec a, Vec b) override {
    for (int half = 0; half < 2; ++half) arithmetic_ps(op, ymm(d, half), ymm(a, half), ymm(b, half));
  }
  void arithmetic32(Arithmetic op, Vec d, Vec a, const Memory& b) override {
    for (int half = 0; half < 2; ++half) arithmetic_ps(op, ymm(d, half), ymm(a, half), code_.ptr[b + 32 * half]);
  }

  // Where additions have ports of their own, conversions want the same ones; products are added by others. What shifts
  // and masks widen is added by turns.
  void start_chain() override {
    code_.vmovdqu(Ymm(14), assembler_.splat(0xffff0000, 4));
    code_.vmovdqu(Ymm(15), assembler_.splat(0x3f800000, 4));
  }
  void sum32(Vec d, Vec a, DType dtype) override {
    dtype == DType::bf16 ? code_.vaddps(ymm(d, 0), ymm(d, 0), ymm(a, 0))
                         : code_.vfmadd231ps(ymm(d, 0), ymm(a, 0), Ymm(15));
    code_.vfmadd231ps(ymm(d, 1), ymm(a, 1), Ymm(15));
  }

  void integer(IntegerOp op, Vec d, Vec a, Vec b, int lane_bits) override {
    for (int half = 0; half < 2; ++half)
      integer_avx2(assembler_, op, ymm(d, half), ymm(a, half), ymm(b, half), lane_bits);
  }

  void abs_integer(Vec d, int lane_bits) override {
    for (int half = 0; half < 2; ++half) abs_integer_avx2(assembler_, ymm(d, half), lane_bits);
  }
  void abs_float(Vec d, int lane_bits) override {
    for (int half = 0; half < 2; ++half)
      code_.vandps(ymm(d, half), ymm(d, half), assembler_.splat(all_but_sign(lane_bits), lane_bits / 8));
  }

  void widen(Vec lo, Vec hi, Vec s) override { widen_avx2(code_, lo, hi, s); }
  void join_and_widen(Vec lo, Vec hi, Vec s) override { join_and_widen_avx2(code_, lo, hi, s); }
  void widen(Vec lo, Vec hi, const Memory& from) override { widen_avx2(code_, lo, hi, from); }

  void narrow(Vec d, Vec lo, Vec hi, Part part) override {
    if (part == Part::one) {
      code_.vcvtsd2ss(xmm(d), xmm(lo), xmm(lo));
      return;
    }
    code_.vcvtpd2ps(Xmm(14), ymm(lo, 0));
    code_.vcvtpd2ps(Xmm(15), ymm(lo, 1));
    code_.vinsertf128(Ymm(14), Ymm(14), Xmm(15), 1);
    code_.vcvtpd2ps(Xmm(2 * d), ymm(hi, 0));
    code_.vcvtpd2ps(Xmm(15), ymm(hi, 1));
    code_.vinsertf128(ymm(d, 1), Ymm(2 * d), Xmm(15), 1);
    code_.vmovaps(ymm(d, 0), Ymm(14));
  }

  void arithmetic64(Arithmetic op, Vec d, Vec a, Vec b) override {
    for (int half = 0; half < 2; ++half) arithmetic_pd(op, ymm(d, half), ymm(a, half), ymm(b, half));
  }
  void arithmetic64(Arithmetic op, Vec d, Vec a, const Memory& b) override {
    for (int half = 0; half < 2; ++half) arithmetic_pd(op, ymm(d, half), ymm(a, half), code_.ptr[b + 32 * half]);
  }

  void divide32(Vec d, const Memory& by_f64) override {
    code_.vmovsd(Xmm(15), code_.ptr[by_f64]);  // on its own, so that no division waits for the one before
    code_.vcvtsd2ss(Xmm(15), Xmm(15), Xmm(15));
    code_.vbroadcastss(Ymm(15), Xmm(15));
    for (int half = 0; half < 2; ++half) code_.vdivps(ymm(d, half), ymm(d, half), Ymm(15));
  }

  void square_root32(Vec d) override {
    for (int half = 0; half < 2; ++half) code_.vsqrtps(ymm(d, half), ymm(d, half));
  }

  void divide64(Vec d, const Memory& by_f64, Part part) override {
    if (part == Part::one) {
      code_.vdivsd(xmm(d), xmm(d), code_.ptr[by_f64]);
      return;
    }
    code_.vbroadcastsd(Ymm(15), code_.ptr[by_f64]);
    for (int half = 0; half < 2; ++half) code_.vdivpd(ymm(d, half), ymm(d, half), Ymm(15));
  }

  void square_root64(Vec d, Part part) override {
    if (part == Part::one) {
      code_.vsqrtsd(xmm(d), xmm(d), xmm(d));
      return;
    }
    for (int half = 0; half < 2; ++half) code_.vsqrtpd(ymm(d, half), ymm(d, half));
  }

  void canonical_nan32(Vec d, Part part) override {
    if (part == Part::one) {
      code_.vcmpunordps(Xmm(15), xmm(d), xmm(d));
      code_.vblendvps(xmm(d), xmm(d), assembler_.splat(0x7fc00000, 4), Xmm(15));
      return;
    }
    for (int half = 0; half < 2; ++half) {
      code_.vcmpunordps(Ymm(15), ymm(d, half), ymm(d, half));
      code_.vblendvps(ymm(d, half), ymm(d, half), assembler_.splat(0x7fc00000, 4), Ymm(15));
    }
  }

  void canonical_nan64(Vec d, Part part) override {
    for (int half = 0; half < (part == Part::one ? 1 : 2); ++half) {
      code_.vcmpunordpd(Ymm(15), ymm(d, half), ymm(d, half));
      code_.vblendvpd(ymm(d, half), ymm(d, half), assembler_.splat(0x7ff8000000000000, 8), Ymm(15));
    }
  }

  void fold64(Arithmetic op, Vec lo, Vec hi) override {
    arithmetic64(op, lo, lo, hi);
    arithmetic_pd(op, ymm(lo, 0), ymm(lo, 0), ymm(lo, 1));
    code_.vextractf128(Xmm(15), ymm(lo, 0), 1);
    arithmetic_pd(op, xmm(lo), xmm(lo), Xmm(15));
    code_.vunpckhpd(Xmm(15), xmm(lo), xmm(lo));
    arithmetic_pd(op, xmm(lo), xmm(lo), Xmm(15));
  }

  void fold_integer(IntegerOp op, Vec d, int lane_bits) override {
    // ymm13 is the upper half of the vector that this may clobber; 14 and 15 the operations need themselves.
    const Xmm other(13);
    integer_avx2(assembler_, op, ymm(d, 0), ymm(d, 0), ymm(d, 1), lane_bits);
    code_.vextracti128(other, ymm(d, 0), 1);
    integer_avx2(assembler_, op, xmm(d), xmm(d), other, lane_bits);
    code_.vpshufd(other, xmm(d), 0x4e);
    integer_avx2(assembler_, op, xmm(d), xmm(d), other, lane_bits);
    for (int bits = 32; bits >= lane_bits; bits /= 2) {
      code_.vpsrlq(other, xmm(d), static_cast<std::uint8_t>(bits));
      integer_avx2(assembler_, op, xmm(d), xmm(d), other, lane_bits);
    }
  }

  void jump_if_signs(Vec v, bool set, int lane_bits, const Xbyak::Label& target, Part part) override {
    // vptest: ZF says that no tested bit is set, CF that all are.
    const Xbyak::Address signs = assembler_.splat(std::uint64_t{1} << (lane_bits - 1), lane_bits / 8);
    if (part == Part::one && lane_bits == 16) {
      code_.vpbroadcastw(Ymm(15), xmm(v));
    } else if (part == Part::one) {
      lane_bits == 64 ? code_.vpbroadcastq(Ymm(15), xmm(v)) : code_.vpbroadcastd(Ymm(15), xmm(v));
    } else if (set) {
      code_.vpand(Ymm(15), ymm(v, 0), ymm(v, 1));
    } else {
      code_.vpor(Ymm(15), ymm(v, 0), ymm(v, 1));
    }
    code_.vptest(Ymm(15), signs);
    if (set) {
      code_.jc(target, Xbyak::CodeGenerator::T_NEAR);
    } else {
      code_.jz(target, Xbyak::CodeGenerator::T_NEAR);
    }
  }

  void jump_if_equal(Vec v, std::uint64_t pattern, int bytes, const Xbyak::Label& target) override {
    for (int half = 0; half < 2; ++half) code_.vpxor(Ymm(14 + half), ymm(v, half), assembler_.splat(pattern, bytes));
    code_.vpor(Ymm(15), Ymm(15), Ymm(14));
    code_.vptest(Ymm(15), Ymm(15));
    code_.jz(target, Xbyak::CodeGenerator::T_NEAR);
  }

  void choose_by_sign(Vec d, int lane_bits, Vec if_clear, Vec if_set) override {
    for (int half = 0; half < 2; ++half) {
      const Ymm result = ymm(d, half), clear = ymm(if_clear, half), set = ymm(if_set, half);
      lane_bits == 32 ? code_.vblendvps(result, clear, set, result) : code_.vblendvpd(result, clear, set, result);
    }
  }

  void finish_order(bool maximum, DType dtype, Vec greatest, Vec greatest_unsigned, Vec least_unsigned,
                    Part part) override {
    for (int half = 0; half < (part == Part::one ? 1 : 2); ++half)
      finish_order_half(maximum, dtype, ymm(greatest, half), ymm(greatest_unsigned, half), ymm(least_unsigned, half));
  }

 private:
  static Ymm ymm(Vec v, int half) { return Ymm(2 * v + half); }
  static Xmm xmm(Vec v) { return Xmm(2 * v); }
  Xbyak::Address scratch(int offset, int half) { return code_.ptr[code_.rbp + offset + 32 * half]; }

  void load_dwords(const Ymm& d, const Memory& from, int half, Part part) {
    if (part == Part::full) return code_.vmovups(d, code_.ptr[from]);
    load_lanes(d, from, half, 32);
  }

  /// A half of a tail of lanes of 32 or 64 bits.
  void load_lanes(const Ymm& d, const Memory& from, int half, int lane_bits) {
    code_.vmovdqu(Ymm(15), scratch(kLaneMask, half));
    lane_bits == 64 ? code_.vpmaskmovq(d, Ymm(15), code_.ptr[from]) : code_.vpmaskmovd(d, Ymm(15), code_.ptr[from]);
  }

  Memory pairs(int half) { return code_.rbp + kPairMask + 32 * half; }
  Memory odd(int half) { return code_.rbp + kOddMask + 32 * half; }
  /// 16 words of a tail: half 0 or 1 of the 32 that start at `from`.
  void load_words(const Ymm& d, const Memory& from, int half) {
    load_word_tail(assembler_, d, from, 16 * half, pairs(half), odd(half));
  }

  void store_dwords(const Memory& to, Vec s, Part part) {
    if (part == Part::one) return code_.vmovss(code_.ptr[to], xmm(s));
    if (part == Part::full) return store_bytes(to, s);
    store_wide_tail(code_, to, {ymm(s, 0), ymm(s, 1)}, code_.rbp + kLaneMask, 4);
  }

  static Xmm narrow_source(Vec s, int half, Part part) {
    return part == Part::one ? xmm(s) : static_cast<const Xmm&>(ymm(s, half));
  }

  /// Adds half a unit in the last place, less one when the last kept bit is even, and keeps the upper halves. Canonical
  /// NaNs and infinities survive that; finite values that round beyond the greatest become infinity, as they must.
  void round_to_bf16(Vec s, Part part) {
    for (int half = 0; half < (part == Part::one ? 1 : 2); ++half) {
      code_.vpsrld(Ymm(15), ymm(s, half), 16);
      code_.vpand(Ymm(15), Ymm(15), assembler_.splat(1, 4));
      code_.vpaddd(ymm(s, half), ymm(s, half), Ymm(15));
      code_.vpaddd(ymm(s, half), ymm(s, half), assembler_.splat(0x7fff, 4));
      code_.vpsrld(ymm(s, half), ymm(s, half), 16);
    }
    if (part == Part::one) return;
    code_.vpackusdw(ymm(s, 0), ymm(s, 0), ymm(s, 1));
    code_.vpermq(ymm(s, 0), ymm(s, 0), 0xd8);
  }

  /// Of 32 and 16 bits: f64 has extremes of another kind (jit/state/numbers.cpp).
  void finish_order_half(bool maximum, DType dtype, const Ymm& greatest, const Ymm& greatest_unsigned,
                         const Ymm& least_unsigned) {
    const FloatBits bits = float_bits(dtype);
    const int bytes = byte_size(dtype);
    // A NaN was seen: positive ones are above infinity as signed, negative ones above -infinity as unsigned.
    if (bytes == 4) {
      code_.vpcmpgtd(Ymm(14), greatest, assembler_.splat(bits.infinity, bytes));
      code_.vpmaxud(Ymm(15), greatest_unsigned, assembler_.splat(bits.negative_infinity + 1, bytes));
      code_.vpcmpeqd(Ymm(15), Ymm(15), greatest_unsigned);
    } else {
      code_.vpcmpgtw(Ymm(14), greatest, assembler_.splat(bits.infinity, bytes));
      code_.vpmaxuw(Ymm(15), greatest_unsigned, assembler_.splat(bits.negative_infinity + 1, bytes));
      code_.vpcmpeqw(Ymm(15), Ymm(15), greatest_unsigned);
    }
    code_.vpor(Ymm(14), Ymm(14), Ymm(15));
    // Greatest: the signed greatest unless all are negative, then the least unsigned. Least: the greatest unsigned if
    // any is negative, else the least unsigned.
    const Ymm& result = maximum ? greatest : greatest_unsigned;
    bytes == 4 ? code_.vpsrad(Ymm(15), result, 31) : code_.vpsraw(Ymm(15), result, 15);
    if (maximum) {
      code_.vpblendvb(result, result, least_unsigned, Ymm(15));
    } else {
      code_.vpblendvb(result, least_unsigned, result, Ymm(15));
    }
    code_.vpblendvb(result, result, assembler_.splat(bits.canonical_nan, bytes), Ymm(14));
  }
};

}  // namespace

std::unique_ptr<VectorLayer> make_avx2_layer(Assembler& assembler) { return std::make_unique<Avx2Layer>(assembler); }

}  // namespace tenfold::jit
