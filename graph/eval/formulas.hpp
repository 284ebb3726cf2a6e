// SPDX-License-Identifier: Apache-2.0
//
// The formulas behind the table of scalar functions, where one needs more than a line: in double, in the form that
// neither cancels nor overflows on the way, or in wide integers.
#pragma once

#include "graph/eval/element.hpp"

namespace tenfold::graph {

double sigmoid(double x) noexcept;
/// 0.5 x (1 + erf(x / sqrt 2)). In the tail an argument's rounding grows a thousandfold, so f64 is computed in Real.
double gelu_erf(double x, DType dtype) noexcept;
/// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), likewise.
double gelu_tanh(double x, DType dtype) noexcept;
/// log(1 + e^(beta x)) / beta, likewise for the product.
double softplus(double x, double beta, DType dtype) noexcept;
/// x tanh(log(1 + e^x)), likewise for an e^x that underflows before the product does.
double mish(double x, DType dtype) noexcept;
/// x / (1 + e^-(alpha x)), likewise for the product.
double swish(double x, double alpha, DType dtype) noexcept;
/// x, or alpha (e^(x / alpha) - 1) of negative x, likewise for the quotient.
double celu(double x, double alpha, DType dtype) noexcept;
/// min(max(x, low), high), as IEEE 754-2019 has them: NaN comes out if one went in.
double clamp(double x, double low, double high) noexcept;
/// To the nearest integer, half to even.
double round_even(double x) noexcept;
/// -1, +0 or 1; NaN of NaN.
double sign_of(double x) noexcept;
/// NumPy's remainder: it has the divisor's sign.
double floored_remainder(double x, double divisor) noexcept;

// Integers wrap where they overflow; what NumPy leaves undefined is 0.

Integer wrapping_add(Integer a, Integer b) noexcept;
Integer wrapping_subtract(Integer a, Integer b) noexcept;
Integer wrapping_multiply(Integer a, Integer b) noexcept;
/// Truncates toward zero; 0 for a divisor of 0.
Integer quotient(Integer a, Integer b) noexcept;
/// The remainder with the divisor's sign, or with the dividend's when `truncated`; 0 for a divisor of 0.
Integer remainder_of(Integer a, Integer b, bool truncated) noexcept;
/// x^n; a negative exponent truncates the true value, 0 to a negative power is 0.
Integer integer_power(Integer x, Integer n) noexcept;
/// By `count` bits, 0 for a negative count; all bits shifted out leave 0 (or -1 for a negative x to the right).
Integer shifted(Integer x, Integer count, bool left) noexcept;

}  // namespace tenfold::graph
