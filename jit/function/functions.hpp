// SPDX-License-Identifier: Apache-2.0
//
// Scalar functions and casts as lane programs: one place for each formula and each polynomial. docs/numerics.md states
// the errors, which a long test measures over every f32 input.
#pragma once

#include <span>

#include "jit/lane/lane.hpp"
#include "kernel/tables.hpp"
#include "tenfold/dtype.hpp"

namespace tenfold::jit {

/// The lanes that values of `dtype` are computed in: f32 for f32, bf16 and f16; f64; i64 for s64 and u64; i32 for
/// narrower integers, sign- or zero-extended; and for boolean, as 0 or 1. Narrower integers, and booleans, may as well
/// be in lanes of their own width, i16 and i8, all of a program.
LaneType lane_type(DType dtype);

/// Whether the function is there for arguments of `dtype`. Of `select` that is the dtype of what is selected.
bool has_function(kernel::Function function, DType dtype);

/// The function of arguments of `dtype` (select's first is boolean), in lane_type(dtype) lanes, or all in lanes of its
/// width. A boolean result is a lane of 0 or 1, of i32 or that width. Integers may come out with wrong bits above the
/// dtype's width: a store drops them, and normalized() repairs them. NaNs need not be canonical.
Lane apply_function(kernel::Function function, DType dtype, std::span<const Lane> args);

/// An integer lane as `dtype` would hold it: low bits, sign- or zero-extended. Reals: rounded to bf16 or f16 and back;
/// others as they are.
Lane normalized(DType dtype, Lane x);

/// A value of `from` as `to`, both normalized: reals become integers by truncation and saturation (NaN: 0), integers
/// wrap, reals round once, anything becomes boolean by `!= 0`.
Lane cast_lane(DType from, DType to, Lane x);
/// f64 as an f32 that bf16 or f16 rounds as it would have rounded `x` itself.
Lane narrow_before_rounding(DType to, Lane x);
bool has_cast(DType from, DType to);
/// f32 as bf16 holds it, where the lower halves of NaNs are 0 (stage/nan_flow.hpp): rounding then carries nothing over
/// theirs.
Lane bf16_of_short_nan(Lane x);

/// `x`, every NaN being the canonical one.
Lane canonical_nan(Lane x);
/// The same of an i16 lane that has the bits of a bf16 or an f16.
Lane canonical_nan_of_bits(DType dtype, Lane x);
/// The function, kernel::is_of_bits(), of such a lane, whose NaN is the canonical one, as is the result's.
Lane function_of_bits(kernel::Function function, DType dtype, Lane x);
/// The same of f32 lanes that are either a quiet NaN or have a clear sign.
Lane canonical_of_positive(Lane x);

/// Primitives of several functions, in f32 or f64 lanes; errors in exp.cpp.
Lane exp_lane(Lane x);
/// e^x of x <= 0 (or NaN), which takes fewer operations.
Lane exp_of_negative(Lane x);
/// e^x 2^kScaledExpBits of x <= 0 (or NaN), f32: all of them are normal, the least one for what e^x rounds to 0. For
/// sums and quotients, from which the power is taken later.
inline constexpr int kScaledExpBits = 32;
Lane scaled_exp_of_negative(Lane x);
/// The same of any x up to kMostScaledExp (or NaN), 16 of which have a sum in range; of others anything. What is below
/// -105 gives as much as that.
inline constexpr double kMostScaledExp = 60;
Lane scaled_exp_of_moderate(Lane x);
Lane log_lane(Lane x);

}  // namespace tenfold::jit
