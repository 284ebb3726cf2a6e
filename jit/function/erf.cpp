// SPDX-License-Identifier: Apache-2.0
//
// The error function and GELU by it. In f32, erf |x| = 1 - e^-y with y = -log erfc |x| = a P(a), P of degree 10 on
// [0, 4], error 2^-31 of erf: one formula for small and great x. GELU takes the normal distribution's tail, Phi(-a) =
// e^(-a^2 / 2) R(a), R = top / bottom of degrees 4 and 5 for a up to 15, error 2^-27.7. In f64, R = P(t) / (1 + a) of
// t = (a - 6) / (a + 6), P of degree 22 for a up to 39, error 2^-58; and erf x = 1 - 2 Phi(-a) of a = sqrt 2 |x|, or
// below 3/4 x + x P(x^2), P of degree 10, error 2^-60.
#include <array>

#include "jit/function/families.hpp"

namespace tenfold::jit {
namespace {

constexpr std::array kErfPoly{1.12837923,      0.636619806,    0.102771595,     -0.0191199705,
                              -0.000245149946, 0.00178409554,  -0.000723334088, 0.000155627597,
                              -1.6596674e-05,  1.63551775e-07, 9.23740018e-08};
constexpr std::array kTailTop{0.5, 0.439283609, 0.183969289, 0.0408811793, 0.00415323814};
constexpr std::array kTailBottom{1.0, 1.67645228, 1.20554888, 0.471409082, 0.102480039, 0.0104105128};

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

/// R(a) of f32. Both sums add what the fourth power leads to that of lower ones: less rounding than in a chain, and
/// what that power is off by cancels in the quotient.
Lane tail_single(Lane a, Lane square) {
  const Lane fourth = square * square;
  const auto low = [&](const auto& c) { return fma(square, fma(a, c[3], c[2]), fma(a, c[1], c[0])); };
  const Lane top = fma(fourth, kTailTop[4], low(kTailTop));
  const Lane bottom = fma(fourth, fma(a, kTailBottom[5], kTailBottom[4]), low(kTailBottom));
  return top / bottom;
}

/// R(a) of f64, and what its roundings lost.
struct Tail {
  Lane value;
  Lane lost;
};

Tail tail_double(Lane a) {
  const Lane bottom = a + 1.0;
  const Lane top = polynomial((a - 6.0) / (a + 6.0), kTailPoly);
  const Lane one = a.builder->constant(a.type, 1);
  const Lane bottom_lost = select(a > 1.0, one - (bottom - a), a - (bottom - 1.0));
  const Lane inverse = 1.0 / bottom;
  const Lane value = top * inverse;
  return {value, fnma(value, bottom_lost, fnma(value, bottom, top)) * inverse};
}

/// e^(-factor a^2) R of f64, with what the square's rounding lost.
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
  const Lane m = expm1_negative(negate(a * polynomial_by_halves(a, a * a, kErfPoly)));
  return select(is_nan(x), x, copy_sign(abs(m), x));
}

namespace {

/// Phi(-a) as a product.
SplitExp lower_tail(Lane a) {
  if (a.type == LaneType::f64) return times_exp(tail_double(a), a, 0.5);
  const Lane square = a * a;
  const SplitExp e = split_exp_within(square * -0.5, fnma(a, a, square) * 0.5);
  return {tail_single(a, square) * e.part, e.scale};
}

}  // namespace

/// max(x, 0) - a Phi(-a) of a = |x|; NaN at -inf, as 0 times infinity.
Lane gelu_erf_lane(Lane x) {
  const bool single = x.type == LaneType::f32;
  const Lane a = clamp_above(abs(x), single ? 15 : 39);
  const SplitExp tail = lower_tail(a);
  const Lane left = select(as(integer_of(x.type), x), -0.0, x);
  const Lane value = single ? fnma(a * tail.part, tail.scale, left) : fnma(a * tail.scale, tail.part, left);
  return select(x >= (single ? -0x1.fffffep127 : -0x1.fffffffffffffp1023), value, not_a_number(x));
}

}  // namespace tenfold::jit
