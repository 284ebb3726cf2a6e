// SPDX-License-Identifier: Apache-2.0
//
// Rows of elements against elements one by one, and walks in rows against walks by position: the same bits, at random
// strides and shapes, with nothing written between the elements.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "graph/eval/element.hpp"
#include "graph/eval/narrow.hpp"
#include "graph/eval/walk.hpp"
#include "tensors.hpp"

namespace tenfold::graph {
namespace {

constexpr std::int64_t kCount = 700;  // more than a block of convert_row()
constexpr std::size_t kBytes = 20000;

std::vector<DType> loadable() {
  std::vector<DType> dtypes;
  for (const DTypeRow& dtype : kDTypes)
    if (has_elements(dtype.dtype) || is_narrow(dtype.dtype)) dtypes.push_back(dtype.dtype);
  return dtypes;
}

/// Numbers of any exponent, halves, whole numbers about the ends of integers, and what is no number.
double draw(std::mt19937_64& random) {
  constexpr double kSpecial[] = {0.0,
                                 -0.0,
                                 std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::denorm_min(),
                                 0x1p63,
                                 -0x1p63,
                                 0x1.fffffffffffffp63,
                                 0x1.fffffep127,
                                 0x1.ffffffp127};
  const auto bits = random();
  switch (bits % 5) {
    case 0:
      return std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())),
                        static_cast<int>(bits >> 9 & 0xff) - 190);
    case 1: return static_cast<double>(static_cast<std::int64_t>(random() >> (bits >> 9 & 0x3f))) / 2;
    case 2: return -static_cast<double>(random() >> (bits >> 9 & 0x3f)) / 2;
    case 3: return std::bit_cast<double>(random());
    default: return kSpecial[(bits >> 9) % std::size(kSpecial)];
  }
}

Row draw_row(std::mt19937_64& random) {
  return {static_cast<std::int64_t>(random() % 8), static_cast<std::int64_t>(1 + random() % 3), kCount};
}

std::vector<char> random_bytes(std::mt19937_64& random) {
  std::vector<char> bytes(kBytes);
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

class Rows : public ::testing::Test {
 protected:
  static constexpr unsigned kSeed = 2611;
  std::mt19937_64 random_{kSeed};
  ::testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(kSeed)};
};

TEST_F(Rows, LoadWhatElementsAre) {
  for (const DType dtype : loadable()) {
    const std::vector<char> bytes = random_bytes(random_);
    const Row row = draw_row(random_);
    const std::int64_t apart = 1 + static_cast<std::int64_t>(random_() % 3);
    std::vector<double> numbers(static_cast<std::size_t>(kCount * apart), 17);
    load_row(dtype, bytes.data(), row, numbers.data(), apart);
    for (std::int64_t i = 0; i < kCount * apart; ++i) {
      const double got = numbers[static_cast<std::size_t>(i)];
      const auto want =
          i % apart != 0 ? 17 : static_cast<double>(load_exact(dtype, bytes.data(), row.first + i / apart * row.step));
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(got)) << to_string(dtype);
        continue;
      }
      ASSERT_EQ(got, want) << to_string(dtype) << " " << i;
      ASSERT_EQ(std::signbit(got), std::signbit(want)) << to_string(dtype) << " " << i;
    }
  }
}

TEST_F(Rows, StoreWhatElementsAreStoredAs) {
  for (const DType dtype : loadable())
    for (int round = 0; round < 20; ++round) {
      std::vector<char> got = random_bytes(random_), want = got;
      const Row row = draw_row(random_);
      std::vector<double> numbers(static_cast<std::size_t>(kCount));
      std::generate(numbers.begin(), numbers.end(), [&] { return draw(random_); });
      store_row(dtype, got.data(), row, numbers.data());
      for (std::int64_t i = 0; i < kCount; ++i)
        store_rounded(dtype, want.data(), row.first + i * row.step, Real{numbers[static_cast<std::size_t>(i)]});
      ASSERT_EQ(got, want) << to_string(dtype);
    }
}

TEST_F(Rows, ConvertWhatElementsAreConvertedTo) {
  for (const DType from : loadable())
    for (const DType to : loadable()) {
      if (from != to && (is_narrow(from) || is_narrow(to))) continue;
      const std::vector<char> source = random_bytes(random_);
      std::vector<char> got = random_bytes(random_), want = got;
      const Row at = draw_row(random_), target = draw_row(random_);
      convert_row(from, source.data(), at, to, got.data(), target);
      for (std::int64_t i = 0; i < kCount; ++i)
        convert(from, source.data(), at.first + i * at.step, to, want.data(), target.first + i * target.step);
      ASSERT_EQ(got, want) << to_string(from) << " to " << to_string(to);
    }
}

TEST(NarrowRows, WholeNumbersOf4BitsAreTheNearestEvenOnes) {
  for (int quarters = -80; quarters <= 80; ++quarters)
    for (const DType dtype : {DType::s4, DType::u4})
      for (const double off : {-0x1p-40, 0.0, 0x1p-40}) {
        const double number = quarters / 4.0 + off;
        const double low = dtype == DType::s4 ? -8 : 0, high = dtype == DType::s4 ? 7 : 15;
        std::uint8_t byte = 0;
        store_real(dtype, &byte, 0, number);
        ASSERT_EQ(load_real(dtype, &byte, 0), std::nearbyint(std::clamp(number, low, high))) << number;
      }
}

TEST_F(Rows, AWalkInRowsMeetsEveryPositionInOrder) {
  constexpr std::int64_t kDims[] = {0, 1, 1, 2, 3, 5, 600};
  for (int round = 0; round < 2000; ++round) {
    Dims shape(random_() % 5);
    for (std::int64_t& dim : shape) dim = kDims[random_() % (shape.size() > 2 ? 6 : std::size(kDims))];
    // Contiguous, so that dims are joined; or of any strides.
    std::array<Dims, 2> strides{row_major_strides(shape), row_major_strides(shape)};
    if (random_() % 2 != 0)
      for (std::int64_t& stride : strides[1]) stride = static_cast<std::int64_t>(random_() % 9) - 4;
    std::vector<std::array<std::int64_t, 2>> wanted, met;
    walk(shape, strides, [&](const auto& at) { wanted.push_back(at); });
    walk_rows(shape, strides, [&](const auto& at, const auto& steps, std::int64_t count) {
      ASSERT_LE(count, kLongestRow);
      for (std::int64_t i = 0; i < count; ++i) met.push_back({at[0] + i * steps[0], at[1] + i * steps[1]});
    });
    ASSERT_EQ(met, wanted) << "round " << round;
  }
}

}  // namespace
}  // namespace tenfold::graph
