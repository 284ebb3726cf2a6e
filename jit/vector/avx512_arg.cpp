// SPDX-License-Identifier: Apache-2.0
//
// Vectors of arg-reductions on AVX-512. k1 holds the tail; k2, k3, zmm30 and zmm31 are free to use.
#include "jit/vector/arg.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Opmask;
using Xbyak::Xmm;
using Xbyak::Ymm;
using Xbyak::Zmm;

/// VPCMP predicates on integers.
constexpr std::uint8_t kLess = 1, kLessOrEqual = 2, kNotEqual = 4, kGreaterOrEqual = 5, kGreater = 6;

class Avx512ArgVectors final : public ArgVectors {
 public:
  using ArgVectors::ArgVectors;

  void load(Vec d, DType dtype, const Memory& from, Part part) override {
    const int bytes = byte_size(dtype);
    const bool is_unsigned = row(dtype).kind == DTypeKind::unsigned_integer;
    const Zmm to = part == Part::tail ? Zmm(d) | tail_ | Xbyak::util::T_z : Zmm(d);
    const Xbyak::Address address = code_.ptr[from];
    if (bytes == 8) {
      code_.vmovdqu64(to, address);
    } else if (is_floating(dtype) || bytes == 4) {
      v_.load32(d, bytes == 4 ? DType::f32 : dtype, from, part);
    } else if (bytes == 2) {
      is_unsigned ? code_.vpmovzxwd(to, address) : code_.vpmovsxwd(to, address);
    } else {
      dtype == DType::s8 ? code_.vpmovsxbd(to, address) : code_.vpmovzxbd(to, address);
    }
    if (is_unsigned && bytes >= 4) flip_signs(d, arg_lane_bits(dtype));
  }

  void take(const ExtremeRule& rule, Vec best, Vec index, Vec x, const IndexSource& at, Part part) override {
    const bool wide = arg_lane_bits(rule.dtype) == 64;
    const Opmask mask = part == Part::tail ? mask_ | tail_ : mask_;
    if (!is_floating(rule.dtype)) {
      const std::uint8_t strict = rule.greatest ? kGreater : kLess;
      const std::uint8_t loose = rule.greatest ? kGreaterOrEqual : kLessOrEqual;
      const std::uint8_t how = rule.last ? loose : strict;
      wide ? code_.vpcmpq(mask, Zmm(x), Zmm(best), how) : code_.vpcmpd(mask, Zmm(x), Zmm(best), how);
    } else if (rule.last) {
      compare(mask, Zmm(x), Zmm(best), rule.greatest ? predicate::kGreaterEqual : predicate::kLessEqual, wide);
      compare(part == Part::tail ? nan_ | tail_ : nan_, Zmm(x), Zmm(x), predicate::kUnordered, wide);
      code_.korw(mask_, mask_, nan_);
    } else {
      compare(mask, Zmm(x), Zmm(best), rule.greatest ? predicate::kGreaterOrUnordered : predicate::kLessOrUnordered,
              wide);
      compare(mask_ | mask_, Zmm(best), Zmm(best), predicate::kOrdered, wide);
    }
    blend(best, Zmm(x), wide);
    blend_index(index, at, wide);
  }

  void take_number(const ExtremeRule& rule, Vec best, Vec index, Vec x, const IndexSource& at, Vec sum) override {
    const bool wide = rule.dtype == DType::f64;
    const std::uint8_t strict = rule.greatest ? predicate::kGreater : predicate::kLess;
    const std::uint8_t loose = rule.greatest ? predicate::kGreaterEqual : predicate::kLessEqual;
    const Zmm b(best), e(x), s(sum);
    compare(mask_, e, b, rule.last ? loose : strict, wide);
    extreme(rule, b, e, b);
    add(s, s, e, wide);
    blend_index(index, at, wide);
  }

  void take_group(const ExtremeRule& rule, const ArgPlaces& set, const std::vector<Memory>& steps, Vec at) override {
    const bool wide = rule.dtype == DType::f64, real = is_floating(rule.dtype);
    const Zmm group(set.loaded), x(30), sum(31), b(set.best);
    code_.vmovups(group, code_.ptr[steps[0]]);
    for (std::size_t step = 1; step < steps.size(); ++step) {
      code_.vmovups(x, code_.ptr[steps[step]]);
      if (real) add(sum, step == 1 ? group : sum, x, wide);
      extreme(rule, group, x, group);
    }
    if (real) {
      add(Zmm(set.sum), Zmm(set.sum), steps.size() > 1 ? sum : group, wide);
      compare(mask_, group, b, rule.greatest ? predicate::kGreater : predicate::kLess, wide);
    } else {
      code_.vpcmpd(mask_, group, b, rule.greatest ? kGreater : kLess);
    }
    extreme(rule, b, group, b);
    blend_index(set.index, {at, nullptr}, wide);
  }

  void jump_if_numbers(Vec sum, int lane_bits, const Xbyak::Label& target) override {
    compare(mask_, Zmm(sum), Zmm(sum), predicate::kUnordered, lane_bits == 64);
    lane_bits == 64 ? code_.kortestb(mask_, mask_) : code_.kortestw(mask_, mask_);
    code_.jz(target, Xbyak::CodeGenerator::T_NEAR);
  }

  void add_constant(Vec d, int value, int lane_bits) override {
    const Xbyak::Address constant = assembler_.splat(static_cast<std::uint64_t>(value), lane_bits / 8);
    lane_bits == 64 ? code_.vpaddq(Zmm(d), Zmm(d), constant) : code_.vpaddd(Zmm(d), Zmm(d), constant);
  }

  void count_lanes(Vec d, int lane_bits) override { code_.vmovdqu64(Zmm(d), assembler_.iota(0, 1, lane_bits / 8, 0)); }

  void flip_signs(Vec d, int lane_bits) override { code_.vpxord(Zmm(d), Zmm(d), signs(lane_bits)); }

  void order_as_integers(Vec d, int lane_bits) override {
    if (lane_bits == 64) {
      code_.vpsraq(Zmm(31), Zmm(d), 63);
      code_.vpsrlq(Zmm(31), Zmm(31), 1);
    } else {
      code_.vpsrad(Zmm(31), Zmm(d), 31);
      code_.vpsrld(Zmm(31), Zmm(31), 1);
    }
    code_.vpxord(Zmm(d), Zmm(d), Zmm(31));
  }

  void spread(Vec d, Vec s, int lane_bits) override {
    lane_bits == 64 ? code_.vpbroadcastq(Zmm(d), Xmm(s)) : code_.vpbroadcastd(Zmm(d), Xmm(s));
  }

  void drop_unequal(Vec index, Vec a, Vec b, std::int64_t none, int lane_bits) override {
    const Xbyak::Address pattern = assembler_.splat(static_cast<std::uint64_t>(none), lane_bits / 8);
    if (lane_bits == 64) {
      code_.vpcmpq(mask_, Zmm(a), Zmm(b), kNotEqual);
      code_.vmovdqu64(Zmm(index) | mask_, pattern);
    } else {
      code_.vpcmpd(mask_, Zmm(a), Zmm(b), kNotEqual);
      code_.vmovdqu32(Zmm(index) | mask_, pattern);
    }
  }

  void find_equal(const Xbyak::Reg64& bits, const ExtremeRule& rule, Vec x, Vec extreme) override {
    if (is_floating(rule.dtype)) {
      compare(mask_, Zmm(x), Zmm(extreme), predicate::kEqual, rule.dtype == DType::f64);
      compare(nan_, Zmm(x), Zmm(x), predicate::kUnordered, rule.dtype == DType::f64);
      code_.korw(mask_, mask_, nan_);
    } else {
      code_.vpcmpeqd(mask_, Zmm(x), Zmm(extreme));
    }
    code_.kmovw(bits.cvt32(), mask_);
  }

  void get_index(const Xbyak::Reg64& d, Vec index, int lane_bits) override {
    lane_bits == 64 ? code_.vmovq(d, Xmm(index)) : code_.vmovd(d.cvt32(), Xmm(index));
  }
  void set_index(Vec index, const Xbyak::Reg64& s, int lane_bits) override {
    lane_bits == 64 ? code_.vmovq(Xmm(index), s) : code_.vmovd(Xmm(index), s.cvt32());
  }

  void sign_zeros(Vec d, Vec from, int lane_bits) override {
    code_.vpxord(Zmm(31), Zmm(31), Zmm(31));
    compare(mask_, Zmm(d), Zmm(31), predicate::kEqual, lane_bits == 64);
    if (lane_bits == 64) {
      code_.vpandq(Zmm(d) | mask_, Zmm(from), signs(lane_bits));
    } else {
      code_.vpandd(Zmm(d) | mask_, Zmm(from), signs(lane_bits));
    }
  }

  void store_index(const Memory& to, Vec s, int lane_bits, DType dtype, Part part) override {
    const bool wide = lane_bits == 64, to_wide = dtype == DType::s64;
    if (part == Part::one) {
      if (to_wide && !wide) code_.vpmovsxdq(Xmm(s), Xmm(s));
      to_wide ? code_.vmovq(code_.qword[to], Xmm(s)) : code_.vmovd(code_.dword[to], Xmm(s));
    } else if (wide == to_wide) {
      v_.store_bytes(to, s);
    } else if (to_wide) {
      code_.vpmovsxdq(Zmm(31), Ymm(s));
      v_.store_bytes(to, 31);
      code_.vextracti64x4(Ymm(31), Zmm(s), 1);
      code_.vpmovsxdq(Zmm(31), Ymm(31));
      v_.store_bytes(to + 64, 31);
    } else {
      code_.vpmovqd(code_.ptr[to], Zmm(s));
    }
  }

  void store_integers(const Memory& to, Vec s, DType dtype, Part part) override {
    const int bytes = byte_size(dtype);
    if (part == Part::one) return v_.store_integers(to, s, 8 * bytes, part);
    if (bytes >= 4) return v_.store_bytes(to, s);
    bytes == 2 ? code_.vpmovdw(code_.ptr[to], Zmm(s)) : code_.vpmovdb(code_.ptr[to], Zmm(s));
  }

 private:
  Xbyak::Address signs(int lane_bits) { return assembler_.splat(std::uint64_t{1} << (lane_bits - 1), lane_bits / 8); }

  void compare(const Opmask& d, const Zmm& a, const Zmm& b, std::uint8_t how, bool wide) {
    wide ? code_.vcmppd(d, a, b, how) : code_.vcmpps(d, a, b, how);
  }

  /// Of a NaN and a number these give `b`: a NaN in `best` stays.
  void extreme(const ExtremeRule& rule, const Zmm& d, const Zmm& a, const Zmm& b) {
    if (!is_floating(rule.dtype)) {
      rule.greatest ? code_.vpmaxsd(d, a, b) : code_.vpminsd(d, a, b);
    } else if (rule.dtype == DType::f64) {
      rule.greatest ? code_.vmaxpd(d, a, b) : code_.vminpd(d, a, b);
    } else {
      rule.greatest ? code_.vmaxps(d, a, b) : code_.vminps(d, a, b);
    }
  }

  void add(const Zmm& d, const Zmm& a, const Zmm& b, bool wide) {
    wide ? code_.vaddpd(d, a, b) : code_.vaddps(d, a, b);
  }

  void blend_index(Vec index, const IndexSource& at, bool wide) {
    if (at.memory == nullptr) {
      blend(index, Zmm(at.vec), wide);
    } else {
      blend(index, code_.ptr[*at.memory], wide);
    }
  }

  void blend(Vec d, const Xbyak::Operand& taken, bool wide) {
    wide ? code_.vpblendmq(Zmm(d) | mask_, Zmm(d), taken) : code_.vpblendmd(Zmm(d) | mask_, Zmm(d), taken);
  }

  const Opmask tail_{1};
  const Opmask mask_{2};
  const Opmask nan_{3};
};

}  // namespace

std::unique_ptr<ArgVectors> make_avx512_arg_vectors(VectorLayer& layer, Assembler& assembler) {
  return std::make_unique<Avx512ArgVectors>(layer, assembler);
}

}  // namespace tenfold::jit
