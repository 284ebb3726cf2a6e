// SPDX-License-Identifier: Apache-2.0
//
// x^y. Constant exponents of every day take a product, a quotient or a root; the rest is e^(y log |x|) in f64, whose
// error of about 2^-45 leaves the f32 result rounded nearly once. Special values are as in IEEE 754-2019, 9.2.1.
#include "jit/function_families.hpp"
#include "jit/functions.hpp"

namespace tenfold::jit {
namespace {

/// -inf and -0 have no root's sign: their powers are +inf and +0.
Lane root_of_magnitude(Lane x) {
  const Lane infinite = equal(x, -kInfinity);
  return select(infinite, kInfinity, sqrt(x) + 0.0);
}

Lane general_pow(LaneArgs args) {
  const Lane x = args[0];
  const Lane y = args[1];
  const Lane magnitude = abs(x);
  const Lane one = x.builder->constant(x.type, 1);
  Lane value = select(equal(magnitude, 1.0), one, exp_lane(y * log_lane(magnitude)));
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
  return through_f64(general_pow, args);
}

}  // namespace tenfold::jit
