// SPDX-License-Identifier: Apache-2.0
//
// NaNs that go by, on AVX-512: k4 to k7 keep the lanes that have had none. Extremes of 64 bytes of integers run on one
// port only, comparisons on another.
#include "jit/vector/arg.hpp"
#include "jit/vector/isa.hpp"
#include "jit/vector/nan_watch.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Opmask;
using Xbyak::Zmm;

/// VPCMP predicate on integers.
constexpr std::uint8_t kNotAbove = 2;

class Avx512NanWatch final : public NanWatch {
 public:
  Avx512NanWatch(Assembler& assembler, DType dtype, bool maximum, std::vector<Vec> slots)
      : assembler_(assembler), code_(assembler.code()), dtype_(dtype), maximum_(maximum), slots_(std::move(slots)) {}

  int slots() const override { return static_cast<int>(slots_.size()); }
  bool in_pairs() const override { return sees_all(); }
  bool sees_all() const override { return byte_size(dtype_) > 2; }

  void start(int slot) override {
    const Zmm none = Zmm(slots_[static_cast<std::size_t>(slot)]);
    code_.vpxord(none, none, none);
    // All ones that wait for nothing; KXNOR would wait for what has been in the mask.
    switch (byte_size(dtype_)) {
      case 2: code_.vpcmpeqw(of(slot), none, none); break;
      case 4: code_.vpcmpeqd(of(slot), none, none); break;
      default: code_.vpcmpeqq(of(slot), none, none); break;
    }
    if (slot == 0 && !in_pairs()) code_.vmovdqu64(bound_, assembler_.splat(bound(), 2));
  }

  void see(int slot, Vec v) override {
    if (in_pairs()) return see_pair(slot, v, v);
    // Of words there is no comparison as numbers. NaNs of the sign that wins show in the extreme itself.
    const Opmask k = of(slot) | of(slot);
    if (maximum_) {
      code_.vpcmpuw(k, Zmm(v), bound_, kNotAbove);
    } else {
      code_.vpcmpw(k, Zmm(v), bound_, kNotAbove);
    }
  }

  void see_pair(int slot, Vec a, Vec b) override {
    const Opmask k = of(slot) | of(slot);
    if (byte_size(dtype_) == 4) {
      code_.vcmpps(k, Zmm(a), Zmm(b), predicate::kOrdered);
    } else {
      code_.vcmppd(k, Zmm(a), Zmm(b), predicate::kOrdered);
    }
  }

  void merge(int into, int from) override { code_.kandq(of(into), of(into), of(from)); }

  void jump_if_none(int slot, const Xbyak::Label& target) override {
    // CF says that all bits are set.
    switch (byte_size(dtype_)) {
      case 2: code_.kortestd(of(slot), of(slot)); break;
      case 4: code_.kortestw(of(slot), of(slot)); break;
      default: code_.kortestb(of(slot), of(slot)); break;
    }
    code_.jc(target, Xbyak::CodeGenerator::T_NEAR);
  }

 private:
  /// Above which only NaNs of the sign that loses are.
  std::uint64_t bound() const {
    const FloatBits bits = float_bits(dtype_);
    return maximum_ ? bits.negative_infinity : bits.infinity;
  }
  static Opmask of(int slot) { return Opmask(4 + slot); }

  Assembler& assembler_;
  Xbyak::CodeGenerator& code_;
  DType dtype_;
  bool maximum_;
  std::vector<Vec> slots_;
  const Zmm bound_{28};
};

}  // namespace

std::unique_ptr<NanWatch> make_avx512_nan_watch(Assembler& assembler, DType dtype, bool maximum,
                                                std::vector<Vec> slots) {
  return std::make_unique<Avx512NanWatch>(assembler, dtype, maximum, std::move(slots));
}

}  // namespace tenfold::jit
