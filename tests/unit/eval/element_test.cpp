// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores of single elements: exhaustive for the 16-bit formats, on both sides of every rounding boundary.
#include "graph/eval/element.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tensors.hpp"

namespace tenfold::graph {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::uint16_t stored16(DType dtype, double value) {
  std::uint16_t bits = 0;
  store_real(dtype, &bits, 0, value);
  return bits;
}

template <class T>
T stored(DType dtype, double value) {
  T element;
  store_real(dtype, &element, 0, value);
  return element;
}

class Sixteen : public ::testing::TestWithParam<DType> {
 protected:
  std::uint16_t infinity() const { return GetParam() == DType::bf16 ? 0x7f80 : 0x7c00; }
  std::uint16_t nan() const { return GetParam() == DType::bf16 ? 0x7fc0 : 0x7e00; }
};

TEST_P(Sixteen, EveryPatternRoundTrips) {
  for (std::uint32_t i = 0; i <= 0xffff; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const double value = load_real(GetParam(), &bits, 0);
    ASSERT_EQ(std::isnan(value), (bits & 0x7fff) > infinity());
    ASSERT_EQ(stored16(GetParam(), value), std::isnan(value) ? nan() : bits) << i;
  }
}

TEST_P(Sixteen, EveryMidpointGoesToEvenAndItsNeighboursDoNot) {
  for (std::uint32_t i = 0; i < infinity(); ++i) {
    const auto low = static_cast<std::uint16_t>(i);
    const auto high = static_cast<std::uint16_t>(i + 1);
    const double a = load_real(GetParam(), &low, 0);
    // Above the greatest finite number, the format goes on as if infinity were the next power of two.
    const double b = high == infinity() ? a + ulp(GetParam(), a) : load_real(GetParam(), &high, 0);
    const double middle = (a + b) / 2;
    const std::uint16_t even = (low & 1) == 0 ? low : high;
    ASSERT_EQ(stored16(GetParam(), middle), even) << i;
    ASSERT_EQ(stored16(GetParam(), std::nextafter(middle, -kInf)), low) << i;
    ASSERT_EQ(stored16(GetParam(), std::nextafter(middle, kInf)), high) << i;
    ASSERT_EQ(stored16(GetParam(), -middle), even | 0x8000) << i;
    ASSERT_EQ(stored16(GetParam(), -std::nextafter(middle, kInf)), high | 0x8000) << i;
  }
}

TEST_P(Sixteen, ExtremesOverflowUnderflowAndKeepTheirSign) {
  EXPECT_EQ(stored16(GetParam(), kInf), infinity());
  EXPECT_EQ(stored16(GetParam(), -kInf), infinity() | 0x8000);
  EXPECT_EQ(stored16(GetParam(), 1e300), infinity());
  EXPECT_EQ(stored16(GetParam(), 5e-324), 0);
  EXPECT_EQ(stored16(GetParam(), -5e-324), 0x8000);
  EXPECT_EQ(stored16(GetParam(), -0.0), 0x8000);
  EXPECT_EQ(stored16(GetParam(), kNan), nan());
  EXPECT_EQ(stored16(GetParam(), -kNan), nan());
}

INSTANTIATE_TEST_SUITE_P(Formats, Sixteen, ::testing::Values(DType::bf16, DType::f16),
                         [](const auto& format) { return std::string(to_string(format.param)); });

TEST(Element, ASixteenBitStoreDoesNotRoundByWayOfF32) {
  // Just above the midpoint of 1 and 1 + 2^-7: f32 would round it down to the midpoint, and that to even.
  EXPECT_EQ(stored16(DType::bf16, 1 + 0x1p-8 + 0x1p-40), 0x3f81);
  EXPECT_EQ(stored16(DType::bf16, 1 + 0x1p-8), 0x3f80);
  EXPECT_EQ(stored16(DType::f16, 1 + 0x1p-11 + 0x1p-40), 0x3c01);
}

TEST(Element, NanIsCanonical) {
  EXPECT_EQ(stored<std::uint32_t>(DType::f32, -kNan), 0x7fc00000U);
  EXPECT_EQ(stored<std::uint64_t>(DType::f64, -kNan), 0x7ff8000000000000U);
}

TEST(Element, F32RoundsOnceWithSubnormalsAndOverflow) {
  EXPECT_EQ(stored<float>(DType::f32, 1 + 0x1p-24), 1.0F);
  EXPECT_EQ(stored<float>(DType::f32, 1 + 0x1p-24 + 0x1p-50), 1.0F + 0x1p-23F);
  EXPECT_EQ(stored<float>(DType::f32, 0x1p-149 * 1.5), 0x1p-148F);
  EXPECT_EQ(stored<float>(DType::f32, 0x1p-150), 0.0F);
  EXPECT_EQ(stored<float>(DType::f32, 0x1p128), std::numeric_limits<float>::infinity());
  EXPECT_EQ(stored<float>(DType::f32, 0x1p128 - 0x1p103 - 0x1p75), std::numeric_limits<float>::max());
}

TEST(Element, IntegersRoundToEvenAndSaturate) {
  EXPECT_EQ(stored<std::int8_t>(DType::s8, 2.5), 2);
  EXPECT_EQ(stored<std::int8_t>(DType::s8, 3.5), 4);
  EXPECT_EQ(stored<std::int8_t>(DType::s8, -2.5), -2);
  EXPECT_EQ(stored<std::int8_t>(DType::s8, 1000), 127);
  EXPECT_EQ(stored<std::int8_t>(DType::s8, -kInf), -128);
  EXPECT_EQ(stored<std::uint8_t>(DType::u8, -1), 0);
  EXPECT_EQ(stored<std::uint64_t>(DType::u64, 1e300), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(stored<std::int64_t>(DType::s64, -1e300), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(stored<std::int32_t>(DType::s32, kNan), 0);
  EXPECT_EQ(stored<std::uint8_t>(DType::boolean, 0.25), 1);
  EXPECT_EQ(stored<std::uint8_t>(DType::boolean, 0), 0);
}

TEST(Element, SixtyFourBitIntegersAreExact) {
  const std::uint64_t big = std::numeric_limits<std::uint64_t>::max() - 1;
  std::uint64_t copy = 0;
  store_integer(DType::u64, &copy, 0, load_integer(DType::u64, &big, 0));
  EXPECT_EQ(copy, big);
  store_rounded(DType::u64, &copy, 0, load_exact(DType::u64, &big, 0));
  EXPECT_EQ(copy, big);
  // 2^60 + 2^36 + 1 lies just above an f32 midpoint; by way of double it would fall onto it, and to even.
  const std::int64_t above = (std::int64_t{1} << 60) + (std::int64_t{1} << 36) + 1;
  float rounded = 0;
  convert(DType::s64, &above, 0, DType::f32, &rounded, 0);
  EXPECT_EQ(rounded, 0x1p60F + 0x1p37F);
}

TEST(Element, ConvertTruncatesRealsAndWrapsIntegers) {
  const auto convert_to_s8 = [](float value) {
    std::int8_t out = 0;
    convert(DType::f32, &value, 0, DType::s8, &out, 0);
    return out;
  };
  EXPECT_EQ(convert_to_s8(2.9F), 2);
  EXPECT_EQ(convert_to_s8(-2.9F), -2);
  EXPECT_EQ(convert_to_s8(300.0F), 127);
  const std::int32_t wide = 0x1ff;
  std::uint8_t narrow = 0;
  convert(DType::s32, &wide, 0, DType::u8, &narrow, 0);
  EXPECT_EQ(narrow, 0xff);
  convert(DType::s32, &wide, 0, DType::boolean, &narrow, 0);
  EXPECT_EQ(narrow, 1);
}

TEST(Element, UlpIsTheDistanceToTheNeighbour) {
  EXPECT_EQ(ulp(DType::f32, 1), 0x1p-23);
  EXPECT_EQ(ulp(DType::f32, -1.9), 0x1p-23);
  EXPECT_EQ(ulp(DType::f32, 0), 0x1p-149);
  EXPECT_EQ(ulp(DType::bf16, 1), 0x1p-7);
  EXPECT_EQ(ulp(DType::f16, 1e-7), 0x1p-24);
  EXPECT_EQ(ulp(DType::f16, 65504), 32);
  EXPECT_EQ(ulp(DType::s32, 5), 1);
  EXPECT_EQ(static_cast<double>(largest_finite(DType::f16)), 65504);
  EXPECT_EQ(static_cast<double>(largest_finite(DType::f32)), static_cast<double>(std::numeric_limits<float>::max()));
  EXPECT_EQ(static_cast<double>(largest_finite(DType::f64)), std::numeric_limits<double>::max());
}

}  // namespace
}  // namespace tenfold::graph
