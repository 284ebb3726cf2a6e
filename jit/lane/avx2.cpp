// SPDX-License-Identifier: Apache-2.0
//
// Lane programs on AVX2 + FMA + F16C: a vector is ymm(2i) and ymm(2i + 1); ymm14 and ymm15 are the layer's own.
#include "jit/lane/avx2.hpp"

#include "jit/assembler/frame.hpp"
#include "jit/lane/avx2_words.hpp"
#include "jit/lane/between_lanes.hpp"
#include "jit/vector/narrow_tail.hpp"
#include "jit/vector/wide_tail.hpp"
#include "jit/vector/widen_avx2.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Xmm;
using Xbyak::Ymm;

constexpr std::uint64_t kSign64 = std::uint64_t{1} << 63;
constexpr std::uint64_t kUpperHalf = 0xffff0000;
constexpr int kOddWords = 0xaa;
constexpr int kMask32 = frame::kMasks;              // 32-bit lane is in the tail
constexpr int kMask64 = frame::kMasks + 64;         // 64-bit lane is in the tail
constexpr int kPairMask = frame::kMasks + 128;      // both 16-bit elements of the dword are in the tail
constexpr int kOddMask = frame::kMasks + 128 + 32;  // 16-bit element is the odd last one
constexpr int kNarrowMask = frame::kMasks;          // narrow lanes: all elements of the dword are in the tail
constexpr int kNarrowOdd = frame::kMasks + 64;      // narrow lanes: element is in the tail, but not all of its dword

class Avx2Lanes final : public LaneLayer {
 public:
  Avx2Lanes(Assembler& assembler, int lanes, LaneOrder order) : LaneLayer(assembler, lanes, order) {}

  int vectors() const override { return 7; }
  SpareVectors spare() const override { return {14, 15, 32}; }

  void prepare_tail(const Xbyak::Reg64& count) override {
    if (is_narrow()) return prepare_narrow_tail(count);
    if (loads_words_) prepare_word_tail(assembler_, count, 0, code_.rbp + kPairMask, code_.rbp + kOddMask);
    code_.vmovd(Xmm(14), count.cvt32());
    code_.vpbroadcastd(Ymm(14), Xmm(14));
    for (int half = 0; half < halves(4); ++half) {
      code_.vpcmpgtd(Ymm(15), Ymm(14), assembler_.iota(0, 1, 4, 32 * half));
      code_.vmovdqu(scratch(kMask32, half), Ymm(15));
    }
    if (lanes_ == 16) return;
    code_.vextracti128(Xmm(14), Ymm(15), 1);
    code_.vpmovsxdq(Ymm(14), Xmm(14));
    code_.vmovdqu(scratch(kMask64, 1), Ymm(14));
    code_.vpmovsxdq(Ymm(14), Xmm(15));
    code_.vmovdqu(scratch(kMask64, 0), Ymm(14));
  }

  void prepare(DType dtype) override { loads_words_ = loads_words_ || byte_size(dtype) == 2; }

  bool loads_tails(DType dtype) const override {
    if (is_narrow()) return true;
    return byte_size(dtype) == 2 ? loads_words_ && (order_ == LaneOrder::straight || dtype == DType::bf16)
                                 : stores_tails(dtype);
  }
  bool stores_tails(DType dtype) const override { return byte_size(dtype) >= 4 && order_ == LaneOrder::straight; }

  void load(Vec d, DType dtype, const Memory& from, Part part) override {
    if (is_narrow()) return part == Part::tail ? load_narrow_tail(d, from) : reload(d, from);
    const bool words = part == Part::tail && byte_size(dtype) == 2;
    if (words)
      load_word_tail(assembler_, ymm(d, lanes_ == 16 ? 1 : 0), from, 0, code_.rbp + kPairMask, code_.rbp + kOddMask);
    if (order_ == LaneOrder::even_first && dtype == DType::bf16) {
      if (!words) code_.vmovdqu(ymm(d, 1), code_.ptr[from]);
      code_.vpslld(ymm(d, 0), ymm(d, 1), 16);
      code_.vpand(ymm(d, 1), ymm(d, 1), assembler_.splat(kUpperHalf, 4));
      return;
    }
    if (words) {
      if (lanes_ < 16) return widen_elements_avx2(assembler_, ymm(d, 0), dtype, low(ymm(d, 0)));
      widen_elements_avx2(assembler_, ymm(d, 0), dtype, low(ymm(d, 1)));
      code_.vextracti128(Xmm(15), ymm(d, 1), 1);
      return widen_elements_avx2(assembler_, ymm(d, 1), dtype, Xmm(15));
    }
    const int bytes = byte_size(dtype);
    for (int half = 0; half < halves(bytes); ++half) {
      const int step = bytes == 8 ? 32 : 8 * bytes;
      const Xbyak::Address at = code_.ptr[from + step * half];
      if (part == Part::tail) {
        code_.vmovdqu(Ymm(15), scratch(bytes == 8 ? kMask64 : kMask32, half));
        bytes == 8 ? code_.vpmaskmovq(ymm(d, half), Ymm(15), at) : code_.vpmaskmovd(ymm(d, half), Ymm(15), at);
      } else {
        widen_elements_avx2(assembler_, ymm(d, half), dtype, at);
      }
    }
    if (order_ == LaneOrder::even_first) part_lanes(d);
  }

  void load_wide(Vec d, const Memory& from) override {
    for (int half = 0; half < 2; ++half) code_.vcvtps2pd(ymm(d, half), code_.ptr[from + 16 * half]);
  }

  void number(Vec d, const Memory& first, int ahead) override {
    broadcast(d, DType::s32, first);
    for (int half = 0; half < halves(4); ++half) code_.vpaddd(ymm(d, half), ymm(d, half), numbers(ahead, 32 * half));
  }

  void broadcast(Vec d, DType dtype, const Memory& from) override {
    const Xbyak::Address at = code_.ptr[from];
    switch (byte_size(dtype)) {
      case 1: code_.vpbroadcastb(Xmm(15), at); break;
      case 2: code_.vpbroadcastw(Xmm(15), at); break;
      case 4: code_.vpbroadcastd(ymm(d, 0), at); break;
      default: code_.vpbroadcastq(ymm(d, 0), at); break;
    }
    if (byte_size(dtype) < 4 && is_narrow()) {
      byte_size(dtype) == 1 ? code_.vpbroadcastb(ymm(d, 0), Xmm(15)) : code_.vpbroadcastw(ymm(d, 0), Xmm(15));
    } else if (byte_size(dtype) < 4) {
      widen_elements_avx2(assembler_, ymm(d, 0), dtype, Xmm(15));
    }
    if (halves(byte_size(dtype)) == 2) code_.vmovdqa(ymm(d, 1), ymm(d, 0));
  }

  void store(const Memory& to, DType dtype, Vec s, Part part) override {
    if (is_narrow()) return spill(to, s);
    const int bytes = byte_size(dtype);
    if (bytes == 4 && order_ == LaneOrder::even_first) {
      interleave(s);
      for (int quarter = 0; quarter < 4; ++quarter) {
        const Ymm from(14 + quarter % 2);
        quarter < 2 ? code_.vmovups(code_.ptr[to + 16 * quarter], low(from))
                    : code_.vextractf128(code_.ptr[to + 16 * quarter], from, 1);
      }
    } else if (bytes >= 4) {
      if (part == Part::tail) return store_tail(to, bytes, s);
      for (int half = 0; half < halves(bytes); ++half) code_.vmovdqu(code_.ptr[to + 32 * half], ymm(s, half));
    } else if (dtype == DType::f16) {
      for (int half = 0; half < halves(bytes); ++half) {
        Ymm from = ymm(s, half);
        if (order_ == LaneOrder::even_first) {
          interleave(s);
          from = Ymm(14);
          code_.vperm2f128(from, from, Ymm(15), half == 0 ? 0x20 : 0x31);
        }
        code_.vcvtps2ph(Xmm(14), from, 0);  // to memory it would take twice as long
        code_.vmovdqu(code_.ptr[to + 16 * half], Xmm(14));
      }
    } else {
      order_ == LaneOrder::even_first ? interleave_words(dtype, s) : narrow_to_words(dtype, s);
      store_words(to, bytes);
    }
  }

  bool joins() const override { return lanes_ == 16; }

  void load_lanes(Vec d, LaneType type, const Memory& from) override {
    for (int half = 0; half < halves(lane_bytes(type)); ++half)
      code_.vmovdqu(ymm(d, half), code_.ptr[from + 32 * half]);
  }
  void store_lanes(const Memory& to, LaneType type, Vec s) override {
    for (int half = 0; half < halves(lane_bytes(type)); ++half) code_.vmovdqu(code_.ptr[to + 32 * half], ymm(s, half));
  }

  void gather_lanes(Vec d, LaneType type, const Memory& from, int distance) override {
    gather_pairs(low(ymm(d, 0)), Xmm(14), type, from, distance);
    if (lane_bytes(type) == 8) code_.vinsertf128(ymm(d, 0), ymm(d, 0), Xmm(14), 1);
  }

  void store_around(const Memory& to, DType dtype, Vec s) override {
    for (int half = 0; half < halves(byte_size(dtype)); ++half) code_.vmovntps(code_.ptr[to + 32 * half], ymm(s, half));
  }

  void spill(const Memory& to, Vec s) override {
    for (int half = 0; half < 2; ++half) code_.vmovdqu(code_.ptr[to + 32 * half], ymm(s, half));
  }
  void reload(Vec d, const Memory& from) override {
    for (int half = 0; half < 2; ++half) code_.vmovdqu(ymm(d, half), code_.ptr[from + 32 * half]);
  }

  void shift_lanes(Vec d, Vec s, LaneType type, int by) override {
    switch (by * lane_bytes(type)) {
      case 32: code_.vmovaps(ymm(d, 0), ymm(s, 1)); break;
      case 16: code_.vextracti128(low(ymm(d, 0)), ymm(s, 0), 1); break;
      case 8: code_.vpshufd(low(ymm(d, 0)), low(ymm(s, 0)), 0x4e); break;
      default: code_.vpshufd(low(ymm(d, 0)), low(ymm(s, 0)), 0xb1); break;
    }
  }

  int constants_of_vector() const override { return 2; }

  void operate(const LaneNode& node, Vec d, std::span<const LaneSource> args) override {
    if (node.op == LaneOp::join_bf16) {
      const auto both = [](Vec v) { return Avx2Vector{ymm(v, 0), ymm(v, 1)}; };
      return join_words(assembler_, both(d), both(args[0].vec), both(args[1].vec), order_,
                        node.immediate == kExactJoin);
    }
    if (node.op == LaneOp::exp2_eighths) {
      exp2_eighths(d, args[0], node.immediate);
      return;
    }
    if (node.op == LaneOp::bit_and && args[0].is_constant() && args[0] == args[1]) {
      for (int half = 0; half < halves(lane_bytes(node.type)); ++half)
        args[0].pattern == 0 ? code_.vpxor(ymm(d, half), ymm(d, half), ymm(d, half))
                             : code_.vmovups(ymm(d, half), assembler_.splat(args[0].pattern, args[0].bytes));
      return;
    }
    if (changes_width(node)) {
      convert(node, d, register_of(args[0], 0, 14), register_of(args[0], 1, 15));
      return;
    }
    if (is_between_lanes(node.op)) {
      const int count = halves(lane_bytes(node.type));
      const Halves a{{register_of(args[0], 0, 14), args[0].is_constant() ? Ymm(14) : ymm(args[0].vec, 1)}, count};
      const Halves b{{register_of(args.back(), 0, 15), args.back().is_constant() ? Ymm(15) : ymm(args.back().vec, 1)},
                     count};
      return emit_between_lanes(assembler_, node, {{ymm(d, 0), ymm(d, 1)}, count}, a, b);
    }
    for (int half = 0; half < halves(lane_bytes(node.type)); ++half) {
      Avx2Operation(assembler_, *this, node, ymm(d, half)).emit(half, args);
    }
  }

 protected:
  void load_constant(int index, const LaneSource& source) override {
    code_.vmovups(Ymm(index), source.is_roots() ? roots() : assembler_.splat(source.pattern, source.bytes));
  }

 private:
  static Ymm ymm(Vec v, int half) { return Ymm(2 * v + half); }
  static Xmm low(const Ymm& r) { return Xmm(r.getIdx()); }
  Xbyak::Address scratch(int offset, int half) { return code_.ptr[code_.rbp + offset + 32 * half]; }
  void store_tail(const Memory& to, int bytes, Vec s) {
    const int masks = bytes == 8 ? kMask64 : kMask32;
    if (halves(bytes) == 2) return store_wide_tail(code_, to, {ymm(s, 0), ymm(s, 1)}, code_.rbp + masks, bytes);
    code_.vmovdqu(Ymm(15), scratch(masks, 0));
    code_.vpmaskmovd(code_.ptr[to], Ymm(15), ymm(s, 0));
  }
  /// Registers that elements, or lanes, of this many bytes take.
  int halves(int bytes) const { return lanes_ * bytes > 32 || lanes_ == 16 ? 2 : 1; }
  /// Lanes are as wide as elements of 8 or 16 bits, and fill the vector.
  bool is_narrow() const { return lanes_ > 16; }

  void prepare_narrow_tail(const Xbyak::Reg64& count) {
    code_.mov(code_.qword[code_.rbp + frame::kTailCount], count);
    for (int half = 0; half < 2; ++half) {
      const Memory whole = code_.rbp + (kNarrowMask + 32 * half), odd = code_.rbp + (kNarrowOdd + 32 * half);
      lanes_ == 32 ? prepare_word_tail(assembler_, count, 16 * half, whole, odd)
                   : prepare_byte_tail(assembler_, count, 32 * half, whole, odd);
    }
  }
  void load_narrow_tail(Vec d, const Memory& from) {
    const Memory whole = code_.rbp + kNarrowMask, odd = code_.rbp + kNarrowOdd;
    if (lanes_ == 64) return load_byte_tail(assembler_, {ymm(d, 0), ymm(d, 1)}, from, whole, odd);
    for (int half = 0; half < 2; ++half)
      load_word_tail(assembler_, ymm(d, half), from, 16 * half, whole + 32 * half, odd + 32 * half);
  }

  Ymm register_of(const LaneSource& source, int half, int spare) {
    if (!source.is_constant()) return ymm(source.vec, half);
    code_.vmovdqu(Ymm(spare), assembler_.splat(source.pattern, source.bytes));
    return Ymm(spare);
  }

  /// Shifted up, k / 8 and the scale are an exponent and i in the bits below it, which these have taken off.
  Xbyak::Address roots() {
    std::array<std::uint32_t, 8> entries = kEighthRoots;
    for (std::uint32_t i = 0; i < entries.size(); ++i) entries[i] -= i << 20;
    return table(entries);
  }

  void exp2_eighths(Vec d, const LaneSource& a, std::uint64_t scale_bits) {
    const int kept = held(LaneSource::roots(scale_bits));
    for (int half = 0; half < halves(4); ++half) {
      const Ymm to = ymm(d, half), from = register_of(a, half, 14), exponent(15);
      code_.vpslld(exponent, from, 20);
      kept < 0 ? code_.vpermps(to, from, roots()) : code_.vpermps(to, from, Ymm(kept));
      code_.vpaddd(to, to, exponent);
    }
  }

  /// Lanes of 32 bits, straight so far, even ones first.
  void part_lanes(Vec d) {
    code_.vshufps(Ymm(14), ymm(d, 0), ymm(d, 1), 0x88);
    code_.vshufps(Ymm(15), ymm(d, 0), ymm(d, 1), 0xdd);
    code_.vpermq(ymm(d, 0), Ymm(14), 0xd8);
    code_.vpermq(ymm(d, 1), Ymm(15), 0xd8);
  }

  /// Back again, but for halves of registers: elements 0 to 3 and 8 to 11 in ymm14, the others in ymm15.
  void interleave(Vec s) {
    code_.vunpcklps(Ymm(14), ymm(s, 0), ymm(s, 1));
    code_.vunpckhps(Ymm(15), ymm(s, 0), ymm(s, 1));
  }

  /// Lanes with even elements first as words side by side in ymm14.
  void interleave_words(DType dtype, Vec s) {
    if (dtype == DType::bf16 && lent_ >= 0) {
      round_words(assembler_, Ymm(14), ymm(s, 0), ymm(s, 1), ymm(lent_, 0));
      return;
    }
    if (dtype == DType::bf16) {
      add_half_units(assembler_, Ymm(14), ymm(s, 0));
      add_half_units(assembler_, Ymm(15), ymm(s, 1));
      code_.vpsrld(Ymm(14), Ymm(14), 16);
      code_.vpblendw(Ymm(14), Ymm(14), Ymm(15), kOddWords);
      return;
    }
    code_.vpslld(Ymm(15), ymm(s, 1), 16);
    code_.vpblendw(Ymm(14), ymm(s, 0), Ymm(15), kOddWords);
    if (byte_size(dtype) == 1) code_.vpand(Ymm(14), Ymm(14), assembler_.splat(0xff, 2));
  }

  /// The lanes as words side by side in ymm14 (the lower half of it, of 8 lanes).
  void narrow_to_words(DType dtype, Vec s) {
    for (int half = 0; half < halves(2); ++half) {
      const Ymm d(14 + half);
      if (dtype == DType::bf16) {
        add_half_units(assembler_, d, ymm(s, half));
        code_.vpsrld(d, d, 16);
      } else {
        code_.vpand(d, ymm(s, half), assembler_.splat(byte_size(dtype) == 1 ? 0xff : 0xffff, 4));
      }
    }
    code_.vpackusdw(Ymm(14), Ymm(14), lanes_ == 16 ? Ymm(15) : Ymm(14));
    code_.vpermq(Ymm(14), Ymm(14), 0xd8);
  }

  void store_words(const Memory& to, int bytes) {
    if (bytes == 2) {
      lanes_ == 16 ? code_.vmovdqu(code_.ptr[to], Ymm(14)) : code_.vmovdqu(code_.ptr[to], Xmm(14));
    } else if (lanes_ == 16) {
      code_.vextracti128(Xmm(15), Ymm(14), 1);
      code_.vpackuswb(Xmm(14), Xmm(14), Xmm(15));
      code_.vmovdqu(code_.ptr[to], Xmm(14));
    } else {
      code_.vpackuswb(Xmm(14), Xmm(14), Xmm(14));
      code_.vmovq(code_.ptr[to], Xmm(14));
    }
  }

  static bool changes_width(const LaneNode& node) { return lane_bytes(node.type) != lane_bytes(result_type(node)); }

  /// Between lanes of 32 bits in one register and of 64 bits in two, or in one as well.
  void convert(const LaneNode& node, Vec d, const Ymm& first, const Ymm& second) {
    const auto upwards = [&](const auto& each) {
      if (halves(8) == 2) {
        code_.vextracti128(Xmm(15), first, 1);
        each(ymm(d, 1), Xmm(15));
      }
      each(ymm(d, 0), low(first));
    };
    if (halves(8) == 1 && (node.op == LaneOp::to_i32 || node.op == LaneOp::narrow)) {
      node.op == LaneOp::narrow ? code_.vcvtpd2ps(low(ymm(d, 0)), first) : code_.vcvttpd2dq(low(ymm(d, 0)), first);
      return;
    }
    switch (node.op) {
      case LaneOp::to_f64: upwards([this](const Ymm& to, const Xmm& from) { code_.vcvtdq2pd(to, from); }); break;
      case LaneOp::widen: upwards([this](const Ymm& to, const Xmm& from) { code_.vcvtps2pd(to, from); }); break;
      case LaneOp::extend_signed: upwards([this](const Ymm& to, const Xmm& from) { code_.vpmovsxdq(to, from); }); break;
      case LaneOp::extend_zero: upwards([this](const Ymm& to, const Xmm& from) { code_.vpmovzxdq(to, from); }); break;
      case LaneOp::to_i32:
        code_.vcvttpd2dq(Xmm(15), second);
        code_.vcvttpd2dq(Xmm(14), first);
        code_.vinserti128(ymm(d, 0), Ymm(14), Xmm(15), 1);
        break;
      case LaneOp::narrow:
        code_.vcvtpd2ps(Xmm(15), second);
        code_.vcvtpd2ps(Xmm(14), first);
        code_.vinsertf128(ymm(d, 0), Ymm(14), Xmm(15), 1);
        break;
      default:  // low_half
        code_.vshufps(Ymm(14), first, second, 0x88);
        code_.vpermq(ymm(d, 0), Ymm(14), 0xd8);
        break;
    }
  }

  bool loads_words_ = false;  ///< prepared for tails of 16-bit elements
};

}  // namespace

std::unique_ptr<LaneLayer> make_avx2_lanes(Assembler& assembler, int lanes, LaneOrder order) {
  return std::make_unique<Avx2Lanes>(assembler, lanes, order);
}

}  // namespace tenfold::jit
