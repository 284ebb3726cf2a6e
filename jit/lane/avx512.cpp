// SPDX-License-Identifier: Apache-2.0
//
// Lane programs in AVX-512 (F, BW, DQ, VL): a virtual vector is a zmm, or its lower ymm for eight lanes of 32 bits, so
// that what is past the lanes is never computed with. k1 holds the tail, k3 to k7 what
// compare_into() leaves; k0, k2 and those above zmm24 are the layer's own. Of the BF16 and FP16 extensions only
// the joining of two vectors of bf16 is used, and not for denormals, which it flushes.
#include "jit/lane/avx512.hpp"

#include <algorithm>
#include <array>
#include <memory>

namespace tenfold::jit {
namespace {

using Xbyak::Address;
using Xbyak::Operand;
using Xbyak::Xmm;

using Own = Avx512Operation;

class Avx512Lanes final : public LaneLayer {
 public:
  Avx512Lanes(Assembler& assembler, target::Isa isa, int lanes, LaneOrder order)
      : LaneLayer(assembler, lanes, order), has_bf16_(isa >= target::Isa::avx512_core_bf16) {}

  int vectors() const override { return Own::kVectors; }
  SpareVectors spare() const override { return {Own::kSpare, Own::kOrdered, 64}; }

  void prepare_tail(const Xbyak::Reg64& count) override {
    const Gpr bits(assembler_);
    code_.mov(bits, -1);
    code_.bzhi(bits, bits, count);
    code_.kmovq(tail_, bits);
  }

  bool loads_tails(DType) const override { return true; }
  bool stores_tails(DType) const override { return true; }

  void prepare(DType dtype) override {
    if (dtype != DType::bf16 || holds_words_) return;
    code_.vmovdqu32(Xbyak::Zmm(Own::kLoadPlaces), load_places());
    code_.vmovdqu32(Xbyak::Zmm(Own::kStorePlaces), store_places());
    for (const auto& [index, pattern] : kRounding) code_.vmovdqu32(Xbyak::Zmm(index), assembler_.splat(pattern, 4));
    holds_words_ = true;
  }

  void load(Vec d, DType dtype, const Memory& from, Part part) override {
    const int bytes = byte_size(dtype);
    const Xmm to = vector(d, std::max(bytes, 4)), narrow = vector(d, bytes);
    if (is_narrow()) {
      part == Part::tail ? masked_move(bytes, narrow | tail_ | Xbyak::util::T_z, code_.ptr[from]) : reload(d, from);
      return;
    }
    if (dtype == DType::bf16) {
      part == Part::tail ? code_.vmovdqu16(narrow | tail_ | Xbyak::util::T_z, code_.ptr[from])
                         : code_.vmovdqu16(narrow, code_.ptr[from]);
      spread_words(to);
      return;
    }
    if (part == Part::tail) {
      masked_move(bytes, narrow | tail_ | Xbyak::util::T_z, code_.ptr[from]);
      if (bytes < 4) widen_elements(to, dtype, narrow);
    } else {
      widen_elements(to, dtype, code_.ptr[from]);
    }
    if (order_ == LaneOrder::even_first) reorder(to, to, [this](int lane) { return element_of(order_, lane); });
  }

  void load_wide(Vec d, const Memory& from) override { code_.vcvtps2pd(Xbyak::Zmm(d), code_.ptr[from]); }

  void number(Vec d, const Memory& first, int ahead) override {
    broadcast(d, DType::s32, first);
    code_.vpaddd(vector(d, 4), vector(d, 4), numbers(ahead, 0));
  }

  void broadcast(Vec d, DType dtype, const Memory& from) override {
    const Xmm to = vector(d, is_narrow() ? byte_size(dtype) : std::max(byte_size(dtype), 4));
    const Address address = code_.ptr[from];
    switch (byte_size(dtype)) {
      case 1:
        code_.vpbroadcastb(to, address);
        if (is_narrow()) break;
        widen_by_shift(to, dtype, 24);
        break;
      case 2:
        code_.vpbroadcastw(to, address);
        if (is_narrow()) break;
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
    if (is_narrow()) {
      part == Part::tail ? masked_move(bytes, code_.ptr[to] | tail_, vector(s, bytes)) : spill(to, s);
      return;
    }
    Xmm from = vector(s, std::max(bytes, 4));
    if (dtype == DType::bf16) {
      round_to_words(from);
    } else if (order_ == LaneOrder::even_first) {
      reorder(sized(Own::kOrdered, 4), from, [this](int element) { return lane_of(order_, element); });
      from = sized(Own::kOrdered, 4);
    }
    const Xmm narrow = bytes < 4 ? sized(Own::kSpare, bytes) : from;
    if (part != Part::tail && dtype != DType::bf16) {
      narrow_lanes(code_.ptr[to], dtype, from);
    } else if (part != Part::tail) {
      code_.vmovups(code_.ptr[to], narrow);
    } else {
      if (bytes < 4 && dtype != DType::bf16) narrow_lanes(narrow, dtype, from);
      masked_move(bytes, code_.ptr[to] | tail_, narrow);
    }
  }

  bool joins() const override { return has_bf16_ && lanes_ == 16 && holds_words_; }

  void load_lanes(Vec d, LaneType type, const Memory& from) override {
    code_.vmovups(vector(d, lane_bytes(type)), code_.ptr[from]);
  }
  void store_lanes(const Memory& to, LaneType type, Vec s) override {
    code_.vmovups(code_.ptr[to], vector(s, lane_bytes(type)));
  }

  void gather_lanes(Vec d, LaneType type, const Memory& from, int distance) override {
    const Xbyak::Ymm to(d);
    gather_pairs(Xmm(to.getIdx()), Xmm(Own::kSpare), type, from, distance);
    if (lane_bytes(type) == 8) code_.vinsertf64x2(to, to, Xmm(Own::kSpare), 1);
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

  void operate(const LaneNode& node, Vec d, std::span<const LaneSource> args) override {
    if (node.op == LaneOp::join_bf16) return join_words(vector(d, 4), vector(args[0].vec, 4), vector(args[1].vec, 4));
    Own(assembler_, *this, node).emit(d, args);
  }

  int masks() const override { return Own::kMasks; }
  void compare_into(int mask, const LaneNode& node, std::span<const LaneSource> args) override {
    Own(assembler_, *this, node, Own::kFirstMask + mask).emit(-1, args);
  }
  void select_by(int mask, const LaneNode& node, Vec d, std::span<const LaneSource> args) override {
    Own(assembler_, *this, node, Own::kFirstMask + mask).emit(d, args);
  }

 protected:
  void load_constant(int index, const LaneSource& source) override {
    source.is_roots() ? code_.vmovups(vector(index, 8), Own::roots(*this, source.pattern))
                      : Own::constant(assembler_, vector(index, 8), source.pattern, source.bytes);
  }

 private:
  /// What rounds to bf16, and where it is held.
  static constexpr std::pair<int, std::uint64_t> kRounding[] = {
      {Own::kUnit, 0x10000}, {Own::kBelowHalf, 0x7fff}, {Own::kHalf, 0x8000}};

  /// Lane i of d = lane from(i) of s.
  template <class From>
  void reorder(const Xmm& d, const Xmm& s, const From& from) {
    std::array<std::uint8_t, 64> lanes{};
    for (int lane = 0; lane < lanes_; ++lane)
      lanes[4 * static_cast<std::size_t>(lane)] = static_cast<std::uint8_t>(from(lane));
    const Xmm places = sized(Own::kSpare, 4);
    code_.vmovdqu32(places, assembler_.bytes(lanes));
    code_.vpermd(Xbyak::Zmm(d.getIdx()), Xbyak::Zmm(places.getIdx()), Xbyak::Zmm(s.getIdx()));
  }

  /// Numbers of words: of each lane the upper word has its element, the lower one what lies behind all elements.
  Address load_places() {
    std::array<std::uint8_t, 64> words{};
    for (int lane = 0; lane < 16; ++lane) {
      words[4 * static_cast<std::size_t>(lane)] = 31;
      words[4 * static_cast<std::size_t>(lane) + 2] = static_cast<std::uint8_t>(element_of(order_, lane));
    }
    return assembler_.bytes(words);
  }
  Address store_places() {
    std::array<std::uint8_t, 64> words{};
    for (int element = 0; element < 16; ++element)
      words[2 * static_cast<std::size_t>(element)] = static_cast<std::uint8_t>(2 * lane_of(order_, element) + 1);
    return assembler_.bytes(words);
  }

  Address joined_places() {
    std::array<std::uint8_t, 64> words{};
    for (int element = 0; element < 32; ++element)
      words[2 * static_cast<std::size_t>(element)] =
          static_cast<std::uint8_t>(element / 16 * 16 + lane_of(order_, element % 16));
    return assembler_.bytes(words);
  }

  /// Elements of bf16 side by side, with zeros behind them, to f32 in the layer's order: one shuffle, where a shift
  /// after the widening takes two operations, and the even ones first three.
  void spread_words(const Xmm& d) {
    const Xmm places = sized(holds_words_ ? Own::kLoadPlaces : Own::kSpare, 4);
    if (!holds_words_) code_.vmovdqu32(places, load_places());
    code_.vpermw(d, places, d);
  }

  /// As in the AVX2 layer: the same integers, the same bits. Half a unit in the last place of bf16, less one when the
  /// last kept bit is even, is added to the lanes, and their upper words come side by side in kSpare.
  void round_to_words(const Xmm& s) {
    if (holds_words_) return round_by_held(code_, lanes_, s);
    const Xmm t = sized(Own::kSpare, 4), places = sized(Own::kOrdered, 4);
    code_.vptestmd(mask_, s, assembler_.splat(kRounding[0].second, 4));
    code_.vpaddd(t, s, assembler_.splat(kRounding[1].second, 4));
    code_.vpaddd(t | mask_, s, assembler_.splat(kRounding[2].second, 4));
    code_.vmovdqu32(places, store_places());
    code_.vpermw(t, places, t);
  }

  /// The same with what prepare() holds.
  static void round_by_held(Xbyak::CodeGenerator& code, int lanes, const Xmm& s) {
    const auto own = [lanes](int index) { return Own::sized(lanes, index, 4); };
    const Xmm t = own(Own::kSpare);
    const Xbyak::Opmask mask(Own::kMask);
    code.vptestmd(mask, s, own(Own::kUnit));
    code.vpaddd(t, s, own(Own::kBelowHalf));
    code.vpaddd(t | mask, s, own(Own::kHalf));
    code.vpermw(t, own(Own::kStorePlaces), t);
  }

  /// Looks for NaNs and denormals first, as the machine's own rounding would keep the bits of the ones and flush the
  /// others: where there are any, the lanes take the way of round_to_words().
  void join_words(const Xmm& d, const Xmm& a, const Xmm& b) {
    constexpr std::uint8_t kNanOrDenormal = 0x01 | 0x20 | 0x80;
    const Xbyak::Zmm all(d.getIdx());
    const auto special = std::make_shared<Xbyak::Label>(), done = std::make_shared<Xbyak::Label>();
    code_.vfpclassps(Xbyak::Opmask(0), a, kNanOrDenormal);
    code_.vfpclassps(mask_, b, kNanOrDenormal);
    code_.kortestw(Xbyak::Opmask(0), mask_);
    code_.jnz(*special, Xbyak::CodeGenerator::T_NEAR);
    code_.vcvtne2ps2bf16(all, Xbyak::Zmm(b.getIdx()), Xbyak::Zmm(a.getIdx()));
    if (order_ == LaneOrder::even_first) {
      code_.vmovdqu32(Xbyak::Zmm(Own::kSpare), joined_places());
      code_.vpermw(all, Xbyak::Zmm(Own::kSpare), all);
    }
    code_.L(*done);
    assembler_.aside([&to = assembler_, all, a, b, special, done] {
      to.code().L(*special);
      join_special_words(to, all, a, b);
      to.code().jmp(*done, Xbyak::CodeGenerator::T_NEAR);
    });
  }

  /// Emitted when the layer is gone; it had prepared for bf16.
  static void join_special_words(Assembler& assembler, const Xmm& d, const Xmm& a, const Xmm& b) {
    Xbyak::CodeGenerator& code = assembler.code();
    const Xbyak::Opmask mask(Own::kMask);
    const Xbyak::Zmm first(Own::kOrdered), words(Own::kSpare);
    const auto round = [&](const Xmm& to, const Xmm& s) {
      code.vcmpps(mask, s, s, 3);
      code.vpblendmd(to | mask, s, assembler.splat(0x7fc00000, 4));
      round_by_held(code, 16, to);
    };
    round(first, a);
    code.vmovaps(first, words);
    round(d, b);
    code.vinserti64x4(Xbyak::Zmm(d.getIdx()), first, Xbyak::Ymm(words.getIdx()), 1);
  }

  Xmm sized(int index, int bytes) const { return Own::sized(lanes_, index, bytes); }
  Xmm vector(Vec v, int bytes) const { return sized(v, bytes); }
  /// Lanes are as wide as elements of 8 or 16 bits, and fill the vector.
  bool is_narrow() const { return lanes_ > 16; }

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
      case DType::s8:
      case DType::u8:
      case DType::boolean: code_.vpmovdb(to, s); break;
      case DType::s16:
      case DType::u16: code_.vpmovdw(to, s); break;
      default: code_.vmovups(static_cast<const Address&>(to), s); break;
    }
  }

  const Xbyak::Opmask tail_{1};
  const Xbyak::Opmask mask_{Own::kMask};
  const bool has_bf16_;       ///< the machine rounds to it
  bool holds_words_ = false;  ///< prepared for bf16
};

}  // namespace

std::unique_ptr<LaneLayer> make_avx512_lanes(Assembler& assembler, target::Isa isa, int lanes, LaneOrder order) {
  return std::make_unique<Avx512Lanes>(assembler, isa, lanes, order);
}

}  // namespace tenfold::jit
