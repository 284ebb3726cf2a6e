// SPDX-License-Identifier: Apache-2.0
//
// Every cast between every two dtypes against the reference: all values of 8 and 16 bits, special and random ones of
// others; and normalized() after integer results that are wider than their dtype.
#include <gtest/gtest.h>

#include "graph/eval/element.hpp"
#include "lane_elements.hpp"

namespace tenfold::jit {
namespace {

/// Half-way points of narrow formats among the values: 64-bit numbers of few leading bits, then one far below.
std::uint64_t near_tie(DType dtype, std::mt19937_64& random) {
  const int width = row(dtype).bits;
  const std::uint64_t leading = (random() | 1ULL << 63) & ~0ULL << (64 - 12 - random() % 16);
  const int shift = static_cast<int>(random() % static_cast<unsigned>(width));
  std::uint64_t value = (leading >> (64 - width) >> shift) + random() % 3 - 1;
  if (random() % 2 == 0) value = 0 - value;
  if (!is_floating(dtype)) return value;
  Elements one(dtype, 1);
  const int exponent = static_cast<int>(random() % 300) - 200;
  const auto magnitude = std::ldexp(static_cast<long double>(leading | (random() % 3 == 0 ? 1024 : 0)), exponent - 63);
  graph::store_rounded(dtype, one.bytes.data(), 0, random() % 2 == 0 ? magnitude : -magnitude);
  return one.bits(0);
}

Elements inputs_of(DType dtype, std::mt19937_64& random) {
  if (row(dtype).bits <= 16) {
    const std::size_t count = dtype == DType::boolean ? 2 : std::size_t{1} << row(dtype).bits;
    Elements all(dtype, count);
    for (std::size_t i = 0; i < count; ++i) all.set_bits(i, i);
    return all;
  }
  const std::vector<std::uint64_t> special = special_bits(dtype);
  Elements some(dtype, special.size() + 2 * random_count());
  for (std::size_t i = 0; i < some.size(); ++i)
    some.set_bits(i, i < special.size() ? special[i]
                     : i % 2 == 0       ? near_tie(dtype, random)
                                        : random_bits(dtype, random));
  return some;
}

TEST(Casts, EqualTheReference) {
  std::mt19937_64 random(printed_seed());
  for (const DType from : kDTypesToTest) {
    const Elements input = inputs_of(from, random);
    for (const DType to : kDTypesToTest) {
      ASSERT_TRUE(has_cast(from, to));
      LaneBuilder builder;
      builder.result(cast_lane(from, to, builder.input(0, lane_type(from))));
      Elements got(to, input.size());
      run_program(builder.finish(), {input}, got);
      for (std::size_t i = 0; i < input.size(); ++i) {
        Elements expected(to, 1);
        graph::convert(from, input.bytes.data(), static_cast<std::int64_t>(i), to, expected.bytes.data(), 0);
        ASSERT_EQ(got.bits(i), expected.bits(0)) << to_string(from) << " to " << to_string(to) << ": " << input.real(i)
                                                 << " gives " << got.real(i) << ", expected " << expected.real(0);
      }
    }
  }
  EXPECT_FALSE(has_cast(DType::f8_e5m2, DType::f32));
  EXPECT_FALSE(has_cast(DType::s32, DType::u4));
}

/// What cast_lane() gives is normalized: casting on needs no repair.
TEST(Casts, ComeOutNormalized) {
  std::mt19937_64 random(printed_seed());
  for (const DType from : kDTypesToTest) {
    const Elements input = inputs_of(from, random);
    for (const DType to : kDTypesToTest) {
      LaneBuilder builder;
      const Lane once = cast_lane(from, to, builder.input(0, lane_type(from)));
      const Lane again = normalized(to, once);
      builder.result(is_real(once.type) ? canonical_nan(once) : once);
      builder.result(is_real(once.type) ? canonical_nan(again) : again);
      const auto bytes = input.size() * static_cast<std::size_t>(lane_bytes(once.type));
      std::vector<std::byte> first(bytes);
      std::vector<std::byte> second(bytes);
      const std::vector<std::byte> lanes = load_lanes(input);
      const void* const inputs[] = {lanes.data()};
      void* const results[] = {first.data(), second.data()};
      interpret(builder.finish(), input.size(), inputs, results);
      EXPECT_EQ(first, second) << to_string(from) << " to " << to_string(to);
    }
  }
}

TEST(Casts, NormalizedKeepsLowBits) {
  LaneBuilder builder;
  const Lane x = builder.input(0, LaneType::i32);
  const DType dtypes[] = {DType::s8, DType::u8, DType::s16, DType::u16, DType::s32, DType::u32};
  for (const DType dtype : dtypes) builder.result(normalized(dtype, x));
  const std::int32_t values[] = {0, 1, -1, 127, 128, 255, 256, -129, 32767, 32768, 65535, 65536, -32769, 1 << 30};
  std::int32_t got[6][std::size(values)];
  const void* const inputs[] = {values};
  void* const results[] = {got[0], got[1], got[2], got[3], got[4], got[5]};
  interpret(builder.finish(), std::size(values), inputs, results);
  for (std::size_t i = 0; i < std::size(values); ++i) {
    EXPECT_EQ(got[0][i], static_cast<std::int8_t>(values[i]));
    EXPECT_EQ(got[1][i], static_cast<std::uint8_t>(values[i]));
    EXPECT_EQ(got[2][i], static_cast<std::int16_t>(values[i]));
    EXPECT_EQ(got[3][i], static_cast<std::uint16_t>(values[i]));
    EXPECT_EQ(got[4][i], values[i]);
    EXPECT_EQ(got[5][i], values[i]);
  }
}

/// In lanes of 16 bits, where nothing is converted.
TEST(Casts, BitsOfNarrowFloatsKeepAllButNans) {
  for (const DType dtype : {DType::bf16, DType::f16}) {
    LaneBuilder builder;
    builder.result(canonical_nan_of_bits(dtype, builder.input(0, LaneType::i16)));
    std::mt19937_64 unused;
    const Elements all = inputs_of(dtype, unused);
    Elements got(dtype, all.size());
    const void* const from[] = {all.bytes.data()};
    void* const to[] = {got.bytes.data()};
    interpret(builder.finish(), all.size(), from, to);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::uint64_t nan = dtype == DType::bf16 ? 0x7fc0 : 0x7e00;
      ASSERT_EQ(got.bits(i), std::isnan(static_cast<double>(all.real(i))) ? nan : all.bits(i)) << to_string(dtype) << i;
    }
  }
}

}  // namespace
}  // namespace tenfold::jit
