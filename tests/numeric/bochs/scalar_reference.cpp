// SPDX-License-Identifier: Apache-2.0
//
// Bounds are those of docs/numerics.md, "Error bounds". A result must lie between the rounded ends of the interval that
// the bound leaves: rounding is monotone, so this is neither stricter nor laxer than the bound.
#include "scalar_reference.hpp"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace tenfold::bochs {
namespace {

constexpr double kUnit = 0x1p-24;
/// For the roundings of this page's own sums, 2^-53 each.
constexpr double kSlack = 1.001;

/// The exact result lies in [low, high]; or it is a NaN, or not judged.
struct Expected {
  double low = 0, high = 0;
  bool judged = true;
};

Expected within(double value, double bound) { return {value - bound * kSlack, value + bound * kSlack, true}; }

std::uint32_t extreme(const DrawnCase& drawn, const Places& places, const std::byte* input, std::int64_t start) {
  const DType dtype = drawn.dtype();
  const bool greatest = drawn.reduction == Reduction::max;
  std::uint32_t best = encode(dtype, greatest ? -INFINITY : INFINITY);
  double best_value = decode(dtype, best);
  for (const std::int64_t step : places.input_steps) {
    const std::uint32_t bits = load_bits(dtype, input, start + step);
    const double value = decode(dtype, bits);
    if (std::isnan(value)) return format_of(dtype).canonical_nan();
    const bool better_zero = value == 0 && best_value == 0 && std::signbit(value) != greatest;
    if (better_zero || (greatest ? value > best_value : value < best_value)) {
      best = bits;
      best_value = value;
    }
  }
  return best;
}

/// Whether every product of up to 16 elements stays within f32's normal range and every product within f64's: told by
/// the product of all that grow it, of all that shrink it, and by the largest and smallest to the 16th.
bool stays_in_range(double above, double below, double largest, double smallest) {
  constexpr double kChain = 16;
  const bool chains = std::pow(largest, kChain) < 0x1p127 && std::pow(smallest, kChain) > 0x1p-126;
  return (above < 0x1p127 && below > 0x1p-126) || (chains && above < 0x1p1000 && below > 0x1p-1000);
}

Expected product(const DrawnCase& drawn, const Places& places, const std::byte* input, std::int64_t start) {
  double value = 1, above = 1, below = 1, largest = 1, smallest = 1;
  for (const std::int64_t step : places.input_steps) {
    const double x = decode(drawn.dtype(), load_bits(drawn.dtype(), input, start + step));
    value *= x;
    const double size = std::fabs(x);
    if (size > 1 && size < INFINITY) above *= size, largest = std::fmax(largest, size);
    if (size < 1 && size > 0) below *= size, smallest = std::fmin(smallest, size);
  }
  const double roundings = (static_cast<double>(places.input_steps.size()) + 2) * kUnit;
  Expected expected = within(value, std::isfinite(value) ? std::fabs(value) * std::expm1(roundings) : 0);
  expected.judged = stays_in_range(above, below, largest, smallest);
  return expected;
}

/// Sum, mean, L1 and L2: sums of terms.
Expected sum(const DrawnCase& drawn, const Places& places, const std::byte* input, std::int64_t start) {
  const bool squares = drawn.reduction == Reduction::l2, sizes = drawn.reduction == Reduction::l1;
  double value = 0, magnitude = 0;
  for (const std::int64_t step : places.input_steps) {
    const double x = decode(drawn.dtype(), load_bits(drawn.dtype(), input, start + step));
    const double term = squares ? x * x : sizes ? std::fabs(x) : x;
    value += term;
    if (std::isfinite(term)) magnitude += std::fabs(term);
  }
  const auto count = static_cast<double>(places.input_steps.size());
  Expected expected;
  if (squares) {
    const double bound = (18 * kUnit * magnitude + count * 0x1p-150) * kSlack;
    expected = {std::sqrt(std::fmax(value - bound, 0)), std::sqrt(value + bound), true};
    if (std::isnan(value)) expected.low = expected.high = value;
  } else {
    const double divisor = drawn.reduction == Reduction::mean ? count : 1;
    expected = within(value / divisor, count > 0 ? 17 * kUnit * magnitude / divisor : 0);
  }
  expected.judged = magnitude < 0x1p127;
  return expected;
}

bool is_right(const DrawnCase& drawn, const Expected& expected, std::uint32_t got) {
  if (!expected.judged) return true;
  if (std::isnan(expected.low)) return got == format_of(drawn.dtype()).canonical_nan();
  const double value = decode(drawn.dtype(), got);
  const auto rounded = [&](double end) { return decode(drawn.dtype(), encode(drawn.dtype(), end)); };
  return rounded(expected.low) <= value && value <= rounded(expected.high);
}

std::string finding(std::size_t output, std::uint32_t got, double low, double high) {
  char text[160];
  std::snprintf(text, sizeof text, "output %zu is 0x%x, the reference says [%.17g, %.17g]", output, got, low, high);
  return text;
}

std::uint32_t narrow_to_f16(double value) {
  const std::uint32_t sign = std::signbit(value) ? 0x8000U : 0U;
  const double size = std::fabs(value);
  constexpr double kOverflow = 65520;  // halfway between the greatest finite one and what would follow
  if (size >= kOverflow) return sign | 0x7c00U;
  const int exponent = size < 0x1p-14 ? -14 : std::ilogb(size);
  const auto steps = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  // A carry out of the mantissa lands in the exponent, where it belongs.
  return sign | (static_cast<std::uint32_t>(exponent + 14) * 1024U + steps);
}

}  // namespace

Format format_of(DType dtype) {
  if (dtype == DType::bf16) return {8, 7, 127};
  if (dtype == DType::f16) return {5, 10, 15};
  return {8, 23, 127};
}

double decode(DType dtype, std::uint32_t bits) {
  if (dtype == DType::bf16) bits <<= 16;
  if (dtype != DType::f16) return static_cast<double>(std::bit_cast<float>(bits));
  const std::uint64_t sign = std::uint64_t{bits >> 15} << 63, mantissa = bits & 0x3ffU, exponent = bits >> 10 & 0x1fU;
  if (exponent == 0) return (sign != 0 ? -1.0 : 1.0) * static_cast<double>(mantissa) * 0x1p-24;
  const std::uint64_t wide = exponent == 0x1f ? 0x7ff : exponent + 1023 - 15;
  return std::bit_cast<double>(sign | wide << 52 | mantissa << 42);
}

std::uint32_t encode(DType dtype, double value) {
  if (std::isnan(value)) return format_of(dtype).canonical_nan();
  const auto single = static_cast<float>(value);
  const auto bits = std::bit_cast<std::uint32_t>(single);
  if (dtype == DType::f16) return narrow_to_f16(static_cast<double>(single));
  if (dtype == DType::bf16) return (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
  return bits;
}

std::uint32_t load_bits(DType dtype, const std::byte* data, std::int64_t index) {
  std::uint32_t bits = 0;
  const auto bytes = static_cast<std::size_t>(byte_size(dtype));
  std::memcpy(&bits, data + static_cast<std::size_t>(index) * bytes, bytes);
  return bits;
}

std::string judge(const DrawnCase& drawn, const Places& places, const std::byte* input, const std::byte* output) {
  const bool exact = drawn.reduction == Reduction::max || drawn.reduction == Reduction::min;
  for (std::size_t o = 0; o < places.outputs.size(); ++o) {
    const std::uint32_t got = load_bits(drawn.dtype(), output, places.outputs[o]);
    const std::int64_t start = places.input_starts[o];
    if (exact) {
      const std::uint32_t wanted = extreme(drawn, places, input, start);
      const double value = decode(drawn.dtype(), wanted);
      if (got != wanted) return finding(o, got, value, value);
      continue;
    }
    const Expected expected =
        drawn.reduction == Reduction::prod ? product(drawn, places, input, start) : sum(drawn, places, input, start);
    if (!is_right(drawn, expected, got)) return finding(o, got, expected.low, expected.high);
  }
  return "";
}

}  // namespace tenfold::bochs
