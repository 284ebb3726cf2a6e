// SPDX-License-Identifier: Apache-2.0
//
// Element conversions. f32 and f64 use the machine's own conversion from long double, which rounds once; bf16 and f16
// have graph/ir/half.hpp.
#include "graph/eval/element.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "graph/eval/eval.hpp"
#include "graph/eval/narrow.hpp"
#include "graph/ir/half.hpp"

namespace tenfold::graph {
namespace {

constexpr FloatFormat kF32{24, -126, 0x7fc00000};
constexpr FloatFormat kF64{53, -1022, 0x7ff8000000000000};

const FloatFormat& format_of(DType dtype) noexcept {
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

/// Half to even whatever the host's rounding mode; the fraction is exact.
template <class T>
T round_half_even(T value) {
  if (!(std::fabs(value) < T{0x1p63})) return value;
  const auto whole = static_cast<std::int64_t>(value);
  const T rest = std::fabs(value - static_cast<T>(whole));
  if (rest < T{0.5} || (rest == T{0.5} && whole % 2 == 0)) return static_cast<T>(whole);
  return static_cast<T>(whole) + (value < 0 ? T{-1} : T{1});
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

/// Calls `fn` with what loads an element of `dtype` as a double, by data and index.
template <class Fn>
auto with_load(DType dtype, Fn fn) {
  switch (dtype) {
    case DType::f32: return fn([](const void* data, std::int64_t i) { return double{load_as<float>(data, i)}; });
    case DType::f64: return fn([](const void* data, std::int64_t i) { return load_as<double>(data, i); });
    case DType::bf16:
      return fn([](const void* data, std::int64_t i) { return decode16<kBf16>(load_as<std::uint16_t>(data, i)); });
    case DType::f16:
      return fn([](const void* data, std::int64_t i) { return decode16<kF16>(load_as<std::uint16_t>(data, i)); });
    case DType::boolean:
      return fn([](const void* data, std::int64_t i) { return load_as<std::uint8_t>(data, i) != 0 ? 1.0 : 0.0; });
    case DType::f8_e5m2:
    case DType::f8_e4m3:
    case DType::s4:
    case DType::u4:
      return fn([=](const void* data, std::int64_t i) { return static_cast<double>(load_narrow(dtype, data, i)); });
    default:
      return with_integer_type(dtype, [&](auto zero) {
        return fn(
            [](const void* data, std::int64_t i) { return static_cast<double>(load_as<decltype(zero)>(data, i)); });
      });
  }
}

/// The nearest that T, an integer, has; half to even.
template <class T>
T nearest(double value) {
  if (std::isnan(value)) return 0;
  if (value <= static_cast<double>(std::numeric_limits<T>::lowest())) return std::numeric_limits<T>::lowest();
  if (value >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(round_half_even(value));
}

/// Calls `fn` with what stores a double as an element of `dtype`, by data, index and value: store_rounded().
template <class Fn>
void with_store(DType dtype, Fn fn) {
  switch (dtype) {
    case DType::f32:
      return fn([](void* data, std::int64_t i, double value) {
        if (std::isnan(value)) return store_as(data, i, static_cast<std::uint32_t>(kF32.nan));
        store_as(data, i, static_cast<float>(value));
      });
    case DType::f64:
      return fn([](void* data, std::int64_t i, double value) {
        if (std::isnan(value)) return store_as(data, i, kF64.nan);
        store_as(data, i, value);
      });
    case DType::bf16:
      return fn([](void* data, std::int64_t i, double value) { store_as(data, i, encode16<kBf16>(value)); });
    case DType::f16:
      return fn([](void* data, std::int64_t i, double value) { store_as(data, i, encode16<kF16>(value)); });
    case DType::boolean:
      return fn([](void* data, std::int64_t i, double value) { store_as<std::uint8_t>(data, i, value != 0 ? 1 : 0); });
    case DType::f8_e5m2:
    case DType::f8_e4m3:
    case DType::s4:
    case DType::u4:
      return fn([=](void* data, std::int64_t i, double value) { store_narrow(dtype, data, i, Real{value}); });
    default:
      return with_integer_type(dtype, [&](auto zero) {
        fn([](void* data, std::int64_t i, double value) { store_as(data, i, nearest<decltype(zero)>(value)); });
      });
  }
}

/// How many doubles wait between a load and a store.
constexpr std::int64_t kBlock = 256;

/// The integers of 4 bits too.
bool is_whole(DType dtype) noexcept { return is_integral(dtype) || dtype == DType::s4 || dtype == DType::u4; }

Integer load_whole(DType dtype, const void* data, std::int64_t index) {
  return is_narrow(dtype) ? static_cast<Integer>(load_narrow(dtype, data, index)) : load_integer(dtype, data, index);
}

/// Keeps the low bits.
void store_whole(DType dtype, void* data, std::int64_t index, Integer value) {
  if (!is_narrow(dtype)) return store_integer(dtype, data, index, value);
  const int low = static_cast<int>(value & 0xf);
  store_narrow(dtype, data, index, Real{static_cast<double>(dtype == DType::s4 && low > 7 ? low - 16 : low)});
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
    case DType::bf16: return decode16<kBf16>(load_as<std::uint16_t>(data, index));
    case DType::f16: return decode16<kF16>(load_as<std::uint16_t>(data, index));
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
      if (std::isnan(value)) return store_as(data, index, static_cast<std::uint32_t>(kF32.nan));
      return store_as(data, index, static_cast<float>(value));
    case DType::f64:
      if (std::isnan(value)) return store_as(data, index, kF64.nan);
      return store_as(data, index, static_cast<double>(value));
    case DType::bf16: return store_as(data, index, encode16<kBf16>(value));
    case DType::f16: return store_as(data, index, encode16<kF16>(value));
    case DType::boolean: return store_as<std::uint8_t>(data, index, value != 0 ? 1 : 0);
    case DType::f8_e5m2:
    case DType::f8_e4m3:
    case DType::s4:
    case DType::u4: return store_narrow(dtype, data, index, value);
    default: return store_integer(dtype, data, index, saturate(dtype, round_half_even(value)));
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

bool truncates(DType dtype) noexcept { return is_whole(dtype) && dtype != DType::boolean; }

void store_truncated(DType dtype, void* data, std::int64_t index, Real value) {
  store_rounded(dtype, data, index, truncates(dtype) ? std::trunc(value) : value);
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
  const FloatFormat& format = format_of(dtype);
  const Real units = std::ldexp(Real{1}, format.precision) - 1;
  return std::ldexp(units, 1 - format.least_exponent - (format.precision - 1));
}

double ulp(DType dtype, double value) noexcept {
  if (!std::isfinite(value)) return 0;
  if (!is_floating(dtype)) return 1;
  const FloatFormat& format = format_of(dtype);
  const int field = static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52 & 0x7ff);
  const int power = std::max(field - 1022, format.least_exponent + 1) - format.precision;
  // 2^power, as a normal or a subnormal number.
  return std::bit_cast<double>(power > -1023 ? static_cast<std::uint64_t>(power + 1023) << 52
                                             : std::uint64_t{1} << (power + 1074));
}

void convert(DType from, const void* source, std::int64_t source_index, DType to, void* target,
             std::int64_t target_index) {
  if (is_whole(from) && is_whole(to)) {
    store_whole(to, target, target_index, load_whole(from, source, source_index));
    return;
  }
  store_truncated(to, target, target_index, load_exact(from, source, source_index));
}

double load_real(DType dtype, const void* data, std::int64_t index) {
  return with_load(dtype, [&](auto load) { return load(data, index); });
}

void store_real(DType dtype, void* data, std::int64_t index, double value) {
  with_store(dtype, [&](auto store) { store(data, index, value); });
}

void load_row(DType dtype, const void* data, const Row& row, double* numbers, std::int64_t apart) {
  with_load(dtype, [&](auto load) {
    for (std::int64_t i = 0; i < row.count; ++i) numbers[i * apart] = load(data, row.first + i * row.step);
  });
}

void store_row(DType dtype, void* data, const Row& row, const double* numbers) {
  with_store(dtype, [&](auto store) {
    for (std::int64_t i = 0; i < row.count; ++i) store(data, row.first + i * row.step, numbers[i]);
  });
}

void convert_row(DType from, const void* source, Row at, DType to, void* target, Row target_at) {
  // One by one: integers that wrap, and those that a double does not hold.
  const bool wraps = is_whole(from) && is_whole(to) && from != to;
  if (wraps || from == DType::s64 || from == DType::u64) {
    for (std::int64_t i = 0; i < at.count; ++i)
      convert(from, source, at.first + i * at.step, to, target, target_at.first + i * target_at.step);
    return;
  }
  double numbers[kBlock];
  for (std::int64_t left = at.count; left > 0; left -= at.count) {
    at.count = target_at.count = std::min(left, kBlock);
    load_row(from, source, at, numbers);
    if (truncates(to)) std::transform(numbers, numbers + at.count, numbers, [](double x) { return std::trunc(x); });
    store_row(to, target, target_at, numbers);
    at.first += at.count * at.step;
    target_at.first += at.count * target_at.step;
  }
}

}  // namespace tenfold::graph
