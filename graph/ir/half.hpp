// SPDX-License-Identifier: Apache-2.0
//
// The one way between numbers and bf16 or f16, for readers, writers, passes and the evaluator. Rounded once, half to
// even, from the bits of a double or a long double, so that no intermediate f32 rounds first and the thread's
// floating-point mode does not matter.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace tenfold::graph {

/// An IEEE-like binary format; `precision` counts the hidden bit.
struct FloatFormat {
  int precision;
  int least_exponent;  ///< of the smallest normal number; the greatest is 1 minus it
  std::uint64_t nan;   ///< the canonical one
};
inline constexpr FloatFormat kBf16{8, -126, 0x7fc0};
inline constexpr FloatFormat kF16{11, -14, 0x7e00};

/// A magnitude as significand * 2^power, exactly.
struct Scaled {
  std::uint64_t significand;
  int power;
};

inline Scaled scaled(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const int field = static_cast<int>(bits >> 52 & 0x7ff);
  return {fraction | std::uint64_t{field != 0} << 52, std::max(field, 1) - 1075};
}

/// A long double has its whole significand in 8 bytes, then sign and exponent in 2.
inline Scaled scaled(long double value) {
  std::uint64_t significand = 0;
  std::uint16_t field = 0;
  char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));
  std::memcpy(&significand, bytes, sizeof significand);
  std::memcpy(&field, bytes + sizeof significand, sizeof field);
  return {significand, std::max(field & 0x7fff, 1) - 16446};
}

/// `number` / 2^shift, half to even.
inline std::uint64_t shifted_half_even(std::uint64_t number, int shift) {
  if (shift > 64) return 0;
  const std::uint64_t units = shift < 64 ? number >> shift : 0;
  const std::uint64_t rest = shift < 64 ? number - (units << shift) : number;
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  return units + (rest > half || (rest == half && units % 2 != 0) ? 1 : 0);
}

/// Infinity when a finite value overflows; the canonical NaN. The format is known when this is compiled: it is what the
/// evaluator spends most of its time on, with decode16().
template <FloatFormat kFormat, class T>
std::uint16_t encode16(T value) {
  if (std::isnan(value)) return static_cast<std::uint16_t>(kFormat.nan);
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const int fraction_bits = kFormat.precision - 1;
  const auto infinity = static_cast<std::uint16_t>(0x7fff >> fraction_bits << fraction_bits);
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | infinity);
  if (value == 0) return sign;
  const Scaled number = scaled(value);
  const int least_step = kFormat.least_exponent - fraction_bits;
  const int width = static_cast<int>(std::bit_width(number.significand));
  const int step = std::max(number.power + width - kFormat.precision, least_step);
  if (step > 1000) return static_cast<std::uint16_t>(sign | infinity);
  const std::uint64_t units = shifted_half_even(number.significand, step - number.power);
  // A normal number's hidden bit adds 1 to the exponent field, and so does a carry out of the significand.
  const std::uint64_t bits = (static_cast<std::uint64_t>(step - least_step) << fraction_bits) + units;
  return static_cast<std::uint16_t>(sign | std::min<std::uint64_t>(bits, infinity));
}

/// Exact; of any NaN a quiet one. By way of a double's bits, which hold every such number as a normal one.
template <FloatFormat kFormat>
double decode16(std::uint16_t bits) {
  const int fraction_bits = kFormat.precision - 1;
  const int field = (bits & 0x7fff) >> fraction_bits;
  const auto fraction = static_cast<std::uint64_t>(bits & ((1 << fraction_bits) - 1));
  const auto power = [](int exponent) { return static_cast<std::uint64_t>(exponent + 1023) << 52; };
  double magnitude = 0;
  if (field == 0x7fff >> fraction_bits)
    magnitude = fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (field == 0)
    magnitude = static_cast<double>(fraction) * std::bit_cast<double>(power(kFormat.least_exponent - fraction_bits));
  else
    magnitude = std::bit_cast<double>(power(kFormat.least_exponent + field - 1) | fraction << (52 - fraction_bits));
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

}  // namespace tenfold::graph
