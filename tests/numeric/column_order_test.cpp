// SPDX-License-Identifier: Apache-2.0
//
// Sums of columns add up in the order that the contract names, whatever number of rows their streams leave over: four
// streams, of each four rows to a chain in f32, chains in f64, then the rows left over as a chain.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "graph/pass/pass.hpp"
#include "prepared_case.hpp"
#include "runtime/program.hpp"

namespace tenfold::numeric {
namespace {

constexpr int kChain = 16, kStreams = 4;
constexpr std::int64_t kLongRun = 32;
/// More than four vector steps, and a partial one.
constexpr std::int64_t kColumns = 203;

graph::Graph sum_of_columns(std::int64_t rows) {
  graph::Graph g;
  const auto add_value = [&](Dims shape) {
    graph::Value value;
    value.id = static_cast<std::int64_t>(g.values.size());
    value.dtype = DType::f32;
    value.ranked = true;
    value.shape = std::move(shape);
    g.values.push_back(value);
    return static_cast<graph::ValueId>(g.values.size() - 1);
  };
  graph::Op op;
  op.dialect = graph::Dialect::core;
  op.kind = "reduce";
  op.attributes = {{"reduction", std::string("sum")}, {"axes", Dims{0}}, {"keep_dims", false}};
  op.inputs = {add_value({rows, kColumns})};
  op.outputs = {add_value({kColumns})};
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

TEST(ColumnOrder, OfAnyNumberOfRows) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (std::int64_t rows = kChain + 1; rows <= 2 * kStreams * kLongRun; ++rows) {
    std::vector<float> input(static_cast<std::size_t>(rows * kColumns));
    for (float& element : input) element = normal(random);
    graph::Graph core = sum_of_columns(rows);
    ASSERT_TRUE(graph::run_pipeline(core).ok());
    for (const target::Isa isa : native_levels()) {
      target::Target target = target::host().value();
      target.isa = isa;
      const Result<compiler::Compiled> compiled = compiler::compile(core, target);
      ASSERT_TRUE(compiled.ok()) << compiled.status().message();
      std::vector<float> output(kColumns);
      const void* const in = input.data();
      void* const out = output.data();
      ASSERT_TRUE(runtime::run(compiled.value().program, {&in, 1}, {&out, 1}, nullptr, 1).ok());
      for (std::int64_t column = 0; column < kColumns; ++column)
        ASSERT_EQ(output[static_cast<std::size_t>(column)], expected_sum(input, rows, column))
            << target::to_string(isa) << ", " << rows << " rows, column " << column;
    }
  }
}

}  // namespace
}  // namespace tenfold::numeric
