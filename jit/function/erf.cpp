// SPDX-License-Identifier: Apache-2.0
//
// The error function and GELU by it. In f32, erf |x| = 1 - e^-y with y = -log erfc |x| = a P(a), P of degree 10 on
// [0, 4], error 2^-31 of erf: one formula for small and great x. GELU takes the normal distribution's tail, Phi(-a) =
// e^(-a^2 / 2) R(a), R = top / bottom of degrees 5 and 6 for a up to 15, error 2^-27.7. In f64, R = P(t) / (1 + a) of
// t = (a - 6) / (a + 6), P of degree 22 for a up to 39, error 2^-58; and erf x = 1 - 2 Phi(-a) of a = sqrt 2 |x|, or
// below 3/4 x + x P(x^2), P of degree 10, error 2^-60.
#include <array>

#include "jit/function/families.hpp"

namespace tenfold::jit {
namespace {

constexpr std::array kErfPoly{1.12837923,      0.636619806,    0.102771595,     -0.0191199705,
                              -0.000245149946, 0.00178409554,  -0.000723334088, 0.000155627597,
                              -1.6596674e-05,  1.63551775e-07, 9.23740018e-08};
/// Top and bottom are c + a (odd(a^2) + a even(a^2)), c = 1/2 and 1: less rounding than in one chain, and that of a^2
/// cancels in the quotient.
constexpr std::array kTopOdd{0.439283609, 0.0408811793};
constexpr std::array kTopEven{0.183969289, 0.00415323814};
constexpr std::array kBottomOdd{1.67645228, 0.471409082, 0.0104105128};
constexpr std::array kBottomEven{1.20554888, 0.102480039};

constexpr std::array kTailPoly{
    0.45345520027112796,     -0.08502536230577071,    0.03981142456243022,    -0.004373386779594596,
    -0.016141517332219458,   0.022592467062820393,    -0.019766479219485544,  0.013246864153614686,
    -0.007059819426513547,   0.0029356555193615448,   -0.000868994630346253,  0.00011948966047413482,
    3.779476292845462e-05,   -2.6353456222251844e-05, 4.4127375033786046e-06, 1.7840545981934694e-06,
    -1.0000523141828073e-06, -9.050032510463661e-10,  1.3267428186125953e-07, -1.9551093054002576e-08,
    -1.565080706670893e-08,  2.7481023826938534e-09,  1.504701671678496e-09};
/// The first is less the 1 that comes exactly.
constexpr std::array kSmallErfPoly{0.1283791670955126,      -0.37612638903183715,    0.11283791670952482,
                                   -0.026866170644402648,   0.005223977615123579,    -0.0008548326169143518,
                                   0.00012055288778251129,  -1.4924176640294312e-05, 1.6430387969143502e-06,
                                   -1.5937595809950789e-07, 1.1463736114801689e-08};

/// R(a), and what its roundings lost: without that GELU would be off by more than 4 units.
struct Tail {
  Lane value;
  Lane lost;
};

Tail quotient(Lane top, Lane top_lost, Lane bottom, Lane bottom_lost) {
  const Lane inverse = 1.0 / bottom;
  const Lane value = top * inverse;
  return {value, fnma(value, bottom_lost, fnma(value, bottom, top) + top_lost) * inverse};
}

Tail tail_single(Lane a, Lane square) {
  const Lane top_slope = fma(a, polynomial(square, kTopEven), polynomial(square, kTopOdd));
  const Lane bottom_slope = fma(a, polynomial(square, kBottomEven), polynomial(square, kBottomOdd));
  const Lane top = fma(a, top_slope, 0.5);
  const Lane bottom = fma(a, bottom_slope, 1.0);
  return quotient(top, fma(a, top_slope, 0.5 - top), bottom, fma(a, bottom_slope, 1.0 - bottom));
}

Tail tail_double(Lane a) {
  const Lane bottom = a + 1.0;
  const Lane top = polynomial((a - 6.0) / (a + 6.0), kTailPoly);
  const Lane great = a > 1.0;
  const Lane one = a.builder->constant(a.type, 1);
  return quotient(top, a.builder->constant(a.type, 0), bottom, select(great, one - (bottom - a), a - (bottom - 1.0)));
}

/// e^(-a^2) R, with what the square's rounding lost.
SplitExp times_exp(const Tail& tail, Lane a, double factor) {
  const Lane square = a * a;
  return split_product(tail.value, tail.lost, square * -factor, fnma(a, a, square) * factor);
}

Lane erf_double(Lane x) {
  const Lane a = clamp_above(abs(x), 6);
  const Tail tail = tail_double(a * 0x1.6a09e667f3bcdp+0);
  const SplitExp product = times_exp({tail.value * 2.0, tail.lost * 2.0}, a, 1);
  const Lane great = 1.0 - product.part * product.scale;
  const Lane small = fma(a, polynomial(a * a, kSmallErfPoly), a);
  return select(is_nan(x), x, copy_sign(select(a < 0.75, small, great), x));
}

}  // namespace

Lane erf_lane(Lane x) {
  if (x.type == LaneType::f64) return erf_double(x);
  const Lane a = clamp_above(abs(x), 4);
  const Lane m = expm1_negative(negate(a * polynomial(a, kErfPoly)));
  return select(is_nan(x), x, copy_sign(abs(m), x));
}

/// max(x, 0) - a Phi(-a) of a = |x|; NaN at -inf, as 0 times infinity.
Lane gelu_erf_lane(Lane x) {
  const bool single = x.type == LaneType::f32;
  const Lane a = clamp_above(abs(x), single ? 15 : 39);
  const SplitExp product = times_exp(single ? tail_single(a, a * a) : tail_double(a), a, 0.5);
  const Lane value = fnma(a * product.scale, product.part, select(x < 0.0, -0.0, x));
  return select(x >= (single ? -0x1.fffffep127 : -0x1.fffffffffffffp1023), value, not_a_number(x));
}

}  // namespace tenfold::jit
