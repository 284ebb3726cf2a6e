// SPDX-License-Identifier: Apache-2.0
//
// Sums of columns add up in the order that the contract names, whatever number of rows their streams leave over: four
// streams, of each four rows to a chain in f32, chains in f64, then the rows left over as a chain. Those of f64 add up
// one after another, however many rows a sweep takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "graph/pass/pass.hpp"
#include "graph_value.hpp"
#include "prepared_case.hpp"
#include "runtime/program.hpp"

namespace tenfold::numeric {
namespace {

constexpr int kChain = 16, kStreams = 4;
constexpr std::int64_t kLongRun = 32;
/// More than four vector steps, and a partial one; of f64, rows that are long enough to be swept side by side.
constexpr std::int64_t kColumns = 203, kWideColumns = 267;

graph::Graph sum_of_columns(DType dtype, std::int64_t rows, std::int64_t columns) {
  graph::Graph g;
  graph::Op op;
  op.dialect = graph::Dialect::core;
  op.kind = "reduce";
  op.attributes = {{"reduction", std::string("sum")}, {"axes", Dims{0}}, {"keep_dims", false}};
  op.inputs = {add_value(g, {dtype, {rows, columns}, {}})};
  op.outputs = {add_value(g, {dtype, {columns}, {}})};
  g.ops.push_back(op);
  graph::connect(g);
  return g;
}

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
  graph::Graph core = sum_of_columns(sizeof(Element) == 8 ? DType::f64 : DType::f32, rows, columns);
  ASSERT_TRUE(graph::run_pipeline(core).ok());
  for (const target::Isa isa : native_levels()) {
    target::Target target = target::host().value();
    target.isa = isa;
    const Result<compiler::Compiled> compiled = compiler::compile(core, target);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    std::vector<Element> output(static_cast<std::size_t>(columns));
    const void* const in = input.data();
    void* const out = output.data();
    ASSERT_TRUE(runtime::run(compiled.value().program, {&in, 1}, {&out, 1}, nullptr, 1).ok());
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
