// SPDX-License-Identifier: Apache-2.0
#include "jit/function/divisor.hpp"

namespace tenfold::jit {
namespace {

/// 2^-e of a d in [2^(e-1), 2^e), as far as that is normal: then |d scale| is in [0.5, 1), and x scale overflows only
/// where the quotient does. A subnormal d comes out smaller, one above 2^126 larger.
Lane scale_of(Lane d) {
  LaneBuilder& b = *d.builder;
  constexpr std::uint64_t kExponent = 0x7f800000, kTwiceBias = 0x7e800000, kOne = 0x00800000;
  const Lane exponent = as(LaneType::i32, d) & b.bits(LaneType::i32, kExponent);
  const Lane mirrored = b.bits(LaneType::i32, kTwiceBias) - exponent;
  return as(LaneType::f32, combine(LaneOp::greatest_signed, mirrored, b.bits(LaneType::i32, kOne)));
}

}  // namespace

Divisor make_divisor(Lane d, bool moderate) {
  Divisor made;
  made.scale = moderate ? d.builder->constant(LaneType::f32, 1) : scale_of(d);
  const Lane scaled = moderate ? d : d * made.scale;
  // The high part is not above the reciprocal, so that the low one has its sign: of an infinite x both products do.
  const Lane nearest = 1.0 / scaled;
  const Lane is_above = fnma(nearest, scaled, d.builder->constant(LaneType::f32, 1)) < 0.0;
  made.high = as(LaneType::f32, as(LaneType::i32, nearest) + is_above);
  const Lane rest = fnma(made.high, scaled, d.builder->constant(LaneType::f32, 1));
  // An exact reciprocal, and that of 0 or of an infinity: too little to change a sum, but no zero times an infinity.
  made.low = select(rest > 0.0, rest * made.high, made.high * 0x1p-60);
  return made;
}

Lane divide_by(Lane x, Lane high, Lane low) { return fma(x, high, x * low); }

}  // namespace tenfold::jit
