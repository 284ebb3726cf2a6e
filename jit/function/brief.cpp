// SPDX-License-Identifier: Apache-2.0
//
// Functions of bf16 and f16, in f32 lanes. Their results are rounded to 8 or 11 bits, so that 2^-16 of themselves does
// not show but where a result lies next to the middle of two numbers, and formulas are shorter than those of f32 by
// half. Squares of such arguments are exact.
#include "jit/function/brief.hpp"

#include <array>

#include "jit/function/families.hpp"

namespace tenfold::jit {
namespace {

using kernel::Function;

/// e^r of |r| <= ln 2 / 2, error 2^-18.5.
constexpr std::array kExpPoly{0.9999992614, 0.999963405, 0.5000435893, 0.1679090709, 0.0414585855};
/// tanh x = x top(x^2) / bottom(x^2) up to 6, error 2^-17.
constexpr std::array kTanhTop{0.9999927229, 0.1148319009, 0.0015146255864};
constexpr std::array kTanhBottom{1.0, 0.44811527124, 0.017611527199, 5.6274028235e-05};
/// erf likewise up to 3.4, error 2^-18.1.
constexpr std::array kErfTop{1.1283752308, 0.15598175681, 0.042853513996, 0.00072869459293};
constexpr std::array kErfBottom{1.0, 0.47155087267, 0.095133971214, 0.0091279629795};
/// The normal distribution's tail is e^(-a^2 / 2) top(a) / bottom(a) up to 14, error 2^-16.6.
constexpr std::array kTailTop{0.5000048223, 0.25536342814, 0.054000990441, -7.8920265511e-06};
constexpr std::array kTailBottom{1.0, 1.3089416224, 0.65056706405, 0.13463512083};
constexpr double kTailGreatest = 14;

/// e^x 2^kSplitBits of x from kSplitLowest to 0.
Lane brief_exp(Lane x) {
  constexpr double kMagic = 0x1.8p23 + kSplitBits, kLog2E = 0x1.71547652b82fep0, kLn2 = 0x1.62e430p-1;
  const Lane shifted = fma(x, kLog2E, kMagic);
  const Lane r = fnma(shifted - kMagic, kLn2, x);
  const Lane power = shift_left(as(LaneType::i32, shifted), 23);
  return as(x.type, as(LaneType::i32, polynomial(r, kExpPoly)) + power);
}

/// Not beyond `bound` on either side; NaN stays.
Lane within(double bound, Lane x) {
  return combine(LaneOp::lesser, x.builder->constant(x.type, bound), not_below(-bound, x));
}

Lane odd_ratio(Lane x, std::span<const double> top, std::span<const double> bottom) {
  const Lane square = x * x;
  return x * polynomial(square, top) / polynomial(square, bottom);
}

Lane erf_brief(LaneArgs x) { return odd_ratio(within(3.4, x[0]), kErfTop, kErfBottom); }
Lane tanh_brief(LaneArgs x) { return odd_ratio(within(6, x[0]), kTanhTop, kTanhBottom); }

/// max(x, 0) - a Phi(-a) of a = |x|; NaN at -inf.
Lane gelu_erf_brief(LaneArgs args) {
  const Lane x = args[0];
  const Lane a = clamp_above(abs(x), kTailGreatest);
  // First, so that fewer vectors are taken at a time.
  const Lane e = brief_exp(a * a * -0.5);
  const Lane tail = a * polynomial(a, kTailTop) / polynomial(a, kTailBottom) * e;
  const Lane value = fnma(tail, kSplitScale, select(as(LaneType::i32, x), -0.0, x));
  return select(x >= -0x1.fffffep127, value, not_a_number(x));
}

/// x / (1 + e^-2u), or x e^2u / (1 + e^2u) of negative x, with 2u = a (c1 + c2 a^2). Far down the exponential is 0.
Lane gelu_tanh_brief(LaneArgs args) {
  const Lane x = args[0];
  const Lane a = abs(x);
  const Lane w = a * fma(a * a, -0.071354816272600, -1.5957691216057308);
  const Lane e = as(x.type, and_not(w < kSplitLowest, as(LaneType::i32, brief_exp(w))));
  const Lane sign = as(LaneType::i32, x);
  const Lane one = x.builder->constant(x.type, 1);
  return x * (select(sign, e, one) / fma(e, kSplitScale, one)) * select(sign, kSplitScale, one);
}

struct Row {
  Function function;
  Lane (*brief)(LaneArgs);
};
constexpr Row kRows[] = {
    {Function::erf, erf_brief},
    {Function::gelu_erf, gelu_erf_brief},
    {Function::gelu_tanh, gelu_tanh_brief},
    {Function::tanh, tanh_brief},
};

}  // namespace

Lane (*brief_function(Function function))(LaneArgs) {
  for (const Row& row : kRows)
    if (row.function == function) return row.brief;
  return nullptr;
}

}  // namespace tenfold::jit
