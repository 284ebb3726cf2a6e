// SPDX-License-Identifier: Apache-2.0
//
// The remainder of reals with the dividend's sign (C's fmod), which is always exact. Long division, 50 bits of the
// quotient a step: the nearest whole number q of divisors is found from a product with 1 / divisor, off by a quarter at
// most, and r - q times the divisor, which is below 0.8 of it, has no more bits than the divisor, so that fnma rounds
// nothing. As many steps are there as the widest quotient needs: 6 of f32 arguments (277 bits), 42 of f64 (2098 bits).
#include "jit/function/families.hpp"

namespace tenfold::jit {
namespace {

constexpr int kBits = 50;
constexpr double kStep = 0x1p50;
constexpr int kStepsOfSingle = 6;
constexpr int kStepsOfDouble = 41;  ///< after a first one of what is no multiple of 50

Lane nearest(Lane x) { return round(x, LaneRounding::nearest_even); }

/// `r`, which is |x| modulo |y| of finite x and y, with the sign of x; the other cases.
Lane finished(Lane x, Lane y, Lane r) {
  const Lane a = abs(x), b = abs(y);
  const Lane value = copy_sign(select(a < b, a, r), x);
  const Lane legal = (a < kInfinity) & (b > 0.0);
  return select(legal, value, not_a_number(x));
}

/// Of f32 arguments in f64 lanes, where the divisor can be scaled by any step.
Lane single_remainder(LaneArgs args) {
  const Lane b = abs(args[1]);
  const Lane inverse = 1.0 / b;
  Lane r = abs(args[0]);
  for (int step = kStepsOfSingle - 1; step >= 0; --step) {
    const double scale = static_cast<double>(1ULL << kBits);
    double power = 1;
    for (int i = 0; i < step; ++i) power *= scale;
    r = fnma(nearest(r * (inverse * (1 / power))), b * power, r);
  }
  return finished(args[0], args[1], select(r < 0.0, r + b, r));
}

/// 2^exponent mantissa; the mantissa is a whole number of 53 bits.
struct Parts {
  Lane mantissa;
  Lane exponent;  ///< i64
};

/// Of a positive finite number.
Parts take_apart(Lane x) {
  const Lane small = x < 0x1p-1022;
  const Lane bits = as(LaneType::i64, select(small, x * 0x1p54, x));
  const Lane raised = small & x.builder->constant(LaneType::i64, 54);
  const Lane fraction = bits & x.builder->bits(LaneType::i64, (1ULL << 52) - 1);
  const Lane whole = fraction | as(LaneType::i64, x.builder->constant(LaneType::f64, 0x1p52));
  return {as(LaneType::f64, whole), shift_right(bits, 52) - raised - x.builder->constant(LaneType::i64, 1075)};
}

/// 2^exponent of a normal one.
Lane power_of_two(Lane exponent) {
  return as(LaneType::f64, shift_left(exponent + exponent.builder->constant(LaneType::i64, 1023), 52));
}

/// Mantissas of both, the dividend's times 2^50 at each step that the exponents' difference still holds.
Lane double_remainder(LaneArgs args) {
  const Parts a = take_apart(abs(args[0])), b = take_apart(abs(args[1]));
  const Lane magic = a.mantissa.builder->constant(LaneType::f64, 0x1.8p52);
  const Lane difference = as(LaneType::f64, a.exponent - b.exponent + as(LaneType::i64, magic)) - magic;
  const Lane steps = round((difference + 0.5) * (1.0 / kBits), LaneRounding::floor);
  const Lane rest = fnma(steps, kBits, difference);
  const Lane first_scale = power_of_two(as(LaneType::i64, rest + magic));
  const Lane inverse = 1.0 / b.mantissa;
  Lane r = a.mantissa;
  for (int step = kStepsOfDouble; step >= 0; --step) {
    r = r * (step == kStepsOfDouble ? first_scale
                                    : select(steps > step, kStep, a.mantissa.builder->constant(LaneType::f64, 1)));
    r = fnma(nearest(r * inverse), b.mantissa, r);
  }
  r = select(r < 0.0, r + b.mantissa, r);
  // In two steps, as the power alone may be below the least number.
  const Lane half = shift_right_arithmetic(b.exponent, 1);
  r = r * power_of_two(half) * power_of_two(b.exponent - half);
  return finished(args[0], args[1], r);
}

}  // namespace

Lane remainder_lane(LaneArgs args) {
  return args[0].type == LaneType::f64 ? double_remainder(args) : through_f64(single_remainder, args);
}

}  // namespace tenfold::jit
