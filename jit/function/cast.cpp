// SPDX-License-Identifier: Apache-2.0
//
// Casts, and values as their dtype holds them. Every cast rounds once: what two conversions would round twice goes
// through the wider type first, or keeps a sticky bit (the lowest, set when bits below it are lost), which rounding to
// a format narrower by two bits cannot tell from the bits themselves.
#include "jit/function/families.hpp"
#include "jit/function/functions.hpp"

namespace tenfold::jit {
namespace {

/// The bits of 2^52, the f64 whose last bit is 1, and of 2^84 + 2^63.
constexpr std::uint64_t kTwoTo52 = 0x4330000000000000, kTwoTo84And63 = 0x4530000080000000;

bool is_wide(DType dtype) { return byte_size(dtype) == 8; }
bool is_unsigned(DType dtype) { return row(dtype).kind == DTypeKind::unsigned_integer; }
Lane one_like(Lane x) { return x.builder->constant(x.type, 1); }
/// Of the lane's type, the top bit.
Lane top_bit(LaneBuilder& builder, LaneType type) {
  return builder.bits(type, lane_bytes(type) == 4 ? 0x80000000U : 1ULL << 63);
}

/// f32 as bf16 or f16 holds it. The bits of a NaN might carry into the sign: it becomes a short one.
Lane rounded(DType to, Lane x) {
  return to == DType::bf16 ? select(is_nan(x), not_a_number(x), bf16_of_short_nan(x)) : round_f16(x);
}

/// `x`, an f64 lane or one that is of `to` but for its precision, as the lane of a real `to`.
Lane to_real_dtype(DType to, Lane x) {
  const bool is_wide = x.type == LaneType::f64;
  if (to == DType::f64) return is_wide ? x : convert(LaneOp::widen, x);
  if (to == DType::bf16 || to == DType::f16) return rounded(to, is_wide ? narrow_before_rounding(to, x) : x);
  return is_wide ? convert(LaneOp::narrow, x) : x;
}

/// Half of an unsigned value, with a sticky bit.
Lane halved(Lane x) { return shift_right(x, 1) | (x & one_like(x)); }

/// The signed i64 in f64, to nearest even: its halves are fractions of two numbers, the lower one of one from 2^52 on,
/// the higher one, 2^31 more, of one from 2^84 on. What these have too much leaves the higher one exactly.
Lane double_of(Lane x) {
  const Lane low = x & x.builder->bits(x.type, 0xffffffffU);
  const Lane lower = as(LaneType::f64, low | x.builder->bits(x.type, kTwoTo52));
  const Lane higher = as(LaneType::f64, shift_right(x, 32) ^ x.builder->bits(x.type, kTwoTo84And63));
  return (higher - (0x1p84 + 0x1p63 + 0x1p52)) + lower;
}

/// The same for a rounding to 24 bits or fewer: numbers that f64 does not hold lose 11 bits to a sticky one.
Lane sticky_double(Lane x) {
  const Lane low_bits = x.builder->bits(x.type, 0x7ff);
  const Lane sticky = and_not(low_bits, x | ((x & low_bits) + low_bits));
  const Lane near = equal(shift_right(x + x.builder->bits(x.type, 1ULL << 53), 54), 0.0);
  return double_of(select(near, x, sticky));
}

/// The f64, from -2^63 to below 2^63, toward zero as an i64; of others anything. Beside a number whose last bit is 1,
/// an integer's bits are its own.
Lane long_of(Lane x) {
  const Lane whole = round(x, LaneRounding::truncate);
  const Lane high = round(whole * 0x1p-32, LaneRounding::floor);
  const Lane low = as(LaneType::i64, fnma(high, 0x1p32, whole) + 0x1p52);
  const Lane upper = shift_left(as(LaneType::i64, high + 0x1.8p52), 32);
  return upper | (low & x.builder->bits(LaneType::i64, 0xffffffffU));
}

Lane wide_integer_to_real(DType from, DType to, Lane x) {
  const bool large = from == DType::u64;
  const Lane negative = x < 0.0;
  const Lane source = large ? select(negative, halved(x), x) : x;
  const bool single = to == DType::f32;
  Lane value = to == DType::f64 ? double_of(source) : sticky_double(source);
  if (single) value = convert(LaneOp::narrow, value);
  if (large) value = select(single ? narrow_mask(negative) : negative, value * 2.0, value);
  return single ? value : to_real_dtype(to, value);
}

Lane integer_to_real(DType from, DType to, Lane x) {
  if (x.type == LaneType::i64) return wide_integer_to_real(from, to, x);
  if (row(from).bits <= 16) {
    if (to == DType::f64) return convert(LaneOp::to_f64, x);
    return to_real_dtype(to, convert(LaneOp::to_f32, x));
  }
  const Lane negative = x < 0.0;
  if (to == DType::f32) {
    if (from == DType::s32) return convert(LaneOp::to_f32, x);
    const Lane value = convert(LaneOp::to_f32, select(negative, halved(x), x));
    return select(negative, value * 2.0, value);
  }
  Lane value = convert(LaneOp::to_f64, x);
  if (from == DType::u32) value = select(value < 0.0, value + 0x1p32, value);
  return to_real_dtype(to, value);
}

/// +0 of NaN.
Lane without_nan(Lane x) { return as(x.type, and_not(is_nan(x), as(integer_of(x.type), x))); }

/// The greatest integer of a dtype and, negated, the least, as reals, where they are exact.
double greatest(DType dtype) {
  const int value_bits = row(dtype).bits - (is_signed(dtype) ? 1 : 0);
  return static_cast<double>((1ULL << value_bits) - 1);
}

/// Toward zero, as integers of 32 bits, or of 64 from f64.
Lane whole(Lane x, LaneType type) { return type == LaneType::i64 ? long_of(x) : convert(LaneOp::to_i32, x); }

/// To an unsigned type of `top` twice the signed range: its upper half is read less `top`, which is exact.
Lane real_to_full_unsigned(Lane x, LaneType type, double top) {
  const Lane value = select(x > 0.0, x, 0.0);
  const Lane upper = value >= top;
  const Lane bits = whole(select(upper, value - top, value), type);
  const Lane sign = (type == LaneType::i32 ? narrow_mask(upper) : upper) & top_bit(*x.builder, type);
  const Lane over = value >= 2 * top;
  const Lane all = x.builder->bits(type, type == LaneType::i32 ? 0xffffffffU : ~0ULL);
  return select(type == LaneType::i32 ? narrow_mask(over) : over, all, bits ^ sign);
}

/// Out of range, 32 bits are the least integer, which is right below the range.
Lane real_to_full_signed(Lane x, LaneType type, double top) {
  Lane value = without_nan(x);
  if (type == LaneType::i64) value = combine(LaneOp::greater, value, x.builder->constant(x.type, -top));
  const Lane bits = whole(value, type);
  const Lane over = value >= top;
  const Lane most = x.builder->bits(type, type == LaneType::i32 ? 0x7fffffffU : ~0ULL >> 1);
  return select(type == LaneType::i32 ? narrow_mask(over) : over, most, bits);
}

Lane real_to_integer(DType to, Lane x) {
  if (is_wide(to)) {
    const Lane wide = x.type == LaneType::f64 ? x : convert(LaneOp::widen, x);
    if (to == DType::u64) return real_to_full_unsigned(wide, LaneType::i64, 0x1p63);
    return real_to_full_signed(wide, LaneType::i64, 0x1p63);
  }
  if (to == DType::u32) return real_to_full_unsigned(x, LaneType::i32, 0x1p31);
  if (to == DType::s32) return real_to_full_signed(x, LaneType::i32, 0x1p31);
  const Lane most = x.builder->constant(x.type, greatest(to));
  const Lane least = x.builder->constant(x.type, is_unsigned(to) ? 0 : -greatest(to) - 1);
  // Of two that are not in order, and of two zeros, the second one counts.
  const Lane from = combine(LaneOp::greater, is_unsigned(to) ? x : without_nan(x), least);
  return convert(LaneOp::to_i32, combine(LaneOp::lesser, from, most));
}

Lane integer_to_integer(DType from, DType to, Lane x) {
  if (is_wide(from)) return is_wide(to) ? x : normalized(to, convert(LaneOp::low_half, x));
  if (is_wide(to)) return convert(is_signed(from) ? LaneOp::extend_signed : LaneOp::extend_zero, x);
  return normalized(to, x);
}

bool is_real(DType dtype) { return is_floating(dtype); }
bool is_known(DType dtype) { return dtype >= DType::f32 && dtype <= DType::boolean; }

}  // namespace

LaneType lane_type(DType dtype) {
  if (dtype == DType::f64) return LaneType::f64;
  if (is_real(dtype)) return LaneType::f32;
  return is_wide(dtype) ? LaneType::i64 : LaneType::i32;
}

Lane normalized(DType dtype, Lane x) {
  const auto extended = [&](int bits) {
    if (8 * lane_bytes(x.type) == bits) return x;
    const Lane high = shift_left(x, 32 - bits);
    return is_signed(dtype) ? shift_right_arithmetic(high, 32 - bits) : shift_right(high, 32 - bits);
  };
  switch (dtype) {
    case DType::bf16:
    case DType::f16: return rounded(dtype, x);
    case DType::boolean: return truth(complement(equal(x, 0.0)));
    case DType::s8:
    case DType::u8: return extended(8);
    case DType::s16:
    case DType::u16: return extended(16);
    default: return x;
  }
}

Lane cast_lane(DType from, DType to, Lane x) {
  // A lane of a 16-bit float holds more than that until something rounds it.
  if (from == to) return is_real(to) && byte_size(to) == 2 ? to_real_dtype(to, x) : x;
  if (to == DType::boolean) return truth(complement(equal(x, 0.0)));
  if (is_real(from)) return is_real(to) ? to_real_dtype(to, x) : real_to_integer(to, x);
  return is_real(to) ? integer_to_real(from, to, x) : integer_to_integer(from, to, x);
}

bool has_cast(DType from, DType to) { return is_known(from) && is_known(to); }

/// The 29 bits that f32 has not become a sticky one. Numbers that f32 has fewer bits for are all but nothing to f16;
/// bf16 has its own subnormals there, which are rounded here: adding and subtracting the power of two whose last bit is
/// their step does.
Lane narrow_before_rounding(DType to, Lane x) {
  const Lane bits = as(LaneType::i64, x), low = x.builder->bits(LaneType::i64, (1U << 29) - 1);
  Lane sticky = as(x.type, and_not(low, bits | ((bits & low) + low)));
  if (to == DType::bf16) {
    constexpr double kLeastNormal = 0x1p-126, kShifter = 0x1p-133 * 0x1p52;
    const Lane size = abs(x);
    sticky = select(size < kLeastNormal, copy_sign((size + kShifter) - kShifter, x), sticky);
  }
  return convert(LaneOp::narrow, sticky);
}

/// The exponents of f32 are those of bf16, subnormals and infinity included, and the sign may stay where it is. The
/// last bit that is kept, as the top one, chooses what to add: half a unit, or a little less.
Lane bf16_of_short_nan(Lane x) {
  LaneBuilder& b = *x.builder;
  const Lane bits = as(LaneType::i32, x);
  const Lane added = select(shift_left(bits, 15), b.bits(LaneType::i32, 0x8000), b.bits(LaneType::i32, 0x7fff));
  return as(LaneType::f32, (bits + added) & b.bits(LaneType::i32, 0xffff0000));
}

Lane canonical_of_positive(Lane x) {
  const Lane bits = as(LaneType::i32, x);
  return as(LaneType::f32, combine(LaneOp::least_unsigned, bits, x.builder->bits(LaneType::i32, 0x7fc00000)));
}

Lane canonical_nan(Lane x) { return select(is_nan(x), not_a_number(x), x); }

Lane canonical_nan_of_bits(DType dtype, Lane x) {
  LaneBuilder& b = *x.builder;
  const bool is_bf16 = dtype == DType::bf16;
  const Lane infinity = b.bits(x.type, is_bf16 ? 0x7f80 : 0x7c00),
             canonical = b.bits(x.type, is_bf16 ? 0x7fc0 : 0x7e00);
  const Lane is_nan = infinity < (x & b.bits(x.type, 0x7fff));
  return (canonical & is_nan) | and_not(is_nan, x);
}

/// The canonical NaN has no sign; what has one is below the bits of +0.
Lane function_of_bits(kernel::Function function, DType dtype, Lane x) {
  LaneBuilder& b = *x.builder;
  switch (function) {
    case kernel::Function::abs: return x & b.bits(x.type, 0x7fff);
    case kernel::Function::neg: return canonical_nan_of_bits(dtype, x ^ b.bits(x.type, 0x8000));
    case kernel::Function::relu: return combine(LaneOp::greatest_signed, x, b.bits(x.type, 0));
    default: return x;
  }
}

}  // namespace tenfold::jit
