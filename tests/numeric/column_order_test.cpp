// SPDX-License-Identifier: Apache-2.0
//
// Sums of columns add up in the order that the contract names, whatever number of rows their streams leave over: four
// streams, of each four rows to a chain in f32, chains in f64, then the rows left over as a chain. Those of f64 add up
// one after another, however many rows a sweep takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "prepared_case.hpp"
#include "sum_run.hpp"

namespace tenfold::numeric {
namespace {

constexpr int kChain = 16, kStreams = 4;
constexpr std::int64_t kLongRun = 32;
/// More than four vector steps, and a partial one; of f64, rows that are long enough to be swept side by side.
constexpr std::int64_t kColumns = 203, kWideColumns = 267;

float expected_sum(const std::vector<float>& input, std::int64_t rows, std::int64_t column) {
  const auto at = [&](std::int64_t row) { return input[static_cast<std::size_t>(row * kColumns + column)]; };
  std::int64_t run = rows / kStreams;
  if (run >= kLongRun) run = (run - 1) | 1;
  double total = 0;
  for (std::int64_t first = 0; first < run; first += kChain / kStreams) {
    float chain = 0;
    for (std::int64_t row = first; row < std::min(run, first + kChain / kStreams); ++row)
      for (std::int64_t stream = 0; stream < kStreams; ++stream) chain += at(stream * run + row);
    total += chain;
  }
  float chain = 0;
  for (std::int64_t row = kStreams * run; row < rows; ++row) chain += at(row);
  return static_cast<float>(total + chain);
}

/// Every level gives `expected(input, rows, column)` to the bit.
template <class Element, class Expected>
void expect_order(std::int64_t rows, std::int64_t columns, std::mt19937& random, const Expected& expected) {
  std::normal_distribution<Element> normal;
  std::vector<Element> input(static_cast<std::size_t>(rows * columns));
  for (Element& element : input) element = normal(random);
  const graph::Graph sum = sum_over(sizeof(Element) == 8 ? DType::f64 : DType::f32, {rows, columns}, 0);
  for (const target::Isa isa : native_levels()) {
    std::vector<Element> output(static_cast<std::size_t>(columns));
    run_sum(sum, isa, input, output);
    for (std::int64_t column = 0; column < columns; ++column)
      ASSERT_EQ(output[static_cast<std::size_t>(column)], expected(input, rows, column))
          << target::to_string(isa) << ", " << rows << " rows, column " << column;
  }
}

TEST(ColumnOrder, OfAnyNumberOfRows) {
  std::mt19937 random(7);
  for (std::int64_t rows = kChain + 1; rows <= 2 * kStreams * kLongRun; ++rows)
    expect_order<float>(rows, kColumns, random, expected_sum);
}

TEST(ColumnOrder, OfDoublesIsThatOfTheRows) {
  std::mt19937 random(8);
  const auto in_order = [](const std::vector<double>& input, std::int64_t rows, std::int64_t column) {
    double sum = 0;
    for (std::int64_t row = 0; row < rows; ++row) sum += input[static_cast<std::size_t>(row * kWideColumns + column)];
    return sum;
  };
  for (std::int64_t rows = 1; rows <= 2 * kStreams * kLongRun; ++rows)
    expect_order<double>(rows, kWideColumns, random, in_order);
}

}  // namespace
}  // namespace tenfold::numeric
