// SPDX-License-Identifier: Apache-2.0
//
// Sums of short rows, and of rows of cells, that end in bf16 or f16 add up in the order that the contract names, and in
// f32 for as long as it says: 16 lanes' chains, then lanes half as far apart each time.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "graph/eval/element.hpp"
#include "prepared_case.hpp"
#include "sum_run.hpp"

namespace tenfold::numeric {
namespace {

constexpr std::int64_t kLanes = 16, kMostAdditions = 15;
/// More than a block, and a part of one.
constexpr std::int64_t kRows = 45;

struct Rows {
  DType dtype;
  std::int64_t count, cell;
};

/// `Wide` is the type of the levels above the chains.
template <class Wide>
float tree_of(const std::array<float, kLanes>& chains, std::int64_t lanes) {
  std::array<Wide, kLanes> sums{};
  std::copy(chains.begin(), chains.end(), sums.begin());
  for (std::int64_t distance = lanes / 2; distance > 0; distance /= 2)
    for (std::int64_t i = 0; i < distance; ++i)
      sums[static_cast<std::size_t>(i)] += sums[static_cast<std::size_t>(i + distance)];
  return static_cast<float>(sums[0]);
}

/// As many elements of a column are taken at a time as the 16 lanes have room for cells.
std::int64_t lanes_of(std::int64_t cell) {
  return kLanes / static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(cell)));
}
std::int64_t additions_of(std::int64_t count, std::int64_t lanes) {
  return (count + lanes - 1) / lanes - 1 + std::countr_zero(static_cast<std::uint64_t>(lanes));
}

/// Of one row, or of one column of a row of cells.
float expected_sum(const std::vector<float>& elements, std::int64_t cell) {
  const std::int64_t lanes = lanes_of(cell);
  const auto count = static_cast<std::int64_t>(elements.size());
  std::array<float, kLanes> chains{};
  for (std::int64_t i = 0; i < count; ++i)
    chains[static_cast<std::size_t>(i % lanes)] += elements[static_cast<std::size_t>(i)];
  return additions_of(count, lanes) <= kMostAdditions ? tree_of<float>(chains, lanes) : tree_of<double>(chains, lanes);
}

/// Large elements, each of which has its like of the other sign somewhere in the row, and small ones: what is left of
/// a row is mostly what f32 has rounded.
std::vector<float> draw(const Rows& rows, std::mt19937& random) {
  std::uniform_real_distribution<float> significand(1, 2);
  std::uniform_int_distribution<int> exponent(0, 12);
  std::vector<float> elements;
  for (std::int64_t row = 0; row < kRows; ++row) {
    std::vector<float> of_row;
    for (std::int64_t i = 0; i < rows.count * rows.cell; ++i)
      of_row.push_back(i % 2 == 1 ? -of_row.back() : std::ldexp(significand(random), exponent(random)));
    std::shuffle(of_row.begin(), of_row.end(), random);
    for (float& element : of_row) element += significand(random) * 0x1p-7F;
    elements.insert(elements.end(), of_row.begin(), of_row.end());
  }
  return elements;
}

/// Bits as they are stored, and the numbers that these are.
struct Stored {
  std::vector<std::uint16_t> bits;
  std::vector<float> numbers;
};
Stored store(DType dtype, const std::vector<float>& values) {
  Stored stored{std::vector<std::uint16_t>(values.size()), {}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    graph::store_rounded(dtype, stored.bits.data(), static_cast<std::int64_t>(i), values[i]);
    stored.numbers.push_back(
        static_cast<float>(graph::load_exact(dtype, stored.bits.data(), static_cast<std::int64_t>(i))));
  }
  return stored;
}

void expect_order(const Rows& rows, std::mt19937& random) {
  const Stored input = store(rows.dtype, draw(rows, random));
  std::vector<float> sums;
  for (std::int64_t row = 0; row < kRows; ++row) {
    for (std::int64_t column = 0; column < rows.cell; ++column) {
      std::vector<float> elements;
      for (std::int64_t i = 0; i < rows.count; ++i)
        elements.push_back(input.numbers[static_cast<std::size_t>((row * rows.count + i) * rows.cell + column)]);
      sums.push_back(expected_sum(elements, rows.cell));
    }
  }
  const Stored expected = store(rows.dtype, sums);
  const graph::Graph sum = sum_over(rows.dtype, {kRows, rows.count, rows.cell}, 1);
  for (const target::Isa isa : native_levels()) {
    std::vector<std::uint16_t> output(sums.size());
    run_sum(sum, isa, input.bits, output);
    for (std::size_t i = 0; i < sums.size(); ++i)
      ASSERT_EQ(output[i], expected.bits[i]) << target::to_string(isa) << ", " << row(rows.dtype).name << ", rows of "
                                             << rows.count << " cells of " << rows.cell << ", result " << i;
  }
}

TEST(PackedOrder, OfRows) {
  std::mt19937 random(11);
  for (const DType dtype : {DType::bf16, DType::f16})
    for (std::int64_t count = 17; count <= 200; ++count) expect_order({dtype, count, 1}, random);
}

TEST(PackedOrder, OfRowsOfCells) {
  std::mt19937 random(12);
  for (const DType dtype : {DType::bf16, DType::f16})
    for (const std::int64_t cell : {2, 3, 4, 7, 8})
      for (std::int64_t count = 17; additions_of(count, lanes_of(cell)) <= kMostAdditions; ++count)
        expect_order({dtype, count, cell}, random);
}

}  // namespace
}  // namespace tenfold::numeric
