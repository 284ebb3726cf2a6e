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
/// Terms of even and of odd powers: less rounding than in one chain, and that of a^2 cancels in the quotient.
constexpr std::array kTopEven{0.5, 0.183969289, 0.00415323814};
constexpr std::array kTopOdd{0.439283609, 0.0408811793};
constexpr std::array kBottomEven{1.0, 1.20554888, 0.102480039};
constexpr std::array kBottomOdd{1.67645228, 0.471409082, 0.0104105128};

}  // namespace

Lane erf_lane(Lane x) {
  const Lane a = clamp_above(abs(x), 4);
  const Lane m = expm1_negative(negate(a * polynomial(a, kErfPoly)));
  return select(is_nan(x), x, copy_sign(abs(m), x));
}

/// max(x, 0) - a Phi(-a) of a = |x|; NaN at -inf, as 0 times infinity.
Lane gelu_erf_lane(Lane x) {
  const Lane a = clamp_above(abs(x), 15);
  const Lane square = a * a;
  const Lane top = fma(a, polynomial(square, kTopOdd), polynomial(square, kTopEven));
  const Lane bottom = fma(a, polynomial(square, kBottomOdd), polynomial(square, kBottomEven));
  const Lane tail = a * (top / bottom);
  const SplitExp product = split_product(tail, square * -0.5, fnma(a, a, square) * 0.5);
  const Lane value = fnma(product.part, product.scale, select(x < 0.0, -0.0, x));
  return select(x >= -0x1.fffffep127, value, not_a_number(x));
}

}  // namespace tenfold::jit
