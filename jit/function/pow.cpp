// SPDX-License-Identifier: Apache-2.0
//
// x^y. Constant exponents of every day take a product, a quotient or a root; the rest is e^(y log |x|) in f64, whose
// error of about 2^-45 leaves the f32 result rounded nearly once. For f64, y log |x| is a sum of two numbers, within
// 2^-55. Special values are as in IEEE 754-2019, 9.2.1.
#include "jit/function/families.hpp"
#include "jit/function/functions.hpp"

namespace tenfold::jit {
namespace {

/// -inf and -0 have no root's sign: their powers are +inf and +0.
Lane root_of_magnitude(Lane x) {
  const Lane infinite = equal(x, -kInfinity);
  return select(infinite, kInfinity, sqrt(x) + 0.0);
}

/// e^(y log a); where y log a is infinite or NaN, so may be what is below it.
Lane precise_power(Lane a, Lane y) {
  const SplitLog log = split_log(a);
  const Lane high = y * log.high;
  const Lane low = fma(y, log.low, negate(fnma(y, log.high, high)));
  const SplitExp e = split_exp(clamp_above(high, 710), select(abs(high) < 0x1p11, low, 0.0));
  return e.part * e.scale;
}

/// `single`: the arguments are of f32.
Lane general_pow(Lane x, Lane y, bool single) {
  const Lane magnitude = abs(x);
  const Lane one = x.builder->constant(x.type, 1);
  const Lane power = single ? exp_lane(y * log_lane(magnitude)) : precise_power(magnitude, y);
  Lane value = select(equal(magnitude, 1.0), one, power);
  const Lane half = y * 0.5;
  const Lane whole = equal(round(y, LaneRounding::truncate), y);
  const Lane odd = and_not(equal(round(half, LaneRounding::truncate), half), whole);
  const Lane sign = odd & as(odd.type, x) & as(odd.type, x.builder->constant(x.type, -0.0));
  value = as(x.type, as(odd.type, value) | sign);
  const Lane negative = (x < 0.0) & (x > -kInfinity);
  value = select(and_not(whole, negative), not_a_number(x), value);
  value = select(unordered(x, y), not_a_number(x), value);
  return select(equal(x, 1.0) | equal(y, 0.0), one, value);
}

}  // namespace

Lane pow_lane(LaneArgs args) {
  const Lane x = args[0];
  if (is_constant(args[1])) {
    const double exponent = constant_value(args[1]);
    if (exponent == 1) return x;
    if (exponent == 2) return x * x;
    if (exponent == 3) return x * x * x;
    if (exponent == -1) return 1.0 / x;
    if (exponent == 0.5) return root_of_magnitude(x);
    if (exponent == -0.5) return 1.0 / root_of_magnitude(x);
  }
  if (x.type == LaneType::f64) return general_pow(x, args[1], false);
  return through_f64([](LaneArgs wide) { return general_pow(wide[0], wide[1], true); }, args);
}

}  // namespace tenfold::jit
