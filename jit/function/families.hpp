// SPDX-License-Identifier: Apache-2.0
//
// The builders behind the function table, by family. Real ones take f32 or f64 lanes (all of one type) and give the
// same; comments name those that have one type alone. What they may assume of their arguments is what the table's
// functions promise: nothing, of reals; normalized values, of integers.
#pragma once

#include <span>

#include "jit/lane/lane.hpp"
#include "tenfold/dtype.hpp"

namespace tenfold::jit {

using LaneArgs = std::span<const Lane>;

constexpr double kInfinity = __builtin_inf();

/// Whether a lane is a constant of the program, and its bits.
bool is_constant(Lane x);
std::uint64_t constant_bits(Lane x);
/// The value of a constant real lane.
double constant_value(Lane x);

/// The mask as an i32 lane, unless it is narrower; and as 0 or 1.
Lane narrow_mask(Lane mask);
Lane truth(Lane mask);
Lane not_a_number(Lane like);
/// The f64 function of f32 lanes: widened, computed, rounded.
Lane through_f64(Lane (*function)(LaneArgs), LaneArgs args);

// exp.cpp

/// e^x as part * scale, neither subnormal, so that a result that may be subnormal rounds once: in the last product.
struct SplitExp {
  Lane part;
  Lane scale;
};
/// Of high + low, |low| being small against 1; `high` must not be above 0 by much. f32: 0 below kSplitLowest, which
/// products with 2^20 at most do not show; NaN stays. f64: `high` is clamped from below, so that callers see to it that
/// products with more than 2^944 vanish there; NaN is lost.
constexpr double kSplitLowest = -120;
constexpr int kSplitBits = 64;  ///< of f32: the scale is 2^-64
constexpr double kSplitScale = 0x1p-64;
SplitExp split_exp(Lane high);
SplitExp split_exp(Lane high, Lane low);
/// The same of f32 where `high` is never below kSplitLowest.
SplitExp split_exp_within(Lane high, Lane low);
/// f64: (factor + factor_low) e^(high + low), rounded nearly once. The factor must be normal.
SplitExp split_product(Lane factor, Lane factor_low, Lane high, Lane low);
/// e^x - 1 of x <= 0; NaN is lost.
Lane expm1_negative(Lane x);
/// (e^x - 1) / 4, which does not overflow before sinh does; NaN is lost, and bits of subnormal results are.
Lane expm1_quarter(Lane x);
/// `bound` where x is below; NaN stays.
Lane not_below(double bound, Lane x);
/// -|x|.
Lane below_zero(Lane x);
/// Lanes above `bound` (positive) or below it (negative) become it; NaN may.
Lane clamp_above(Lane x, double bound);
Lane clamp_below(Lane x, double bound);
Lane sigmoid_lane(Lane x);
Lane tanh_lane(Lane x);
Lane sinh_lane(LaneArgs x);  ///< f64
Lane cosh_lane(LaneArgs x);  ///< f64

// log.cpp

/// log x of x >= 0 as a sum, f64; low is anything where high is infinite or NaN.
struct SplitLog {
  Lane high;
  Lane low;
};
SplitLog split_log(Lane x);
/// log(1 + x) of x >= 0, f64; NaN stays.
Lane log1p_lane(Lane x);
Lane asinh_lane(LaneArgs x);  ///< f64
Lane acosh_lane(LaneArgs x);  ///< f64
Lane atanh_lane(LaneArgs x);  ///< f64

// pow.cpp
Lane pow_lane(LaneArgs x);

// activation.cpp
Lane elu_lane(Lane x, Lane alpha);
Lane celu_lane(Lane x, Lane alpha);
Lane selu_lane(Lane x, Lane alpha, Lane gamma);
Lane softplus_lane(Lane x, Lane beta);
Lane swish_lane(Lane x, Lane alpha);
Lane mish_lane(Lane x);
Lane gelu_tanh_lane(Lane x);
Lane hardswish_lane(Lane x);
Lane hardsigmoid_lane(Lane x, Lane alpha, Lane beta);

// erf.cpp
Lane erf_lane(Lane x);
Lane gelu_erf_lane(Lane x);

// trig.cpp; sin, cos and tan are exact enough for f32 results of f32 arguments alone
Lane sin_lane(LaneArgs x);
Lane cos_lane(LaneArgs x);
Lane tan_lane(LaneArgs x);
Lane asin_lane(LaneArgs x);  ///< f64
Lane acos_lane(LaneArgs x);  ///< f64
Lane atan_lane(LaneArgs x);  ///< f64

// angle.cpp: the same three of f64
Lane sin_wide_lane(Lane x);
Lane cos_wide_lane(Lane x);
Lane tan_wide_lane(Lane x);

// remainder.cpp
Lane remainder_lane(LaneArgs x);

// order.cpp: IEEE 754-2019 maximum and minimum
Lane maximum_lane(Lane a, Lane b);
Lane minimum_lane(Lane a, Lane b);
Lane sign_lane(Lane x);

// integer.cpp: of integers and booleans
bool is_signed(DType dtype);
Lane integer_less(DType dtype, Lane a, Lane b);  ///< a mask
Lane integer_greatest(DType dtype, Lane a, Lane b);
Lane integer_least(DType dtype, Lane a, Lane b);
Lane integer_sign(DType dtype, Lane x);
Lane integer_quotient(DType dtype, Lane a, Lane b);
Lane integer_remainder(DType dtype, Lane a, Lane b);  ///< of the dividend's sign
Lane integer_mod(DType dtype, Lane a, Lane b);        ///< of the divisor's sign
Lane integer_power(DType dtype, Lane x, Lane exponent);
Lane integer_shift_right(DType dtype, Lane x, Lane count);

}  // namespace tenfold::jit
