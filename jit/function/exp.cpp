// SPDX-License-Identifier: Apache-2.0
//
// The exponential and what is made of it. x = n ln 2 + r with |r| <= ln 2 / 2: n is x / ln 2 rounded by adding 1.5
// times a power of two, which leaves n in the low bits too; r is exact after the high part of ln 2. Then e^r - 1 = r +
// r^2 q(r), q of degree 4 (f32: error 2^-26.2 of e^r - 1, 2^-27 of e^r) or 10 (f64: 2^-61). e^x comes out within 1.1
// ulp, subnormals included: r in one number has its rounding in it, which costs a fifth of a unit and saves an
// operation.
#include <array>

#include "jit/function/families.hpp"
#include "jit/function/functions.hpp"

namespace tenfold::jit {
namespace {

constexpr std::array kF32Poly{0.49999997, 0.166665435, 0.0416672006, 0.00836657919, 0.00138826226};
constexpr std::array kF64Poly{0.5,
                              0.16666666666666677,
                              0.041666666666666505,
                              0.0083333333333216082,
                              0.0013888888888962919,
                              0.00019841269886206384,
                              2.4801587171808305e-05,
                              2.7557244105762949e-06,
                              2.7557402974656375e-07,
                              2.5109080840178623e-08,
                              2.0875316219438115e-09};

/// What the two types differ in.
struct Constants {
  int fraction_bits;
  double magic;  ///< 1.5 * 2^fraction_bits
  double ln2_high, ln2_low;
  double highest;       ///< up to there the halves of n are exponents
  double exp_lowest;    ///< e^x rounds to 0 below
  double expm1_lowest;  ///< e^x - 1 rounds to -1 below
  std::span<const double> poly;
};
constexpr double kLog2E = 0x1.71547652b82fep0;
constexpr Constants kF32{23, 0x1.8p23, 0x1.62e430p-1, -0x1.05c610p-29, 89, -105, -20, kF32Poly};
constexpr Constants kF64{52, 0x1.8p52, 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56, 710, -750, -40, kF64Poly};

const Constants& constants(Lane x) { return x.type == LaneType::f32 ? kF32 : kF64; }

struct Reduced {
  Lane n;     ///< in the low bits
  Lane high;  ///< r = high + low, of which only r^2 sees the sum's rounding
  Lane low;
};

/// Of x + *extra.
Reduced reduce(Lane x, const Lane* extra = nullptr) {
  const Constants& c = constants(x);
  const Lane shifted = fma(x, kLog2E, c.magic);
  const Lane n = shifted - c.magic;
  const Lane low = extra == nullptr ? n * -c.ln2_low : fnma(n, c.ln2_low, *extra);
  return {as(integer_of(x.type), shifted), fnma(n, c.ln2_high, x), low};
}

/// e^r - 1.
Lane expm1_reduced(const Reduced& reduced) {
  const Lane r = reduced.high + reduced.low;
  return reduced.high + fma(r * r, polynomial(r, constants(r).poly), reduced.low);
}

/// 2^n times the number that `unit` is the bits of.
Lane power_of_two(Lane n, LaneType type, double unit) {
  const int fraction_bits = type == LaneType::f32 ? kF32.fraction_bits : kF64.fraction_bits;
  const Lane one = as(n.type, n.builder->constant(type, unit));
  return as(type, shift_left(n, fraction_bits) + one);
}

/// e^lowest of f64 vanishes in products with factors up to 2^944: callers whose factors are larger see to it that
/// results of arguments below are zeros. The halves of n are exponents down to there.
constexpr double kLowest64 = -1400;

/// Of f64, times factor + factor_low, if given.
SplitExp split(Lane x, const Lane* low, const Lane* factor = nullptr, const Lane* factor_low = nullptr) {
  const Reduced reduced = reduce(clamp_below(x, kLowest64), low);
  const Lane whole = shift_left(reduced.n, kF64.fraction_bits);
  const Lane half = shift_left(shift_right(reduced.n, 1), kF64.fraction_bits);
  const Lane m = expm1_reduced(reduced);
  const Lane value = factor == nullptr ? m + 1.0 : *factor + fma(*factor, m, *factor_low);
  const Lane one = as(half.type, x.builder->constant(x.type, 1));
  return {as(x.type, as(half.type, value) + half), as(x.type, (whole - half) + one)};
}

}  // namespace

/// In this order NaN gets through.
Lane not_below(double bound, Lane x) { return combine(LaneOp::greater, x.builder->constant(x.type, bound), x); }

Lane below_zero(Lane x) {
  const LaneType type = integer_of(x.type);
  return as(x.type, as(type, x) | as(type, x.builder->constant(x.type, -0.0)));
}

Lane clamp_above(Lane x, double bound) {
  const Lane limit = x.builder->constant(x.type, bound);
  if (x.type == LaneType::f64) return select(limit < x, limit, x);
  return as(x.type, combine(LaneOp::least_signed, as(LaneType::i32, x), as(LaneType::i32, limit)));
}

Lane clamp_below(Lane x, double bound) {
  const Lane limit = x.builder->constant(x.type, bound);
  if (x.type == LaneType::f64) return select(x < limit, limit, x);
  return as(x.type, combine(LaneOp::least_unsigned, as(LaneType::i32, x), as(LaneType::i32, limit)));
}

namespace {

/// x = (n + i / 8) ln 2 + r: e^x = 2^n 2^(i/8) e^r, the second factor from a table, e^r - 1 = r + r^2 Q(r): within
/// 2^-25.2 of degree 1, within 2^-29.5 of degree 2. f32.
constexpr std::array kShortSlope{0.500065, 1.0 / 6};
constexpr std::array kSlope{0.5, 1.0 / 6, 1.0 / 24};
struct EighthsOfExp {
  Lane shifted;  ///< has n + i / 8 + scale_bits in its low bits, by eighths
  Lane eighths;  ///< n + i / 8
};

EighthsOfExp find_eighths(Lane bounded, int scale_bits) {
  const double magic = kF32.magic / 8 + scale_bits;  // whose last bit is an eighth
  const Lane shifted = fma(bounded, kLog2E, magic);
  return {shifted, shifted - magic};
}

/// 2^(n + scale_bits + i / 8) e^r.
Lane exp_of_eighths(const EighthsOfExp& of, Lane r, std::span<const double> slope, int scale_bits) {
  const Lane scale = exp2_eighths(of.shifted, of.eighths, scale_bits);
  const Lane q = fma(r, polynomial(r, slope), r.builder->constant(r.type, 1));
  return fma(scale * r, q, scale);
}

/// e^x 2^kSplitBits of x + *low <= 0, with ln 2 in two numbers; from kSplitLowest on.
Lane great_exp(Lane x, const Lane* low = nullptr) {
  const EighthsOfExp of = find_eighths(x, kSplitBits);
  const Lane high = fnma(of.eighths, kF32.ln2_high, x);
  if (low == nullptr) return exp_of_eighths(of, fnma(of.eighths, kF32.ln2_low, high), kShortSlope, kSplitBits);
  return exp_of_eighths(of, high + fnma(of.eighths, kF32.ln2_low, *low), kSlope, kSplitBits);
}

/// As a product; 0 of what is less than kSplitLowest, -inf as well.
SplitExp split_great(Lane x, const Lane* low = nullptr) {
  const Lane e = as(LaneType::i32, great_exp(x, low));
  return {as(x.type, and_not(x < kSplitLowest, e)), x.builder->constant(x.type, kSplitScale)};
}

}  // namespace

SplitExp split_exp(Lane high) { return high.type == LaneType::f64 ? split(high, nullptr) : split_great(high); }

SplitExp split_exp(Lane high, Lane low) {
  return high.type == LaneType::f64 ? split(high, &low) : split_great(high, &low);
}

SplitExp split_exp_within(Lane high, Lane low) {
  return {great_exp(high, &low), high.builder->constant(high.type, kSplitScale)};
}

SplitExp split_product(Lane factor, Lane factor_low, Lane high, Lane low) {
  return split(high, &low, &factor, &factor_low);
}

namespace {

/// x = n ln 2 + r: `shifted` has n + offset in its low bits, `m` is e^r - 1. Above the highest n, r grows.
struct ExpParts {
  Lane shifted;
  Lane m;
};
/// q(r), of f32 by halves: fewer steps one after the other than Horner's.
Lane exp_polynomial(Lane r, Lane square) {
  if (r.type == LaneType::f64) return polynomial(r, kF64Poly);
  const Lane high = fma(square, kF32Poly[4], fma(r, kF32Poly[3], kF32Poly[2]));
  return fma(square, high, fma(r, kF32Poly[1], kF32Poly[0]));
}

ExpParts exp_parts(Lane x, Lane bounded, int offset) {
  const Constants& c = constants(x);
  const double magic = c.magic + offset;
  const Lane shifted = fma(bounded, kLog2E, magic);
  const Lane n = shifted - magic;
  const Lane r = fnma(n, c.ln2_low, fnma(n, c.ln2_high, x));
  const Lane square = r * r;
  return {as(integer_of(x.type), shifted), fma(square, exp_polynomial(r, square), r)};
}

}  // namespace

/// 2^n in two factors, by halves of n: shifted up, n and twice the bias of an exponent are both exponents.
Lane exp_lane(Lane x) {
  const Constants& c = constants(x);
  const int bias = x.type == LaneType::f32 ? 127 : 1023;
  const Lane low = not_below(c.exp_lowest, x);
  const Lane high = x.builder->constant(x.type, c.highest);
  const ExpParts parts = exp_parts(low, combine(LaneOp::lesser, low, high), 2 * bias);
  const std::uint64_t exponent_bits = (std::uint64_t{2} * static_cast<std::uint64_t>(bias) + 1) << c.fraction_bits;
  const Lane half = shift_left(parts.shifted, c.fraction_bits - 1) & x.builder->bits(parts.shifted.type, exponent_bits);
  const Lane rest = shift_left(parts.shifted, c.fraction_bits) - half;
  const Lane scale = as(x.type, half);
  return fma(scale, parts.m, scale) * as(x.type, rest);
}

/// 2^(n + 64) is normal.
Lane exp_of_negative(Lane x) {
  if (x.type == LaneType::f64) return exp_lane(x);
  const Lane low = not_below(kF32.exp_lowest, x);
  const ExpParts parts = exp_parts(low, low, 127 + 64);
  const Lane scale = as(x.type, shift_left(parts.shifted, kF32.fraction_bits));
  return fma(scale, parts.m, scale) * 0x1p-64;
}

/// 2^(n + 32) is normal. Within 1.2 ulp and |x| / 20: ln 2 / 8 in f32 is off by 2^-28.4 of itself, a tenth of what the
/// rounding of a difference x costs, and an operation less than in two parts.
Lane scaled_exp_of_negative(Lane x) {
  const Lane bounded = not_below(kF32.exp_lowest, x);
  const EighthsOfExp of = find_eighths(bounded, kScaledExpBits);
  return exp_of_eighths(of, fnma(of.eighths, kF32.ln2_high, bounded), kShortSlope, kScaledExpBits);
}

/// With ln 2 in two numbers, as x may be no difference, and exact.
Lane scaled_exp_of_moderate(Lane x) {
  const Lane bounded = not_below(kF32.exp_lowest, x);
  const EighthsOfExp of = find_eighths(bounded, kScaledExpBits);
  const Lane r = fnma(of.eighths, kF32.ln2_low, fnma(of.eighths, kF32.ln2_high, bounded));
  return exp_of_eighths(of, r, kShortSlope, kScaledExpBits);
}

Lane expm1_negative(Lane x) {
  const Reduced reduced = reduce(clamp_below(x, constants(x).expm1_lowest));
  const Lane power = power_of_two(reduced.n, x.type, 1);
  return fma(power, expm1_reduced(reduced), power - 1.0);
}

Lane expm1_quarter(Lane x) {
  const Constants& c = constants(x);
  // f64: sinh and cosh overflow half a unit later than e^x, which a quarter still has room for.
  const double highest = x.type == LaneType::f64 ? 710.5 : c.highest;
  const Reduced reduced = reduce(clamp_below(clamp_above(x, highest), c.expm1_lowest));
  const Lane power = power_of_two(reduced.n, x.type, 0.25);
  return fma(power, expm1_reduced(reduced), power - 0.25);
}

/// 1 / (1 + e^-|x|), times e^-|x| of negative x.
Lane sigmoid_lane(Lane x) {
  if (x.type == LaneType::f32) {
    const Lane e = great_exp(not_below(kSplitLowest, below_zero(x)));
    return select(as(LaneType::i32, x), e, 1 / kSplitScale) / (e + 1 / kSplitScale);
  }
  const SplitExp split_e = split_exp(below_zero(x));
  const Lane e = split_e.part * split_e.scale;
  const Lane value = select(x < 0.0, e, 1.0) / (e + 1.0);
  return select(is_nan(x), x, value);
}

/// -m / (2 + m) of m = e^(-2|x|) - 1, which has small values to full precision.
Lane tanh_lane(Lane x) {
  const Lane m = expm1_negative(abs(x) * -2.0);
  return select(is_nan(x), x, copy_sign(abs(m) / (m + 2.0), x));
}

/// (m + m / (m + 1)) / 2 of m = e^|x| - 1, by quarters of m.
Lane sinh_lane(LaneArgs args) {
  const Lane x = args[0];
  const Lane a = abs(x);
  const Lane quarter = expm1_quarter(a);
  const Lane value = fma(quarter / (quarter + 0.25), 0.25, quarter) * 2.0;
  const Lane small = a < 0x1p-28;
  return select(is_nan(x), x, copy_sign(select(small, a, value), x));
}

/// (e^|x| + e^-|x|) / 2, by quarters of e^|x|.
Lane cosh_lane(LaneArgs args) {
  const Lane x = args[0];
  const Lane quarter = expm1_quarter(abs(x)) + 0.25;
  return select(is_nan(x), x, (quarter + 0.0625 / quarter) * 2.0);
}

}  // namespace tenfold::jit
