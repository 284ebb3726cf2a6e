// SPDX-License-Identifier: Apache-2.0
//
// NaNs among f32 that go by, on AVX2: the halves of a vector are compared with each other. Clobbers ymm15.
#include "jit/vector/arg.hpp"
#include "jit/vector/isa.hpp"
#include "jit/vector/nan_watch.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Ymm;

class Avx2NanWatch final : public NanWatch {
 public:
  Avx2NanWatch(Assembler& assembler, std::vector<Vec> slots) : code_(assembler.code()), slots_(std::move(slots)) {}

  int slots() const override { return static_cast<int>(slots_.size()); }

  void start(int slot) override {
    const Ymm seen = of(slot);
    code_.vpxor(seen, seen, seen);
  }

  void see(int slot, Vec v) override {
    code_.vcmpps(Ymm(15), Ymm(2 * v), Ymm(2 * v + 1), predicate::kUnordered);
    code_.vorps(of(slot), of(slot), Ymm(15));
  }

  void merge(int into, int from) override { code_.vorps(of(into), of(into), of(from)); }

  void jump_if_none(int slot, const Xbyak::Label& target) override {
    code_.vptest(of(slot), of(slot));
    code_.jz(target, Xbyak::CodeGenerator::T_NEAR);
  }

 private:
  /// The half with lane 0.
  Ymm of(int slot) const { return Ymm(2 * slots_[static_cast<std::size_t>(slot)]); }

  Xbyak::CodeGenerator& code_;
  std::vector<Vec> slots_;
};

}  // namespace

std::unique_ptr<NanWatch> make_avx2_nan_watch(Assembler& assembler, std::vector<Vec> slots) {
  return std::make_unique<Avx2NanWatch>(assembler, std::move(slots));
}

}  // namespace tenfold::jit
