// SPDX-License-Identifier: Apache-2.0
//
// See narrow.hpp.
#include "graph/eval/narrow.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tenfold::graph {
namespace {

/// A binary format of 8 bits.
struct Format {
  int fraction_bits;
  int least_exponent;  ///< of the smallest normal number
  int greatest;        ///< the bits of the greatest finite number
  int nan;             ///< the canonical one
};
constexpr Format kE5m2{2, -14, 0x7b, 0x7e};
constexpr Format kE4m3{3, -6, 0x7e, 0x7f};
constexpr int kInfinity = 0x7c;  ///< e5m2 alone has one

const Format* format_of(DType dtype) noexcept {
  if (dtype == DType::f8_e5m2) return &kE5m2;
  return dtype == DType::f8_e4m3 ? &kE4m3 : nullptr;
}

Real decode(const Format& format, int bits) {
  const int magnitude = bits & 0x7f;
  Real value = std::numeric_limits<Real>::quiet_NaN();
  if (magnitude <= format.greatest) {
    const int field = magnitude >> format.fraction_bits, one = 1 << format.fraction_bits;
    const int units = (magnitude & (one - 1)) + (field > 0 ? one : 0);
    const int power = format.least_exponent - format.fraction_bits + std::max(field - 1, 0);
    value = Real{units * std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023) << 52)};
  } else if (format.nan == kE5m2.nan && magnitude == kInfinity) {
    value = std::numeric_limits<Real>::infinity();
  }
  return (bits & 0x80) != 0 ? -value : value;
}

int encode(const Format& format, Real value) {
  if (std::isnan(value)) return format.nan;
  const int sign = std::signbit(value) ? 0x80 : 0;
  const Real magnitude = std::fabs(value);
  // The bits of numbers are in their order: the nearest is the last that is not above, or the next.
  int below = 0;
  for (int step = 0x40; step > 0; step /= 2)
    if (below + step <= format.greatest && decode(format, below + step) <= magnitude) below += step;
  const Real least = decode(format, below);
  const Real gap = below < format.greatest ? decode(format, below + 1) - least : least - decode(format, below - 1);
  const Real rest = magnitude - least;
  const bool up = rest > gap / 2 || (rest == gap / 2 && (below & 1) != 0);
  if (!up) return sign | below;
  if (below < format.greatest) return sign | (below + 1);
  return format.nan == kE5m2.nan ? sign | kInfinity : format.nan;
}

/// Half to even; `value` is small.
int nearest(Real value) {
  const int whole = static_cast<int>(value);
  const Real rest = std::fabs(value - static_cast<Real>(whole));
  const bool away = rest > 0.5L || (rest == 0.5L && whole % 2 != 0);
  return whole + (away ? (value < 0 ? -1 : 1) : 0);
}

int lowest_of(DType dtype) { return dtype == DType::s4 ? -8 : 0; }
int highest_of(DType dtype) { return dtype == DType::s4 ? 7 : 15; }

}  // namespace

bool is_narrow(DType dtype) noexcept { return format_of(dtype) != nullptr || dtype == DType::s4 || dtype == DType::u4; }

Real load_narrow(DType dtype, const void* data, std::int64_t index) {
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  if (const Format* format = format_of(dtype)) return decode(*format, bytes[index]);
  const int half = bytes[index / 2] >> (index % 2 * 4) & 0xf;
  return dtype == DType::s4 && half > 7 ? half - 16 : half;
}

void store_narrow(DType dtype, void* data, std::int64_t index, Real value) {
  auto* bytes = static_cast<std::uint8_t*>(data);
  if (const Format* format = format_of(dtype)) {
    bytes[index] = static_cast<std::uint8_t>(encode(*format, value));
    return;
  }
  const Real low = lowest_of(dtype), high = highest_of(dtype);
  const int whole = std::isnan(value) ? 0 : nearest(std::clamp(value, low, high));
  const int shift = static_cast<int>(index % 2) * 4;
  std::uint8_t& byte = bytes[index / 2];
  byte = static_cast<std::uint8_t>((byte & ~(0xf << shift)) | (whole & 0xf) << shift);
}

Real largest_narrow(DType dtype) noexcept {
  const Format* const format = format_of(dtype);
  return format != nullptr ? decode(*format, format->greatest) : highest_of(dtype);
}

}  // namespace tenfold::graph
