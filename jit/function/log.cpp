// SPDX-License-Identifier: Apache-2.0
//
// The logarithm and what is made of it. x = 2^e m with m in [sqrt 1/2, sqrt 2), f = m - 1. In f32,
// log m = f - f^2/2 + f^3 P(f), P of degree 7, error 2^-27 of the logarithm. In f64, with s = f / (2 + f) and z = s^2,
// log m = f - (f^2/2 - s (f^2/2 + z Q(z))), Q of degree 6, error 2^-58. Subnormal x are scaled first. For powers, f64
// logarithms are sums of two numbers: log m = 2s + s z (2/3 + z Q(z)), Q of degree 7, error 2^-65.
#include <array>

#include "jit/function/families.hpp"
#include "jit/function/functions.hpp"

namespace tenfold::jit {
namespace {

constexpr std::array kF32Poly{0.333333313, -0.250008196, 0.200012267, -0.166233584,
                              0.142017648, -0.13160187,  0.127615511, -0.0763445869};
constexpr std::array kF64Poly{0.66666666666667096, 0.39999999999520114, 0.28571428729204229, 0.22222199100378628,
                              0.18183570998444087, 0.15313179277405933, 0.14810362639688854};

struct Parts {
  Lane exponent;  ///< as a real
  Lane fraction;  ///< m - 1
};

/// `shift` is what the exponent of x was raised by. x is a positive normal number.
Parts take_apart(Lane x, const Lane* shift) {
  const bool single = x.type == LaneType::f32;
  const LaneType integer = integer_of(x.type);
  const int fraction_bits = single ? 23 : 52;
  const Lane root_half = as(integer, x.builder->constant(x.type, single ? 0x1.6a09e6p-1 : 0x1.6a09e667f3bcdp-1));
  const Lane bits = as(integer, x);
  Lane exponent = shift_right_arithmetic(bits - root_half, fraction_bits);
  const Lane m = as(x.type, bits - shift_left(exponent, fraction_bits));
  if (shift != nullptr) exponent = exponent - *shift;
  return {single ? convert(LaneOp::to_f32, exponent) : convert(LaneOp::to_f64, convert(LaneOp::low_half, exponent)),
          m - 1.0};
}

Lane log_single(const Parts& parts) {
  const Lane f = parts.fraction;
  const Lane square = f * f;
  const Lane rest = fma(square * f, polynomial(f, kF32Poly), square * -0.5);
  return fma(parts.exponent, 0x1.62e430p-1, f + fma(parts.exponent, -0x1.05c610p-29, rest));
}

Lane log_double(const Parts& parts) {
  const Lane f = parts.fraction;
  const Lane s = f / (f + 2.0);
  const Lane z = s * s;
  const Lane half_square = f * f * 0.5;
  const Lane rest = s * fma(z, polynomial(z, kF64Poly), half_square);
  const Lane low = fma(parts.exponent, 0x1.abc9e3b39803fp-56, rest);
  return fma(parts.exponent, 0x1.62e42fefa39efp-1, f - (half_square - low));
}

/// Of positive normal numbers.
Lane log_normal(Lane x) {
  const Parts parts = take_apart(x, nullptr);
  return x.type == LaneType::f32 ? log_single(parts) : log_double(parts);
}

}  // namespace

Lane log_lane(Lane x) {
  const bool single = x.type == LaneType::f32;
  const LaneType integer = integer_of(x.type);
  const int raise = single ? 24 : 53;
  const Lane small = x < (single ? 0x1p-126 : 0x1p-1022);
  const Lane shift = small & x.builder->constant(integer, raise);
  const Parts parts = take_apart(select(small, x * (single ? 0x1p24 : 0x1p53), x), &shift);
  const Lane value = single ? log_single(parts) : log_double(parts);
  const Lane outside = select(equal(x, 0.0), -kInfinity, not_a_number(x));
  return select(x > 0.0, select(x < kInfinity, value, x), outside);
}

namespace {

constexpr std::array kSplitPoly{0.3999999999999998,  0.2857142857144507, 0.22222222217544924, 0.18181818869457847,
                                0.15384556919278822, 0.1333631587927086, 0.11674844542767632, 0.11988831640189813};

/// Sums of two numbers, the second one below the last bit of the first, or near it.
SplitLog product(const SplitLog& a, const SplitLog& b) {
  const Lane high = a.high * b.high;
  return {high, fma(a.high, b.low, a.low * b.high) - fnma(a.high, b.high, high)};
}

/// log m of f = m - 1.
SplitLog split_log_of(Lane f) {
  const Lane bottom = f + 2.0;
  const Lane inverse = 1.0 / bottom;
  const Lane quotient = f * inverse;
  const Lane lost = fnma(quotient, f - (bottom - 2.0), fnma(quotient, bottom, f)) * inverse;
  const SplitLog s{quotient, lost};
  const SplitLog z = product(s, s);
  const Lane rest = z.high * polynomial(z.high, kSplitPoly);
  const Lane sum = rest + 0x1.5555555555555p-1;
  const SplitLog slope{sum, (rest - (sum - 0x1.5555555555555p-1)) + 0x1.5555555555555p-55};
  const SplitLog cubic = product(product(s, z), slope);
  const Lane twice = s.high + s.high;
  const Lane high = twice + cubic.high;
  return {high, (cubic.high - (high - twice)) + (s.low + s.low + cubic.low)};
}

}  // namespace

SplitLog split_log(Lane x) {
  const Lane small = x < 0x1p-1022;
  const Lane shift = small & x.builder->constant(LaneType::i64, 53);
  const Parts parts = take_apart(select(small, x * 0x1p53, x), &shift);
  const SplitLog log = split_log_of(parts.fraction);
  // The product with the upper 42 bits of log 2 is exact.
  const Lane whole = parts.exponent * 0x1.62e42fefa38p-1;
  const Lane high = whole + log.high;
  const Lane low = fma(parts.exponent, 0x1.ef35793c7673p-45, log.low);
  const Lane outside = select(equal(x, 0.0), -kInfinity, x);
  return {select((x > 0.0) & (x < kInfinity), high, outside), (log.high - (high - whole)) + low};
}

/// log u + c / u, u being 1 + x as rounded and c what that lost.
Lane log1p_lane(Lane x) {
  const Lane u = x + 1.0;
  const Lane part = u - 1.0;
  const Lane lost = (1.0 - (u - part)) + (x - part);
  return select(u < kInfinity, log_normal(u) + lost / u, u);
}

namespace {

constexpr double kBig = 0x1p60;  // the ones and twos in the formulas are below the last bit here

/// log(1 + x), plus log 2 where `big`.
Lane log1p_doubled(Lane x, Lane big) {
  return log1p_lane(x) + select(big, 0x1.62e42fefa39efp-1, x.builder->constant(x.type, 0));
}

}  // namespace

/// log1p(a + a^2 / (1 + sqrt(1 + a^2))) of a = |x|, log 2a of big a.
Lane asinh_lane(LaneArgs args) {
  const Lane x = args[0];
  const Lane a = abs(x);
  const Lane big = a > kBig;
  const Lane square = a * a;
  const Lane near = a + square / (sqrt(square + 1.0) + 1.0);
  return select(is_nan(x), x, copy_sign(log1p_doubled(select(big, a, near), big), x));
}

/// log1p(t + sqrt(2t + t^2)) of t = x - 1, log 2x of big x.
Lane acosh_lane(LaneArgs args) {
  const Lane x = args[0];
  const Lane t = x - 1.0;
  const Lane big = t > kBig;
  const Lane near = t + sqrt(fma(t, t, t + t));
  const Lane value = log1p_doubled(select(big, t, near), big);
  return select(x >= 1.0, value, not_a_number(x));
}

/// log1p(2a / (1 - a)) / 2 of a = |x|.
Lane atanh_lane(LaneArgs args) {
  const Lane x = args[0];
  const Lane a = abs(x);
  const Lane value = copy_sign(log1p_lane((a + a) / (1.0 - a)) * 0.5, x);
  return select(a <= 1.0, value, not_a_number(x));
}

}  // namespace tenfold::jit
