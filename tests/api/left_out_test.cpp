// SPDX-License-Identifier: Apache-2.0
//
// Outputs of an op that a file leaves out: the graph, its parts and what is compiled of them have the others alone.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "api/split.hpp"
#include "tenfold/tenfold.hpp"

namespace tenfold::api {
namespace {

/// y and 1 / deviation of a row, without the mean between them; |y| follows.
const std::string kText = R"({"dialect": "onnx", "opset": 17, "graph": [
  {"id": 0, "kind": "LayerNormalization", "attrs": {},
   "inputs": [{"id": 0, "dtype": "f32", "shape": [1, 4]}, {"id": 1, "dtype": "f32", "shape": [4]}],
   "outputs": [{"id": 2, "dtype": "f32", "shape": [1, 4]}, null, {"id": 3, "dtype": "f32", "shape": [1, 1]}]},
  {"id": 1, "kind": "Abs", "attrs": {}, "inputs": [{"id": 2, "dtype": "f32", "shape": [1, 4]}],
   "outputs": [{"id": 4, "dtype": "f32", "shape": [1, 4]}]}]})";

std::vector<TensorId> ids_of(const std::vector<TensorInfo>& tensors) {
  std::vector<TensorId> ids;
  for (const TensorInfo& tensor : tensors) ids.push_back(tensor.id);
  return ids;
}

TEST(LeftOut, IsNoOutputOfTheGraph) {
  const Result<Graph> graph = Graph::from_json(kText);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const Result<CompiledPartition> compiled = compile(graph.value());
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  ASSERT_EQ(ids_of(compiled.value().outputs()), (std::vector<TensorId>{3, 4}));
  const float x[] = {1, -1, 1, -1}, scale[] = {1, 2, 3, 4};
  float inverse[1] = {}, y[4] = {};
  ASSERT_TRUE(compiled.value().execute({x, scale}, {inverse, y}).ok());
  EXPECT_NEAR(inverse[0], 1, 1e-5);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(y[i], scale[i], 1e-4);
}

TEST(LeftOut, IsNoOutputOfAPart) {
  const Result<Graph> graph = Graph::from_json(kText);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const Result<std::vector<Part>> parts = split(graph.value(), Policy::debug);
  ASSERT_TRUE(parts.ok()) << parts.status().message();
  ASSERT_EQ(parts.value().size(), 2U);
  const Result<CompiledPartition> norm = compile(parts.value()[0].graph);
  ASSERT_TRUE(norm.ok()) << norm.status().message();
  EXPECT_EQ(ids_of(norm.value().outputs()), (std::vector<TensorId>{2, 3}));
}

}  // namespace
}  // namespace tenfold::api
