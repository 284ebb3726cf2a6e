// SPDX-License-Identifier: Apache-2.0
//
// Integer functions. Values narrower than their lanes sit extended in them, so that most functions need not know their
// width; unsigned ones as wide as their lane are ordered after their top bit is flipped.
#include "jit/function/families.hpp"

namespace tenfold::jit {
namespace {

bool fills_lane_unsigned(DType dtype, Lane x) { return !is_signed(dtype) && row(dtype).bits == 8 * lane_bytes(x.type); }

Lane zero_like(Lane x) { return x.builder->constant(x.type, 0); }
Lane top_bit(Lane x) { return x.builder->bits(x.type, 1ULL << (8 * lane_bytes(x.type) - 1)); }

Lane in_signed_order(DType dtype, Lane x) { return fills_lane_unsigned(dtype, x) ? x ^ top_bit(x) : x; }

/// Exact in f64.
Lane to_double(DType dtype, Lane x) {
  const Lane value = convert(LaneOp::to_f64, x);
  if (dtype != DType::u32) return value;
  const Lane negative = value < 0.0;
  return select(negative, value + 0x1p32, value);
}

/// Of u32 quotients: to_i32 reads 32 bits that the upper half of their range does not fit.
Lane from_double(DType dtype, Lane quotient) {
  if (dtype != DType::u32) return convert(LaneOp::to_i32, quotient);
  const Lane whole = round(quotient, LaneRounding::truncate);
  return convert(LaneOp::to_i32, select(whole >= 0x1p31, whole - 0x1p32, whole));
}

/// a / b of a nonzero b, wrapped. Quotients that are no integers are 1 / b from the nearest, farther than a rounding in
/// f32 of 16-bit values or in f64 of 32-bit values reaches; -2^31 / -1 becomes what to_i32 gives out of range: -2^31.
Lane wrapped_quotient(DType dtype, Lane a, Lane b) {
  if (a.type == LaneType::i64) {
    if (!is_signed(dtype)) return combine(LaneOp::divide_unsigned, a, b);
    const Lane minus_one = equal(b, -1.0);
    const Lane divisor = b.builder->constant(b.type, 1);
    return select(minus_one, zero_like(a) - a, combine(LaneOp::divide_signed, a, select(minus_one, divisor, b)));
  }
  if (dtype == DType::s32 || dtype == DType::u32) return from_double(dtype, to_double(dtype, a) / to_double(dtype, b));
  return convert(LaneOp::to_i32, convert(LaneOp::to_f32, a) / convert(LaneOp::to_f32, b));
}

}  // namespace

bool is_signed(DType dtype) { return row(dtype).kind == DTypeKind::signed_integer; }

Lane integer_less(DType dtype, Lane a, Lane b) { return in_signed_order(dtype, a) < in_signed_order(dtype, b); }

Lane integer_greatest(DType dtype, Lane a, Lane b) {
  return combine(is_signed(dtype) ? LaneOp::greatest_signed : LaneOp::greatest_unsigned, a, b);
}

Lane integer_least(DType dtype, Lane a, Lane b) {
  return combine(is_signed(dtype) ? LaneOp::least_signed : LaneOp::least_unsigned, a, b);
}

/// Masks are -1 where they hold.
Lane integer_sign(DType dtype, Lane x) {
  if (!is_signed(dtype)) return complement(equal(x, 0.0)) & x.builder->constant(x.type, 1);
  return (x < 0.0) - (x > 0.0);
}

Lane integer_quotient(DType dtype, Lane a, Lane b) {
  const Lane none = equal(b, 0.0);
  const Lane one = b.builder->constant(b.type, 1);
  return select(none, zero_like(a), wrapped_quotient(dtype, a, select(none, one, b)));
}

Lane integer_remainder(DType dtype, Lane a, Lane b) {
  const Lane none = equal(b, 0.0);
  const Lane one = b.builder->constant(b.type, 1);
  const Lane divisor = select(none, one, b);
  return a - wrapped_quotient(dtype, a, divisor) * divisor;
}

Lane integer_mod(DType dtype, Lane a, Lane b) {
  const Lane rest = integer_remainder(dtype, a, b);
  if (!is_signed(dtype)) return rest;
  const Lane fits = equal(rest, 0.0) | complement((rest ^ b) < 0.0);
  return select(fits, rest, rest + b);
}

namespace {

Lane one_like(Lane x) { return x.builder->constant(x.type, 1); }

/// Square and multiply from the top bit down.
Lane constant_power(Lane x, std::uint64_t exponent) {
  Lane value = one_like(x);
  bool any = false;
  for (int bit = 63; bit >= 0; --bit) {
    if (any) value = value * value;
    if ((exponent >> bit & 1) == 0) continue;
    value = any ? value * x : x;
    any = true;
  }
  return value;
}

/// Two bits of the exponent, all `width` of them being unsigned, take two squares and one product.
Lane any_power(Lane x, Lane exponent, int width) {
  const auto is_clear = [&](int bit) { return equal(exponent & x.builder->bits(x.type, 1ULL << bit), 0.0); };
  const Lane square = x * x, cube = square * x;
  Lane value = one_like(x);
  for (int bit = (width - 1) / 2 * 2; bit >= 0; bit -= 2) {
    const Lane even = is_clear(bit);
    const Lane low = select(even, one_like(x), x);
    const Lane factor = bit + 1 < width ? select(is_clear(bit + 1), low, select(even, square, cube)) : low;
    if (bit + 2 < width) {
      value = value * value;
      value = value * value * factor;
    } else {
      value = factor;
    }
  }
  return value;
}

}  // namespace

/// Of 1 and -1, the bits of a negative exponent give what its magnitude does; the inverses of others truncate to 0.
Lane integer_power(DType dtype, Lane x, Lane exponent) {
  const int width = row(dtype).bits;
  const Lane value = is_constant(exponent) ? constant_power(x, constant_bits(exponent) & (~0ULL >> (64 - width)))
                                           : any_power(x, exponent, width);
  if (!is_signed(dtype)) return value;
  const Lane unit = equal(x, 1.0) | equal(x, -1.0);
  return select(and_not(unit, exponent < 0.0), zero_like(x), value);
}

/// A negative count leaves 0 of a negative value, too.
Lane integer_shift_right(DType dtype, Lane x, Lane count) {
  if (!is_signed(dtype)) return combine(LaneOp::shift_right_by, x, count);
  return and_not(count < 0.0, combine(LaneOp::shift_right_arithmetic_by, x, count));
}

}  // namespace tenfold::jit
