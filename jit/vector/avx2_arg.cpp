// SPDX-License-Identifier: Apache-2.0
//
// Vectors of arg-reductions on AVX2. A mask is a register: ymm15 here, with ymm14 beside it.
#include "jit/assembler/frame.hpp"
#include "jit/vector/arg.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Xmm;
using Xbyak::Ymm;

constexpr int kHalves = 2;

class Avx2ArgVectors final : public ArgVectors {
 public:
  using ArgVectors::ArgVectors;

  void load(Vec d, DType dtype, const Memory& from, Part part) override {
    const int bytes = byte_size(dtype);
    const bool is_unsigned = row(dtype).kind == DTypeKind::unsigned_integer;
    if (bytes == 8) {
      load_qwords(d, from, part);
    } else if (is_floating(dtype) || bytes == 4) {
      v_.load32(d, bytes == 4 ? DType::f32 : dtype, from, part);
    } else if (part == Part::tail) {
      v_.load_integers(d, from, 8 * bytes, part);
      bytes == 2 ? code_.vextracti128(Xmm(15), ymm(d, 0), 1) : code_.vpsrldq(Xmm(15), xmm(d), 8);
      widen(ymm(d, 1), Xmm(15), dtype);
      widen(ymm(d, 0), xmm(d), dtype);
    } else {
      for (int half = 0; half < kHalves; ++half) widen(ymm(d, half), code_.ptr[from + 8 * bytes * half], dtype);
    }
    if (is_unsigned && bytes >= 4) flip_signs(d, arg_lane_bits(dtype));
  }

  void take(const ExtremeRule& rule, Vec best, Vec index, Vec x, const IndexSource& at, Part part) override {
    const bool wide = arg_lane_bits(rule.dtype) == 64;
    for (int half = 0; half < kHalves; ++half) {
      const Ymm b = ymm(best, half), i = ymm(index, half), e = ymm(x, half);
      bool keeps = false;
      if (is_floating(rule.dtype)) {
        beaten_by_float(rule, wide, b, e);
      } else {
        // There is no "greater or equal": for the last of equals the mask says which lanes stay.
        keeps = rule.last;
        const bool x_first = rule.greatest != rule.last;
        greater(kMask, x_first ? e : b, x_first ? b : e, wide);
      }
      if (part == Part::tail) {
        const Xbyak::Address in_tail = code_.ptr[code_.rbp + frame::kMasks + 32 * half];
        keeps ? code_.vpandn(kMask, kMask, in_tail) : code_.vpand(kMask, kMask, in_tail);
        keeps = false;
      }
      if (!is_floating(rule.dtype) && !wide && part != Part::tail) {
        rule.greatest ? code_.vpmaxsd(b, b, e) : code_.vpminsd(b, b, e);
      } else {
        blend(b, keeps ? e : b, keeps ? b : e, wide);
      }
      blend_index(i, at, half, keeps, wide);
    }
  }

  void take_number(const ExtremeRule& rule, Vec best, Vec index, Vec x, const IndexSource& at, Vec sum) override {
    const bool wide = rule.dtype == DType::f64;
    for (int half = 0; half < kHalves; ++half) {
      const Ymm b = ymm(best, half), e = ymm(x, half), s = ymm(sum, half);
      beats(rule, kMask, e, b, rule.last);
      extreme(rule, b, e, b, wide);
      add(s, s, e, wide);
      blend_index(ymm(index, half), at, half, false, wide);
    }
  }

  bool takes_pairs(DType dtype) const override { return dtype == DType::f32 || dtype == DType::f64; }

  /// Only the better of the two goes against `best`. The mask says -1 where that is the earlier one, and so makes its
  /// index of the later one's.
  void take_pair(const ExtremeRule& rule, const ArgPlaces& set, const Memory& early, const Memory& late,
                 Vec at) override {
    const bool wide = rule.dtype == DType::f64;
    const Ymm left = ymm(set.loaded, 0), right = ymm(set.loaded, 1);
    for (int half = 0; half < kHalves; ++half) {
      const Ymm b = ymm(set.best, half), i = ymm(set.index, half), s = ymm(set.sum, half);
      code_.vmovups(left, code_.ptr[early + 32 * half]);
      code_.vmovups(right, code_.ptr[late + 32 * half]);
      add(kOther, left, right, wide);
      add(s, s, kOther, wide);
      beats(rule, kMask, left, right, !rule.last);
      extreme(rule, right, left, right, wide);
      beats(rule, kOther, right, b, rule.last);
      extreme(rule, b, right, b, wide);
      wide ? code_.vpaddq(kMask, kMask, ymm(at, half)) : code_.vpaddd(kMask, kMask, ymm(at, half));
      blend_by(kOther, i, i, kMask, wide);
    }
  }

  void take_group(const ExtremeRule& rule, const ArgPlaces& set, const std::vector<Memory>& steps, Vec at) override {
    const bool wide = rule.dtype == DType::f64, real = is_floating(rule.dtype);
    const Ymm group = ymm(set.loaded, 0), x = ymm(set.loaded, 1);
    for (int half = 0; half < kHalves; ++half) {
      const Ymm b = ymm(set.best, half), s = ymm(set.sum, half);
      code_.vmovups(group, code_.ptr[steps[0] + 32 * half]);
      for (std::size_t step = 1; step < steps.size(); ++step) {
        code_.vmovups(x, code_.ptr[steps[step] + 32 * half]);
        if (real) add(kOther, step == 1 ? group : kOther, x, wide);
        extreme(rule, group, x, group, wide);
      }
      if (real) {
        add(s, s, steps.size() > 1 ? kOther : group, wide);
        beats(rule, kMask, group, b, false);
      } else {
        greater(kMask, rule.greatest ? group : b, rule.greatest ? b : group, wide);
      }
      extreme(rule, b, group, b, wide);
      blend_index(ymm(set.index, half), {at, nullptr}, half, false, wide);
    }
  }

  void jump_if_numbers(Vec sum, int lane_bits, const Xbyak::Label& target) override {
    // Both halves at once, as infinities of both signs are rare.
    if (lane_bits == 64) {
      code_.vaddpd(kMask, ymm(sum, 0), ymm(sum, 1));
    } else {
      code_.vaddps(kMask, ymm(sum, 0), ymm(sum, 1));
    }
    compare(kMask, kMask, kMask, predicate::kUnordered, lane_bits == 64);
    code_.vptest(kMask, kMask);
    code_.jz(target, Xbyak::CodeGenerator::T_NEAR);
  }

  void add_constant(Vec d, int value, int lane_bits) override {
    const Xbyak::Address constant = assembler_.splat(static_cast<std::uint64_t>(value), lane_bits / 8);
    for (int half = 0; half < kHalves; ++half) {
      if (lane_bits == 64) {
        code_.vpaddq(ymm(d, half), ymm(d, half), constant);
      } else {
        code_.vpaddd(ymm(d, half), ymm(d, half), constant);
      }
    }
  }

  void count_lanes(Vec d, int lane_bits) override {
    for (int half = 0; half < kHalves; ++half)
      code_.vmovdqu(ymm(d, half), assembler_.iota(0, 1, lane_bits / 8, 32 * half));
  }

  void flip_signs(Vec d, int lane_bits) override {
    for (int half = 0; half < kHalves; ++half) code_.vpxor(ymm(d, half), ymm(d, half), signs(lane_bits));
  }

  void order_as_integers(Vec d, int lane_bits) override {
    for (int half = 0; half < kHalves; ++half) {
      if (lane_bits == 64) {
        code_.vpxor(kOther, kOther, kOther);
        code_.vpcmpgtq(kOther, kOther, ymm(d, half));
        code_.vpsrlq(kOther, kOther, 1);
      } else {
        code_.vpsrad(kOther, ymm(d, half), 31);
        code_.vpsrld(kOther, kOther, 1);
      }
      code_.vpxor(ymm(d, half), ymm(d, half), kOther);
    }
  }

  void spread(Vec d, Vec s, int lane_bits) override {
    lane_bits == 64 ? code_.vpbroadcastq(ymm(d, 0), xmm(s)) : code_.vpbroadcastd(ymm(d, 0), xmm(s));
    code_.vmovdqa(ymm(d, 1), ymm(d, 0));
  }

  void drop_unequal(Vec index, Vec a, Vec b, std::int64_t none, int lane_bits) override {
    const bool wide = lane_bits == 64;
    code_.vmovdqu(kOther, assembler_.splat(static_cast<std::uint64_t>(none), lane_bits / 8));
    for (int half = 0; half < kHalves; ++half) {
      if (wide) {
        code_.vpcmpeqq(kMask, ymm(a, half), ymm(b, half));
      } else {
        code_.vpcmpeqd(kMask, ymm(a, half), ymm(b, half));
      }
      blend(ymm(index, half), kOther, ymm(index, half), wide);
    }
  }

  void find_equal(const Xbyak::Reg64& bits, const ExtremeRule& rule, Vec x, Vec extreme) override {
    const bool wide = rule.dtype == DType::f64;
    Gpr upper(assembler_);
    for (int half = 0; half < kHalves; ++half) {
      const Ymm e = ymm(x, half);
      if (is_floating(rule.dtype)) {
        compare(kMask, e, ymm(extreme, half), predicate::kEqual, wide);
        compare(kOther, e, e, predicate::kUnordered, wide);
        code_.vorps(kMask, kMask, kOther);
      } else {
        code_.vpcmpeqd(kMask, e, ymm(extreme, half));
      }
      const Xbyak::Reg64& d = half == 0 ? bits : upper.reg();
      wide ? code_.vmovmskpd(d.cvt32(), kMask) : code_.vmovmskps(d.cvt32(), kMask);
    }
    code_.shl(upper, wide ? 4 : 8);
    code_.or_(bits, upper);
  }

  void get_index(const Xbyak::Reg64& d, Vec index, int lane_bits) override {
    lane_bits == 64 ? code_.vmovq(d, xmm(index)) : code_.vmovd(d.cvt32(), xmm(index));
  }
  void set_index(Vec index, const Xbyak::Reg64& s, int lane_bits) override {
    lane_bits == 64 ? code_.vmovq(xmm(index), s) : code_.vmovd(xmm(index), s.cvt32());
  }

  void sign_zeros(Vec d, Vec from, int lane_bits) override {
    for (int half = 0; half < kHalves; ++half) {
      code_.vpxor(kOther, kOther, kOther);
      compare(kMask, ymm(d, half), kOther, predicate::kEqual, lane_bits == 64);
      code_.vpand(kOther, ymm(from, half), signs(lane_bits));
      blend(ymm(d, half), ymm(d, half), kOther, lane_bits == 64);
    }
  }

  void store_index(const Memory& to, Vec s, int lane_bits, DType dtype, Part part) override {
    const bool wide = lane_bits == 64, to_wide = dtype == DType::s64;
    if (part == Part::one) {
      if (to_wide && !wide) code_.vpmovsxdq(xmm(s), xmm(s));
      to_wide ? code_.vmovq(code_.qword[to], xmm(s)) : code_.vmovd(code_.dword[to], xmm(s));
    } else if (wide == to_wide) {
      v_.store_bytes(to, s);
    } else {
      for (int half = 0; half < kHalves; ++half) {
        code_.vextracti128(Xmm(15), ymm(s, half), 1);
        if (to_wide) {
          code_.vpmovsxdq(kOther, Xmm(2 * s + half));
          code_.vpmovsxdq(kMask, Xmm(15));
          v_.store_bytes(to + 64 * half, kSpares);
        } else {
          // The low halves of four lanes.
          code_.vshufps(Xmm(15), Xmm(2 * s + half), Xmm(15), 0x88);
          code_.vmovdqu(code_.ptr[to + 16 * half], Xmm(15));
        }
      }
    }
  }

  void store_integers(const Memory& to, Vec s, DType dtype, Part part) override {
    const int bytes = byte_size(dtype);
    if (part == Part::one) return v_.store_integers(to, s, 8 * bytes, part);
    if (bytes >= 4) return v_.store_bytes(to, s);
    // Lanes are within the narrow type, so that saturating changes none. Packing goes by halves of 128 bits.
    if (dtype == DType::u16) {
      code_.vpackusdw(kMask, ymm(s, 0), ymm(s, 1));
    } else {
      code_.vpackssdw(kMask, ymm(s, 0), ymm(s, 1));
    }
    code_.vpermq(kMask, kMask, 0xd8);
    if (bytes == 2) return code_.vmovdqu(code_.ptr[to], kMask);
    code_.vextracti128(Xmm(14), kMask, 1);
    if (dtype == DType::s8) {
      code_.vpacksswb(Xmm(15), Xmm(15), Xmm(14));
    } else {
      code_.vpackuswb(Xmm(15), Xmm(15), Xmm(14));
    }
    code_.vmovdqu(code_.ptr[to], Xmm(15));
  }

 private:
  static Ymm ymm(Vec v, int half) { return Ymm(2 * v + half); }
  static Xmm xmm(Vec v) { return Xmm(2 * v); }
  Xbyak::Address signs(int lane_bits) { return assembler_.splat(std::uint64_t{1} << (lane_bits - 1), lane_bits / 8); }

  void load_qwords(Vec d, const Memory& from, Part part) {
    if (part != Part::tail) return v_.load_bytes(d, from);
    for (int half = 0; half < kHalves; ++half) {
      code_.vmovdqu(kMask, code_.ptr[code_.rbp + frame::kMasks + 32 * half]);
      code_.vpmaskmovq(ymm(d, half), kMask, code_.ptr[from + 32 * half]);
    }
  }

  /// 8 integers of 8 or 16 bits.
  void widen(const Ymm& d, const Xbyak::Operand& from, DType dtype) {
    const bool is_unsigned = row(dtype).kind == DTypeKind::unsigned_integer;
    if (byte_size(dtype) == 1) {
      is_unsigned ? code_.vpmovzxbd(d, from) : code_.vpmovsxbd(d, from);
    } else {
      is_unsigned ? code_.vpmovzxwd(d, from) : code_.vpmovsxwd(d, from);
    }
  }

  void compare(const Ymm& d, const Ymm& a, const Ymm& b, std::uint8_t how, bool wide) {
    wide ? code_.vcmppd(d, a, b, how) : code_.vcmpps(d, a, b, how);
  }

  void greater(const Ymm& d, const Ymm& a, const Ymm& b, bool wide) {
    wide ? code_.vpcmpgtq(d, a, b) : code_.vpcmpgtd(d, a, b);
  }

  /// d = a is more extreme than b, or with `equal` as extreme, if both are numbers.
  void beats(const ExtremeRule& rule, const Ymm& d, const Ymm& a, const Ymm& b, bool equal) {
    const std::uint8_t strict = rule.greatest ? predicate::kGreater : predicate::kLess;
    const std::uint8_t loose = rule.greatest ? predicate::kGreaterEqual : predicate::kLessEqual;
    compare(d, a, b, equal ? loose : strict, rule.dtype == DType::f64);
  }

  /// Of a NaN and a number this gives `b`: a NaN in `best` stays.
  void extreme(const ExtremeRule& rule, const Ymm& d, const Ymm& a, const Ymm& b, bool wide) {
    if (!is_floating(rule.dtype)) {
      rule.greatest ? code_.vpmaxsd(d, a, b) : code_.vpminsd(d, a, b);
    } else if (wide) {
      rule.greatest ? code_.vmaxpd(d, a, b) : code_.vminpd(d, a, b);
    } else {
      rule.greatest ? code_.vmaxps(d, a, b) : code_.vminps(d, a, b);
    }
  }

  void add(const Ymm& d, const Ymm& a, const Ymm& b, bool wide) {
    wide ? code_.vaddpd(d, a, b) : code_.vaddps(d, a, b);
  }

  /// index = where kMask (keeps: where not): at.
  void blend_index(const Ymm& index, const IndexSource& at, int half, bool keeps, bool wide) {
    if (at.memory == nullptr) {
      const Ymm a = ymm(at.vec, half);
      blend(index, keeps ? a : index, keeps ? index : a, wide);
    } else if (keeps) {
      code_.vmovdqu(kOther, code_.ptr[*at.memory]);
      blend(index, kOther, index, wide);
    } else {
      blend(index, index, code_.ptr[*at.memory], wide);
    }
  }

  /// d = where kMask: taken, else kept.
  void blend(const Ymm& d, const Ymm& kept, const Xbyak::Operand& taken, bool wide) {
    blend_by(kMask, d, kept, taken, wide);
  }
  void blend_by(const Ymm& mask, const Ymm& d, const Ymm& kept, const Xbyak::Operand& taken, bool wide) {
    wide ? code_.vblendvpd(d, kept, taken, mask) : code_.vblendvps(d, kept, taken, mask);
  }

  void beaten_by_float(const ExtremeRule& rule, bool wide, const Ymm& best, const Ymm& x) {
    if (rule.last) {
      compare(kMask, x, best, rule.greatest ? predicate::kGreaterEqual : predicate::kLessEqual, wide);
      compare(kOther, x, x, predicate::kUnordered, wide);
      code_.vorps(kMask, kMask, kOther);
    } else {
      compare(kMask, x, best, rule.greatest ? predicate::kGreaterOrUnordered : predicate::kLessOrUnordered, wide);
      compare(kOther, best, best, predicate::kOrdered, wide);
      code_.vandps(kMask, kMask, kOther);
    }
  }

  const Ymm kOther{14}, kMask{15};
  static constexpr Vec kSpares = 7;  ///< both
};

}  // namespace

std::unique_ptr<ArgVectors> make_avx2_arg_vectors(VectorLayer& layer, Assembler& assembler) {
  return std::make_unique<Avx2ArgVectors>(layer, assembler);
}

}  // namespace tenfold::jit
