// SPDX-License-Identifier: Apache-2.0
//
// The error function and GELU by it, in f32. erf |x| = 1 - e^-y with y = -log erfc |x| = a P(a), P of degree 10 on
// [0, 4], error 2^-31 of erf: one formula for small and great x. GELU's tail is Phi(-a) = e^(-a^2 / 2) R(1 / (1 +
// a/4)), R of degree 10 for a up to 15, error 2^-27.7.
#include <array>

#include "jit/function_families.hpp"

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

}  // namespace

Lane erf_lane(Lane x) {
  const Lane a = clamp_above(abs(x), 4);
  const Lane m = expm1_negative(negate(a * polynomial(a, kErfPoly)));
  return select(is_nan(x), x, copy_sign(abs(m), x));
}

/// max(x, 0) - a Phi(-a) of a = |x|; NaN at -inf, as 0 times infinity. The quotient carries along what its roundings
/// and those of top and bottom lost: with them the result would be off by more than 4 units.
Lane gelu_erf_lane(Lane x) {
  const Lane a = clamp_above(abs(x), 15);
  const Lane square = a * a;
  const Lane top_slope = fma(a, polynomial(square, kTopEven), polynomial(square, kTopOdd));
  const Lane bottom_slope = fma(a, polynomial(square, kBottomEven), polynomial(square, kBottomOdd));
  const Lane top = fma(a, top_slope, 0.5);
  const Lane bottom = fma(a, bottom_slope, 1.0);
  const Lane inverse = 1.0 / bottom;
  const Lane tail = top * inverse;
  const Lane top_lost = fma(a, top_slope, 0.5 - top);
  const Lane bottom_lost = fma(a, bottom_slope, 1.0 - bottom);
  const Lane lost = fnma(tail, bottom_lost, fnma(tail, bottom, top) + top_lost) * inverse;
  const SplitExp product = split_product(tail, lost, square * -0.5, fnma(a, a, square) * 0.5);
  const Lane value = fnma(a * product.scale, product.part, select(x < 0.0, -0.0, x));
  return select(x >= -0x1.fffffep127, value, not_a_number(x));
}

}  // namespace tenfold::jit
