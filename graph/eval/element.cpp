// SPDX-License-Identifier: Apache-2.0
//
// Element conversions. f32 and f64 use the machine's own conversion from long double, which rounds once; bf16 and f16
// are rounded here from their format's three numbers, so that no intermediate f32 rounds first.
#include "graph/eval/element.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "graph/eval/eval.hpp"
#include "graph/eval/narrow.hpp"

namespace tenfold::graph {
namespace {

/// An IEEE-like binary format; `precision` counts the hidden bit.
struct Format {
  int precision;
  int least_exponent;  ///< of the smallest normal number; the greatest is 1 minus it
};
constexpr Format kF32{24, -126};
constexpr Format kF64{53, -1022};
constexpr Format kBf16{8, -126};
constexpr Format kF16{11, -14};
constexpr std::uint16_t kBf16Nan = 0x7fc0;
constexpr std::uint16_t kF16Nan = 0x7e00;
constexpr std::uint32_t kF32Nan = 0x7fc00000;
constexpr std::uint64_t kF64Nan = 0x7ff8000000000000;

const Format& format_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::f64: return kF64;
    case DType::bf16: return kBf16;
    case DType::f16: return kF16;
    default: return kF32;
  }
}

template <class T>
T load_as(const void* data, std::int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
void store_as(void* data, std::int64_t index, T value) {
  std::memcpy(static_cast<char*>(data) + index * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

/// Half to even whatever the host's rounding mode; `value` is below 2^63, so floor and difference are exact.
Real round_half_even(Real value) {
  const Real below = std::floor(value);
  const Real rest = value - below;
  if (rest > 0.5L || (rest == 0.5L && std::fmod(below, 2.0L) != 0.0L)) return below + 1.0L;
  return below;
}

std::uint16_t encode16(const Format& format, std::uint16_t nan, Real value) {
  if (std::isnan(value)) return nan;
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const int fraction_bits = format.precision - 1;
  const auto infinity = static_cast<std::uint16_t>(0x7fff >> fraction_bits << fraction_bits);
  const Real magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return static_cast<std::uint16_t>(sign | infinity);
  if (magnitude == 0) return sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int least_step = format.least_exponent - fraction_bits;
  const int step = std::max(exponent - format.precision, least_step);
  if (step > 1000) return static_cast<std::uint16_t>(sign | infinity);
  const auto units = static_cast<std::uint32_t>(round_half_even(std::ldexp(magnitude, -step)));
  // A normal number's hidden bit adds 1 to the exponent field, and so does a carry out of the significand.
  const std::uint32_t bits = (static_cast<std::uint32_t>(step - least_step) << fraction_bits) + units;
  return static_cast<std::uint16_t>(sign | std::min<std::uint32_t>(bits, infinity));
}

/// By way of a double's bits, which hold every such number as a normal one; the oracle spends most of its time here.
Real decode16(const Format& format, std::uint16_t bits) {
  const int fraction_bits = format.precision - 1;
  const int field = (bits & 0x7fff) >> fraction_bits;
  const auto fraction = static_cast<std::uint64_t>(bits & ((1 << fraction_bits) - 1));
  const auto power = [](int exponent) { return static_cast<std::uint64_t>(exponent + 1023) << 52; };
  double magnitude = 0;
  if (field == 0x7fff >> fraction_bits)
    magnitude = fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (field == 0)
    magnitude = static_cast<double>(fraction) * std::bit_cast<double>(power(format.least_exponent - fraction_bits));
  else
    magnitude = std::bit_cast<double>(power(format.least_exponent + field - 1) | fraction << (52 - fraction_bits));
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// Calls `fn` with a zero of the C++ type of an integral dtype.
template <class Fn>
auto with_integer_type(DType dtype, Fn fn) {
  switch (dtype) {
    case DType::s8: return fn(std::int8_t{});
    case DType::s16: return fn(std::int16_t{});
    case DType::u16: return fn(std::uint16_t{});
    case DType::s32: return fn(std::int32_t{});
    case DType::u32: return fn(std::uint32_t{});
    case DType::s64: return fn(std::int64_t{});
    case DType::u64: return fn(std::uint64_t{});
    default: return fn(std::uint8_t{});
  }
}

Integer saturate(DType dtype, Real value) {
  if (std::isnan(value)) return 0;
  const Integer low = lowest_integer(dtype);
  const Integer high = highest_integer(dtype);
  if (value <= static_cast<Real>(low)) return low;
  if (value >= static_cast<Real>(high)) return high;
  return static_cast<Integer>(value);
}

}  // namespace

bool has_elements(DType dtype) noexcept { return dtype >= DType::f32 && dtype <= DType::boolean; }

bool is_integral(DType dtype) noexcept { return has_elements(dtype) && !is_floating(dtype); }

Real load_exact(DType dtype, const void* data, std::int64_t index) {
  switch (dtype) {
    case DType::f32: return load_as<float>(data, index);
    case DType::f64: return load_as<double>(data, index);
    case DType::bf16: return decode16(kBf16, load_as<std::uint16_t>(data, index));
    case DType::f16: return decode16(kF16, load_as<std::uint16_t>(data, index));
    case DType::f8_e5m2:
    case DType::f8_e4m3:
    case DType::s4:
    case DType::u4: return load_narrow(dtype, data, index);
    default: return static_cast<Real>(load_integer(dtype, data, index));
  }
}

void store_rounded(DType dtype, void* data, std::int64_t index, Real value) {
  switch (dtype) {
    case DType::f32:
      if (std::isnan(value)) return store_as(data, index, kF32Nan);
      return store_as(data, index, static_cast<float>(value));
    case DType::f64:
      if (std::isnan(value)) return store_as(data, index, kF64Nan);
      return store_as(data, index, static_cast<double>(value));
    case DType::bf16: return store_as(data, index, encode16(kBf16, kBf16Nan, value));
    case DType::f16: return store_as(data, index, encode16(kF16, kF16Nan, value));
    case DType::boolean: return store_as<std::uint8_t>(data, index, value != 0 ? 1 : 0);
    case DType::f8_e5m2:
    case DType::f8_e4m3:
    case DType::s4:
    case DType::u4: return store_narrow(dtype, data, index, value);
    default: {
      // Beyond 2^63 a long double has no fraction left to round.
      const bool fraction = std::fabs(value) < 0x1p63L;
      return store_integer(dtype, data, index, saturate(dtype, fraction ? round_half_even(value) : value));
    }
  }
}

Integer load_integer(DType dtype, const void* data, std::int64_t index) {
  const Integer value =
      with_integer_type(dtype, [&](auto zero) { return static_cast<Integer>(load_as<decltype(zero)>(data, index)); });
  return dtype == DType::boolean ? static_cast<Integer>(value != 0) : value;
}

void store_integer(DType dtype, void* data, std::int64_t index, Integer value) {
  if (dtype == DType::boolean) value = value != 0 ? 1 : 0;
  with_integer_type(dtype, [&](auto zero) { store_as(data, index, static_cast<decltype(zero)>(value)); });
}

Integer wrapped(DType dtype, Integer value) {
  std::uint64_t slot = 0;
  store_integer(dtype, &slot, 0, value);
  return load_integer(dtype, &slot, 0);
}

Integer to_integer(DType dtype, Real value) { return saturate(dtype, std::trunc(value)); }

void store_truncated(DType dtype, void* data, std::int64_t index, Real value) {
  const bool truncates = is_integral(dtype) && dtype != DType::boolean;
  store_rounded(dtype, data, index, truncates ? std::trunc(value) : value);
}

Integer lowest_integer(DType dtype) noexcept {
  return with_integer_type(
      dtype, [](auto zero) { return static_cast<Integer>(std::numeric_limits<decltype(zero)>::lowest()); });
}

Integer highest_integer(DType dtype) noexcept {
  if (dtype == DType::boolean) return 1;
  return with_integer_type(dtype,
                           [](auto zero) { return static_cast<Integer>(std::numeric_limits<decltype(zero)>::max()); });
}

Real round_to(DType dtype, Real value) {
  std::uint64_t slot = 0;
  store_rounded(dtype, &slot, 0, value);
  return load_exact(dtype, &slot, 0);
}

Real largest_finite(DType dtype) noexcept {
  const Format& format = format_of(dtype);
  const Real units = std::ldexp(Real{1}, format.precision) - 1;
  return std::ldexp(units, 1 - format.least_exponent - (format.precision - 1));
}

double ulp(DType dtype, double value) noexcept {
  if (!std::isfinite(value)) return 0;
  if (!is_floating(dtype)) return 1;
  const Format& format = format_of(dtype);
  int exponent = format.least_exponent + 1;
  if (value != 0) {
    std::frexp(value, &exponent);
    exponent = std::max(exponent, format.least_exponent + 1);
  }
  return std::ldexp(1.0, exponent - format.precision);
}

void convert(DType from, const void* source, std::int64_t source_index, DType to, void* target,
             std::int64_t target_index) {
  if (is_integral(from) && is_integral(to)) {
    store_integer(to, target, target_index, load_integer(from, source, source_index));
    return;
  }
  store_truncated(to, target, target_index, load_exact(from, source, source_index));
}

double load_real(DType dtype, const void* data, std::int64_t index) {
  return static_cast<double>(load_exact(dtype, data, index));
}

void store_real(DType dtype, void* data, std::int64_t index, double value) { store_rounded(dtype, data, index, value); }

}  // namespace tenfold::graph
