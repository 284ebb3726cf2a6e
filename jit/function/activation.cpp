// SPDX-License-Identifier: Apache-2.0
//
// Activations made of the exponential. Where the result is a product with an e^x that may be subnormal, the exponential
// stays split until the end (SplitExp), and where an argument of e^x is large, its rounding error goes along.
#include <array>
#include <cmath>

#include "jit/function/families.hpp"
#include "jit/function/functions.hpp"

namespace tenfold::jit {
namespace {

/// f64: `value`, but the formulas' own NaN (0 times infinity) at -inf; and of NaN.
Lane above_minus_infinity(Lane x, Lane value) { return select(x >= -0x1.fffffffffffffp1023, value, not_a_number(x)); }

}  // namespace

Lane elu_lane(Lane x, Lane alpha) { return select(x < 0.0, alpha * expm1_negative(x), x); }

/// With |x / alpha| below 2^-25, which may have underflowed, the result is x.
Lane celu_lane(Lane x, Lane alpha) {
  if (x.type == LaneType::f32 && !(is_constant(alpha) && constant_value(alpha) > 0)) {
    const Lane args[] = {x, alpha};
    return through_f64([](LaneArgs wide) { return celu_lane(wide[0], wide[1]); }, args);
  }
  const Lane ratio = x / alpha;
  if (x.type == LaneType::f32) return select(x < 0.0, select(ratio > -0x1p-25, x, alpha * expm1_negative(ratio)), x);
  // A negative alpha makes a large e^(x / alpha), in which the quotient's rounding shows.
  const Lane rest = select((ratio > 1.0) & (ratio < 0x1p10), fnma(ratio, alpha, x) / alpha, 0.0);
  const Lane quarter = expm1_quarter(ratio);
  const Lane value = alpha * (fma(quarter + 0.25, rest, quarter) * 4.0);
  const Lane usual = select(abs(ratio) < 0x1p-54, x, select(is_nan(ratio), ratio, value));
  return select(x < 0.0, usual, x);
}

Lane selu_lane(Lane x, Lane alpha, Lane gamma) { return select(x < 0.0, gamma * alpha * expm1_negative(x), gamma * x); }

namespace {

/// log(1 + e) as factor * part of e = part * scale <= 1. In f32 the factor is 1 + e Q(e), Q of degree 9: error 2^-29.
Lane log1p_split(const SplitExp& split, Lane* scale) {
  static constexpr std::array kPoly{-0.49999994, 0.333328635,   -0.249903351, 0.199063808,   -0.161508277,
                                    0.124957435, -0.0832259208, 0.0419222564, -0.0135251526, 0.00203769049};
  const Lane e = split.part * split.scale;
  *scale = split.scale;
  if (e.type == LaneType::f32) return fma(split.part * e, polynomial(e, kPoly), split.part);
  const Lane tiny = e < 0x1p-60;
  *scale = select(tiny, split.scale, 1.0);
  return select(tiny, split.part, log1p_lane(e));
}

/// What the rounding of z = beta x lost, as it counts for -|z|.
Lane lost_below(Lane x, Lane beta, Lane z) {
  const LaneType integer = integer_of(z.type);
  const Lane sign = as(integer, z.builder->constant(z.type, -0.0));
  const Lane lost = as(integer, fnma(beta, x, z));
  const Lane rest = as(z.type, lost ^ (as(integer, z) & sign));
  return select(abs(z) < (z.type == LaneType::f32 ? 0x1p8 : 0x1p11), rest, 0.0);
}

/// Whether the factor is so great that f32's split exponential, which ends at e^-120, does not show where it ends: not
/// in products with the factor's reciprocal either.
bool is_ordinary(Lane factor) { return is_constant(factor) && std::abs(constant_value(factor)) >= 0x1p-8; }

}  // namespace

/// x (if z > 0) + log(1 + e^-|z|) / beta of z = beta x.
Lane softplus_lane(Lane x, Lane beta) {
  if (x.type == LaneType::f32 && !is_ordinary(beta)) {
    const Lane args[] = {x, beta};
    return through_f64([](LaneArgs wide) { return softplus_lane(wide[0], wide[1]); }, args);
  }
  const bool exact = is_constant(beta) && constant_value(beta) == 1;
  const Lane z = exact ? x : beta * x;
  const Lane below = below_zero(z);
  Lane scale;
  const Lane part = log1p_split(exact ? split_exp(below) : split_exp(below, lost_below(x, beta, z)), &scale);
  Lane value = fma(exact ? part : part / beta, scale, select(z > 0.0, x, 0.0));
  // A zero as well, which is the quotient's no more when +0 has been added.
  if (!(is_constant(beta) && constant_value(beta) > 0)) value = copy_sign(abs(value), beta);
  return z.type == LaneType::f32 ? value : select(is_nan(z), z, value);
}

/// x / (1 + e^-z) of z = alpha x, or x e^z / (1 + e^z) of negative z. Far down that is a zero, and NaN where x is
/// infinite; so are products with f32's exponential, which is 0 there.
Lane swish_lane(Lane x, Lane alpha) {
  if (x.type == LaneType::f32 && !is_ordinary(alpha)) {
    const Lane args[] = {x, alpha};
    return through_f64([](LaneArgs wide) { return swish_lane(wide[0], wide[1]); }, args);
  }
  const bool exact = is_constant(alpha) && constant_value(alpha) == 1;
  const Lane z = exact ? x : alpha * x;
  const Lane below = below_zero(z);
  const SplitExp split = exact ? split_exp(below) : split_exp(below, lost_below(x, alpha, z));
  const Lane e = split.part * split.scale;
  const Lane one = x.builder->constant(x.type, 1);
  const Lane negative = as(integer_of(z.type), z);
  const Lane value = x * (select(negative, split.part, one) / (e + 1.0)) * select(negative, split.scale, one);
  if (x.type == LaneType::f32) return value;
  return select(is_nan(z), z, select(z < -2000.0, x * 0.0, value));
}

/// tanh(log(1 + e)) of e = e^x is e (1 - e (e + 1) / (e^2 + 2e + 2)) for negative x, and with e = e^-x
/// 1 - 2e^2 / (2e^2 + 2e + 1) for positive x: what is subtracted is at most 2/5, and so weigh its roundings.
Lane mish_lane(Lane x) {
  const bool single = x.type == LaneType::f32;
  const Lane negative = as(integer_of(x.type), x);
  // Farther down the result is -0, which products with f64's least exponential are not.
  const Lane clamped = single ? x : clamp_below(x, -1400);
  const SplitExp split = split_exp(below_zero(clamped));
  const Lane e = split.part * split.scale;
  const Lane twice = e + e;
  const Lane square = twice * e;
  const Lane top = select(negative, fma(e, e, e), square);
  const Lane bottom = select(negative, fma(e, e + 2.0, 2.0), square + (twice + 1.0));
  const Lane one = x.builder->constant(x.type, 1);
  const Lane product = select(negative, clamped * split.part, x);
  const Lane value = product * (1.0 - top / bottom) * select(negative, split.scale, one);
  return single ? value : above_minus_infinity(x, value);
}

namespace {

/// c1 = 2 sqrt(2 / pi) and c2 = 0.044715 c1, each as two numbers. c1 has so few bits that g - c1 is exact.
struct GeluConstants {
  double c1, c1_low, c2, c2_low;
  double greatest;  ///< f64: GELU of numbers below its negative is -0
};
constexpr GeluConstants kGelu32{0x1.9884p+0, 0x1.4cf50d942343fp-18, 0x1.2444f2p-4, 0x1.49b1695e937bcp-29, 0};
constexpr GeluConstants kGelu64{0x1.9884533d436p+0, 0x1.42343f2cf1403p-46, 0x1.2444f2a4d8b4bp-4, -0x1.6c843a29d1c7p-61,
                                24};

/// e^-2u of u = sqrt(2/pi) (a + 0.044715 a^3), that is of 2u = a g, g = c1 + c2 a^2. The arguments are so large that g
/// and the product carry their rounding errors along.
SplitExp gelu_exp(Lane a, const GeluConstants& c) {
  const Lane square = a * a;
  const Lane g = fma(square, c.c2, c.c1);
  const Lane rest = fma(square, c.c2_low, c.c1_low) - fnma(square, c.c2, g - c.c1);
  const Lane g_low = fnma(fnma(a, a, square), c.c2, rest);
  const Lane w = a * g;
  return split_exp(negate(w), fnma(a, g_low, fnma(a, g, w)));
}

}  // namespace

/// x / (1 + e^-2u), or x e^2u / (1 + e^2u) of negative x. f32's exponential is 0 far down, and NaN where x is.
Lane gelu_tanh_lane(Lane x) {
  const bool single = x.type == LaneType::f32;
  const GeluConstants& c = single ? kGelu32 : kGelu64;
  const SplitExp split = gelu_exp(single ? abs(x) : clamp_above(abs(x), c.greatest), c);
  const Lane e = split.part * split.scale;
  const Lane one = x.builder->constant(x.type, 1);
  const Lane negative = as(integer_of(x.type), x);
  const Lane value = (single ? x : clamp_below(x, -c.greatest)) * (select(negative, split.part, one) / (e + 1.0)) *
                     select(negative, split.scale, one);
  return single ? value : above_minus_infinity(x, value);
}

Lane hardswish_lane(Lane x) {
  const Lane t = x + 3.0;
  const Lane above = select(t <= 0.0, 0.0, t);
  return x * (select(above > 6.0, 6.0, above) / 6.0);
}

Lane hardsigmoid_lane(Lane x, Lane alpha, Lane beta) {
  const Lane line = fma(alpha, x, beta);
  const Lane above = select(line <= 0.0, 0.0, line);
  return select(above > 1.0, 1.0, above);
}

}  // namespace tenfold::jit
