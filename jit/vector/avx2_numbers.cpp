// SPDX-License-Identifier: Apache-2.0
//
// Extremes of f64 on AVX2.
#include "jit/vector/arg.hpp"
#include "jit/vector/numbers.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Label;
using Xbyak::Xmm;
using Xbyak::Ymm;

constexpr int kHalves = 2;
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

Ymm ymm(Vec v, int half) { return Ymm(2 * v + half); }
Xmm xmm(Vec v) { return Xmm(2 * v); }

}  // namespace

void NumberVectors::combine(Op op, const Xmm& d, const Xmm& a, const Xmm& b) {
  switch (op) {
    case Op::extreme: greatest_ ? code_.vmaxpd(d, a, b) : code_.vminpd(d, a, b); break;
    case Op::sum: code_.vaddpd(d, a, b); break;
    case Op::facts: code_.vandpd(d, a, b); break;
  }
}

void NumberVectors::combine(Op op, Vec d, Vec s) {
  for (int half = 0; half < kHalves; ++half) combine(op, ymm(d, half), ymm(d, half), ymm(s, half));
}

/// Bit 63: of a max that all signs are set, of a min that none is. Where the extreme is a zero, no element is beyond
/// it: it is the zero that loses only if that holds. The other bits: there is no NaN.
void NumberVectors::look(Vec d, Vec s) {
  const Xbyak::Address sign = assembler_.splat(kSign, 8);
  for (int half = 0; half < kHalves; ++half) {
    const Ymm e = ymm(s, half);
    code_.vcmppd(Ymm(15), e, e, predicate::kOrdered);
    if (!greatest_) code_.vxorpd(e, e, sign);
    code_.vandpd(e, e, sign);
    code_.vandpd(Ymm(15), Ymm(15), assembler_.splat(~kSign, 8));
    code_.vorpd(e, e, Ymm(15));
    code_.vandpd(ymm(d, half), ymm(d, half), e);
  }
}

void NumberVectors::fold(Op op, Vec d) {
  const Xmm other(13);
  combine(op, ymm(d, 0), ymm(d, 0), ymm(d, 1));
  code_.vextractf128(other, ymm(d, 0), 1);
  combine(op, xmm(d), xmm(d), other);
  code_.vunpckhpd(other, xmm(d), xmm(d));
  combine(op, xmm(d), xmm(d), other);
}

void NumberVectors::jump_if_numbers(Vec sum, const Label& target) {
  // Both halves at once, as infinities of both signs are rare.
  code_.vaddpd(Ymm(15), ymm(sum, 0), ymm(sum, 1));
  code_.vcmppd(Ymm(15), Ymm(15), Ymm(15), predicate::kUnordered);
  code_.vptest(Ymm(15), Ymm(15));
  code_.jz(target, Xbyak::CodeGenerator::T_NEAR);
}

void NumberVectors::jump_if_no_zero(Vec extreme, const Label& target) {
  code_.vxorpd(Ymm(15), Ymm(15), Ymm(15));
  code_.vcmppd(Ymm(14), ymm(extreme, 0), Ymm(15), predicate::kEqual);
  code_.vcmppd(Ymm(15), ymm(extreme, 1), Ymm(15), predicate::kEqual);
  code_.vorpd(Ymm(15), Ymm(15), Ymm(14));
  code_.vptest(Ymm(15), Ymm(15));
  code_.jz(target, Xbyak::CodeGenerator::T_NEAR);
}

void NumberVectors::jump_if_settled(Vec extreme, Vec sum, const Label& target) {
  Label open;
  code_.vxorpd(Xmm(15), Xmm(15), Xmm(15));
  code_.vucomisd(xmm(sum), xmm(sum));
  code_.jp(open);
  code_.vucomisd(xmm(extreme), Xmm(15));
  code_.jne(target, Xbyak::CodeGenerator::T_NEAR);
  code_.L(open);
}

void NumberVectors::finish(Vec extreme, Vec facts) {
  for (int half = 0; half < kHalves; ++half) {
    const Ymm e = ymm(extreme, half), f = ymm(facts, half);
    code_.vxorpd(Ymm(15), Ymm(15), Ymm(15));
    code_.vcmppd(Ymm(15), e, Ymm(15), predicate::kEqual);
    code_.vpsllq(Ymm(14), f, 1);
    if (!greatest_) code_.vxorpd(f, f, assembler_.splat(kSign, 8));
    code_.vandpd(f, f, assembler_.splat(kSign, 8));
    code_.vblendvpd(e, e, f, Ymm(15));
    code_.vmovupd(Ymm(15), assembler_.splat(float_bits(DType::f64).canonical_nan, 8));
    code_.vblendvpd(e, Ymm(15), e, Ymm(14));
  }
}

}  // namespace tenfold::jit
