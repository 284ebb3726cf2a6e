// SPDX-License-Identifier: Apache-2.0
//
// Random inputs: reproducible, independent of strides, in a range that the consuming op can take.
#include "tools/fill.hpp"

#include <gtest/gtest.h>

#include "graph/eval/eval.hpp"
#include "tenfold/graph_builder.hpp"

namespace tenfold::tools {
namespace {

graph::Graph one_op(const std::string& kind, DType dtype, const Dims& shape) {
  GraphBuilder b;
  b.op(kind, {b.input({dtype, shape, {}})});
  const auto graph = b.finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? graph.value().ir() : graph::Graph();
}

std::vector<double> filled(const graph::Graph& graph, std::uint64_t seed, const TensorDesc& desc) {
  const Result<Tensor> tensor = make_tensor(desc);
  EXPECT_TRUE(tensor.ok());
  std::string how;
  fill_input(graph, 0, seed, tensor.value(), how);
  EXPECT_FALSE(how.empty());
  std::vector<double> values;
  for_each_element(desc, [&](std::int64_t, std::int64_t offset) {
    values.push_back(graph::load_real(desc.dtype, tensor.value().data(), offset));
  });
  return values;
}

TEST(Fill, DependsOnSeedAndIndexAlone) {
  const graph::Graph graph = one_op("Abs", DType::f32, {8, 9});
  const auto dense = filled(graph, 1, {DType::f32, {8, 9}, {}});
  EXPECT_EQ(dense, filled(graph, 1, {DType::f32, {8, 9}, {1, 10}}));
  EXPECT_NE(dense, filled(graph, 2, {DType::f32, {8, 9}, {}}));
}

TEST(Fill, LogarithmsGetPositiveNumbers) {
  const graph::Graph graph = one_op("Log", DType::bf16, {1000});
  for (const double value : filled(graph, 3, {DType::bf16, {1000}, {}})) EXPECT_GT(value, 0.0);
}

TEST(Fill, VariancesArePositive) {
  GraphBuilder b;
  const TensorId variance = b.input({DType::f32, {40}, {}});
  const auto stat = [&] { return b.input({DType::f32, {40}, {}}); };
  const TensorId x = b.input({DType::f32, {2, 40}, {}}), gamma = stat(), beta = stat(), mean = stat();
  b.op("BatchNormInference", {x, gamma, beta, mean, variance}, {{"epsilon", 1e-5}});
  const auto graph = b.finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(variance, 0);
  for (const double value : filled(graph.value().ir(), 1, {DType::f32, {40}, {}})) EXPECT_GE(value, 0.25);
}

TEST(Fill, AxesAreTheLastOnes) {
  EXPECT_EQ(default_axes({0, 4}, 2), (std::vector<std::int64_t>{2, 3}));
  GraphBuilder b;
  const TensorId x = b.input({DType::f32, {2, 3, 4}, {}});
  const TensorId axes = b.input({DType::s32, {1}, {}});
  b.op("ReduceMax", {x, axes});
  const auto graph = b.finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto uses = axes_input_uses(graph.value().ir());
  ASSERT_EQ(uses.size(), 1U);
  EXPECT_EQ(uses[0].id, axes);
  EXPECT_EQ(uses[0].rank, 3);
}

}  // namespace
}  // namespace tenfold::tools
