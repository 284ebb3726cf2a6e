// SPDX-License-Identifier: Apache-2.0
//
// Many elements divided by one value: a quotient costs a vector unit several times what a product does, so the value's
// reciprocal is made once, to twice the precision, and elements are multiplied by it. f32 lanes.
#pragma once

#include "jit/lane/lane.hpp"

namespace tenfold::jit {

/// x / d = (x scale) (high + low), within 0.5 + 2^-20 units in the last place (of subnormal quotients within 1.5), and
/// what IEEE 754 says of zeros, infinities and NaN. `scale` is a power of two that keeps every step in range.
struct Divisor {
  Lane scale;
  Lane high;
  Lane low;
};

/// `moderate`: d is 0, infinite, NaN, or of a magnitude from 2^-75 to 2^75; `scale` may be left out then.
Divisor make_divisor(Lane d, bool moderate);

/// Of x, times the scale where there is one. x high alone is within 2.5 units.
Lane divide_by(Lane x, Lane high, Lane low);

}  // namespace tenfold::jit
