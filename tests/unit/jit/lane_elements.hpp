// SPDX-License-Identifier: Apache-2.0
//
// Elements in memory and in lanes, and which ones the tests of lane programs try.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "graph/eval/element.hpp"
#include "jit/function/functions.hpp"
#include "lane_interpreter.hpp"
#include "tenfold/tensor.hpp"

namespace tenfold::jit {

inline constexpr DType kDTypesToTest[] = {DType::f32, DType::f64, DType::bf16,   DType::f16, DType::s8,
                                          DType::u8,  DType::s16, DType::u16,    DType::s32, DType::u32,
                                          DType::s64, DType::u64, DType::boolean};

/// Elements of a dtype, one after the other.
struct Elements {
  DType dtype;
  std::vector<std::byte> bytes;
  Elements(DType d, std::size_t count) : dtype(d), bytes(count * static_cast<std::size_t>(byte_size(d))) {}
  std::size_t size() const { return bytes.size() / static_cast<std::size_t>(byte_size(dtype)); }
  TensorDesc desc() const { return {dtype, {static_cast<std::int64_t>(size())}, {}}; }
  void set_bits(std::size_t i, std::uint64_t bits) {
    if (dtype == DType::boolean) bits &= 1;
    std::memcpy(bytes.data() + i * static_cast<std::size_t>(byte_size(dtype)), &bits,
                static_cast<std::size_t>(byte_size(dtype)));
  }
  std::uint64_t bits(std::size_t i) const {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + i * static_cast<std::size_t>(byte_size(dtype)),
                static_cast<std::size_t>(byte_size(dtype)));
    return value;
  }
  graph::Real real(std::size_t i) const { return graph::load_exact(dtype, bytes.data(), static_cast<std::int64_t>(i)); }
};

/// As a vector layer loads and stores them.
inline std::vector<std::byte> load_lanes(const Elements& from) {
  const LaneType type = lane_type(from.dtype);
  std::vector<std::byte> lanes(from.size() * static_cast<std::size_t>(lane_bytes(type)));
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::uint64_t bits = from.bits(i);
    const int width = row(from.dtype).bits;
    if (from.dtype == DType::bf16 || from.dtype == DType::f16)
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(from.real(i)));
    else if (row(from.dtype).kind == DTypeKind::signed_integer)
      bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << (64 - width)) >> (64 - width));
    const auto bytes = static_cast<std::size_t>(lane_bytes(type));
    std::memcpy(lanes.data() + i * bytes, &bits, bytes);
  }
  return lanes;
}

inline void store_lanes(Elements& to, const std::vector<std::byte>& lanes) {
  const auto bytes = static_cast<std::size_t>(lane_bytes(lane_type(to.dtype)));
  for (std::size_t i = 0; i < to.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, lanes.data() + i * bytes, bytes);
    const auto index = static_cast<std::int64_t>(i);
    if (lane_type(to.dtype) == LaneType::f32)
      graph::store_rounded(to.dtype, to.bytes.data(), index, std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    else if (to.dtype == DType::f64)
      graph::store_rounded(to.dtype, to.bytes.data(), index, std::bit_cast<double>(bits));
    else
      std::memcpy(to.bytes.data() + i * static_cast<std::size_t>(byte_size(to.dtype)), &bits,
                  static_cast<std::size_t>(byte_size(to.dtype)));
  }
}

inline void run_program(const LaneProgram& program, const std::vector<Elements>& inputs, Elements& output) {
  std::vector<std::vector<std::byte>> lanes;
  for (const Elements& input : inputs) lanes.push_back(load_lanes(input));
  std::vector<const void*> pointers;
  for (const std::vector<std::byte>& input : lanes) pointers.push_back(input.data());
  std::vector<std::byte> out(output.size() * static_cast<std::size_t>(lane_bytes(lane_type(output.dtype))));
  void* const results[] = {out.data()};
  interpret(program, output.size(), pointers, results);
  store_lanes(output, out);
}

inline std::vector<std::uint64_t> special_bits(DType dtype) {
  std::vector<std::uint64_t> bits;
  const int width = row(dtype).bits;
  if (!is_floating(dtype)) {
    for (int shift = 0; shift < width; ++shift)
      for (const std::int64_t delta : {-1, 0, 1}) bits.push_back((1ULL << shift) + static_cast<std::uint64_t>(delta));
    for (std::uint64_t i = 0; i < 9; ++i) bits.push_back(i), bits.push_back(~i), bits.push_back((~0ULL >> 1) - i);
    return bits;
  }
  Elements one(dtype, 1);
  const auto add = [&](long double value) {
    for (const long double sign : {1.0L, -1.0L}) {
      graph::store_rounded(dtype, one.bytes.data(), 0, sign * value);
      const std::uint64_t at = one.bits(0);
      for (const std::uint64_t near : {at, at + 1, at - 1}) bits.push_back(near);
    }
  };
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double x : {0.0,
                         infinity,
                         0.5,
                         1.0,
                         1.5,
                         2.0,
                         2.5,
                         3.0,
                         4.0,
                         6.0,
                         7.0,
                         0.25,
                         0.1,
                         1e-3,
                         1e-10,
                         1e10,
                         10.0,
                         1.5707963267948966,
                         3.1415926535897931,
                         0.70710678118654752,
                         1.4142135623730951,
                         9.0,
                         17.0,
                         19.0,
                         13.5,
                         14.5,
                         87.5,
                         88.72,
                         103.9,
                         104.0,
                         709.78,
                         745.1,
                         2147483648.0,
                         4294967296.0,
                         8388607.5,
                         0x1p-126,
                         0x1p-149,
                         0x1p-140,
                         0x1p-1022,
                         0x1p-1060,
                         0x1p-24,
                         0x1p-25,
                         0x1p-14,
                         1e30,
                         1e300,
                         0x1p63,
                         0x1p64,
                         127.5,
                         128.5,
                         255.5,
                         32767.5,
                         65535.5,
                         0x1p53,
                         0x1p52})
    add(x);
  add(graph::largest_finite(dtype));
  const std::uint64_t exponent = row(dtype).bits == 64 ? 0x7ff0000000000000U
                                 : dtype == DType::f32 ? 0x7f800000U
                                 : dtype == DType::f16 ? 0x7c00U
                                                       : 0x7f80U;
  for (const std::uint64_t nan :
       {exponent + 1, exponent | exponent >> 1, exponent | std::uint64_t{1} << (width - 1) | 5})
    bits.push_back(nan);
  return bits;
}

/// Random bits, half of the reals with moderate exponents.
inline std::uint64_t random_bits(DType dtype, std::mt19937_64& random) {
  const std::uint64_t bits = random();
  if (!is_floating(dtype) || bits % 2 == 0) {
    if (!is_floating(dtype) && bits % 4 == 1) return random() % 16 - 8;
    return random();
  }
  Elements one(dtype, 1);
  const double magnitude =
      std::ldexp(1 + static_cast<double>(random() >> 12) * 0x1p-52, static_cast<int>(random() % 17) - 9);
  graph::store_rounded(dtype, one.bytes.data(), 0, bits % 4 == 1 ? magnitude : -magnitude);
  return one.bits(0);
}

/// 50,000 times TENFOLD_TEST_CASES.
inline std::size_t random_count() {
  const char* const text = std::getenv("TENFOLD_TEST_CASES");
  const double factor = text == nullptr || *text == '\0' ? 1 : std::strtod(text, nullptr);
  return std::max<std::size_t>(1, static_cast<std::size_t>(50000 * factor));
}

/// TENFOLD_TEST_SEED's, or a fresh one; printed.
inline std::uint64_t printed_seed() {
  const char* const given = std::getenv("TENFOLD_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

}  // namespace tenfold::jit
