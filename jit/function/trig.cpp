// SPDX-License-Identifier: Apache-2.0
//
// Circular functions in f64 lanes. sin, cos and tan are for f32 arguments and results. The argument is reduced exactly,
// in quarter turns: 2 / pi is cut into chunks of 28 bits, so that the product of each with the 24 bits of x is exact;
// of each product the nearest integer goes to the quadrant, modulo 4, and the rest, most significant first, to the
// fraction, which is brought back to [-1/2, 1/2] each time: what cancels does so before less significant bits come.
// The polynomials have errors of 2^-47 (sin) and 2^-53 (cos); those of asin and atan 2^-58.
#include <array>

#include "jit/function/families.hpp"

namespace tenfold::jit {
namespace {

/// 2 / pi is their sum.
constexpr std::array kTwoByPi{0xa2f9836p-28,  0xe4e4415p-56,  0x29fc275p-84, 0x7d1f534p-112,
                              0xddc0db6p-140, 0x295993cp-168, 0x439041fp-196};
/// Chunks after these are below half a quarter turn for every f32.
constexpr std::size_t kLargeChunks = 5;

constexpr std::array kSinPoly{1.5707963267948895,     -0.64596409750423622,   0.079692626153397755,
                              -0.0046817525649705191, 0.00016042914306563515, -3.5561896247170528e-06};
constexpr std::array kCosPoly{1.0,
                              -1.2337005501361489,
                              0.2536695078997534,
                              -0.020863480733046131,
                              0.00091925993537211664,
                              -2.5200083056605013e-05,
                              4.6545992615706541e-07};
constexpr std::array kAsinPoly{0.16666666666666702,  0.074999999999844247,  0.04464285716374379,  0.030381943138356373,
                               0.022372205133791817, 0.017351752625038415,  0.013979523139738379, 0.011406698302304917,
                               0.01075076069286131,  0.0037700243477189225, 0.021656878688920082, -0.021060058040755537,
                               0.032741483895647738};
constexpr std::array kAtanPoly{-0.3333333333333327,   0.19999999999969101,  -0.14285714281357409,  0.11111110825043924,
                               -0.090908985643140608, 0.076920688407786736, -0.066631480705022714, 0.058478814052365304,
                               -0.050380288231809171, 0.038005607144163484, -0.017818085223516165};
constexpr double kHalfPi = 0x1.921fb54442d18p+0;
constexpr double kHalfPiLow = 0x1.1a62633145c07p-54;

struct Angle {
  Lane quadrant;  ///< a small integer as f64; 0 to 3 modulo 4
  Lane fraction;  ///< in quarter turns
};

Lane nearest(Lane x) { return round(x, LaneRounding::nearest_even); }

Angle reduce(Lane x) {
  Angle angle;
  for (std::size_t i = 0; i < kTwoByPi.size(); ++i) {
    const Lane product = x * kTwoByPi[i];
    if (i >= kLargeChunks) {
      angle.fraction = angle.fraction + product;
      continue;
    }
    const Lane turns = nearest(product);
    const Lane quadrant = fnma(nearest(turns * 0.25), 4, turns);
    const Lane fraction = product - turns;
    if (i == 0) {
      angle = {quadrant, fraction};
      continue;
    }
    const Lane sum = angle.fraction + fraction;
    const Lane carry = nearest(sum);
    angle = {angle.quadrant + quadrant + carry, sum - carry};
  }
  return angle;
}

Lane sine_part(Lane f) { return f * polynomial(f * f, kSinPoly); }
Lane cosine_part(Lane f) { return polynomial(f * f, kCosPoly); }

/// The quadrant as an integer lane, and a mask of its lowest bit.
Lane quadrant_bits(const Angle& angle) {
  return convert(LaneOp::extend_signed, convert(LaneOp::to_i32, angle.quadrant));
}
Lane is_odd(Lane quadrant) { return negate(quadrant & quadrant.builder->constant(quadrant.type, 1)); }

/// `value`, negated where the bit of value 2 of `quadrant` is set.
Lane signed_by(Lane value, Lane quadrant) {
  const Lane bit = quadrant & quadrant.builder->constant(quadrant.type, 2);
  return as(value.type, as(bit.type, value) ^ shift_left(bit, 62));
}

Lane sine_from(Lane x, double turn) {
  const Angle angle = reduce(x);
  const Lane quadrant = quadrant_bits({angle.quadrant + turn, angle.fraction});
  const Lane value = select(is_odd(quadrant), cosine_part(angle.fraction), sine_part(angle.fraction));
  return signed_by(value, quadrant);
}

}  // namespace

Lane sin_lane(LaneArgs args) {
  const Lane x = args[0];
  const Lane usual = abs(x) < kInfinity;
  const Lane value = select(equal(x, 0.0), x, sine_from(x, 0));
  return select(usual, value, not_a_number(x));
}

Lane cos_lane(LaneArgs args) {
  const Lane x = args[0];
  return select(abs(x) < kInfinity, sine_from(x, 1), not_a_number(x));
}

Lane tan_lane(LaneArgs args) {
  const Lane x = args[0];
  const Angle angle = reduce(x);
  const Lane odd = is_odd(quadrant_bits(angle));
  const Lane sine = sine_part(angle.fraction);
  const Lane cosine = cosine_part(angle.fraction);
  const Lane value = select(odd, negate(cosine), sine) / select(odd, sine, cosine);
  return select(abs(x) < kInfinity, select(equal(x, 0.0), x, value), not_a_number(x));
}

namespace {

struct ArcSine {
  Lane outer;  ///< a mask: |x| > 1/2
  Lane value;  ///< asin |x|, or of outer x: acos(|x|) / 2
};

/// asin s = s + s z P(z) of z = s^2, s = |x| or sqrt((1 - |x|) / 2).
ArcSine arc_sine(Lane x) {
  const Lane a = abs(x);
  const Lane outer = a > 0.5;
  const Lane z = select(outer, (1.0 - a) * 0.5, a * a);
  const Lane s = select(outer, sqrt(z), a);
  return {outer, fma(s * z, polynomial(z, kAsinPoly), s)};
}

}  // namespace

Lane asin_lane(LaneArgs args) {
  const Lane x = args[0];
  const ArcSine arc = arc_sine(x);
  const Lane outer = kHalfPi - (arc.value * 2.0 - kHalfPiLow);
  return select(is_nan(x), x, copy_sign(select(arc.outer, outer, arc.value), x));
}

Lane acos_lane(LaneArgs args) {
  const Lane x = args[0];
  const ArcSine arc = arc_sine(x);
  const Lane inner = kHalfPi - (copy_sign(arc.value, x) - kHalfPiLow);
  const Lane twice = arc.value * 2.0;
  const Lane below = 2 * kHalfPi - (twice - 2 * kHalfPiLow);
  return select(arc.outer, select(x < 0.0, below, twice), inner);
}

/// atan a = base + atan t, t = a, (a - 1) / (a + 1) or -1 / a, so that |t| <= tan(pi / 8) = 0.414;
/// atan t = t + t z P(z) of z = t^2.
Lane atan_lane(LaneArgs args) {
  const Lane x = args[0];
  const Lane a = abs(x);
  const Lane one = x.builder->constant(x.type, 1);
  const Lane zero = x.builder->constant(x.type, 0);
  const Lane middle = a > 0x1.a82799fcef31ep-2;
  const Lane far = a > 0x1.3504f333f9de6p+1;
  const Lane top = select(far, -1.0, select(middle, a - 1.0, a));
  const Lane bottom = select(far, a, select(middle, a + 1.0, one));
  const Lane t = top / bottom;
  const Lane z = t * t;
  const Lane low = select(far, kHalfPiLow, select(middle, 0.5 * kHalfPiLow, zero));
  const Lane high = select(far, kHalfPi, select(middle, 0.5 * kHalfPi, zero));
  const Lane value = high + (fma(t * z, polynomial(z, kAtanPoly), low) + t);
  return select(is_nan(x), x, copy_sign(value, x));
}

}  // namespace tenfold::jit
