// SPDX-License-Identifier: Apache-2.0
//
// infer() as callers use it again and again: it is stable, and starts afresh after forget_shapes().
#include <gtest/gtest.h>

#include <string>

#include "graph/check/check.hpp"
#include "graph/text/text.hpp"

namespace tenfold::graph {
namespace {

Graph read(const std::string& text) {
  Result<Graph> graph = parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? graph.value() : Graph{};
}

const std::string kText = R"(graph {
  %0 = input : f32[4,?]
  %1 = onednn.Abs (%0) : undef[*]
  %2 = onednn.ReduceSum (%1) {axes = [-1], keep_dims = true} : undef[*]
  %3 = onednn.Divide (%0, %2) : undef[*]
})";

TEST(Infer, ASecondTimeChangesNothing) {
  Graph graph = read(kText);
  ASSERT_TRUE(verify(graph).ok());
  ASSERT_TRUE(infer(graph).ok());
  const Graph once = graph;
  ASSERT_TRUE(infer(graph).ok());
  EXPECT_TRUE(graph == once);
  EXPECT_EQ(graph.values[3].shape, (Dims{4, kUnknownDim}));
}

TEST(Infer, BindsOpenDimsOfInputs) {
  Graph graph = read(kText);
  ASSERT_TRUE(infer(graph).ok());
  graph.values[0].shape = {4, 7};
  ASSERT_TRUE(infer(graph).ok());
  EXPECT_EQ(graph.values[3].shape, (Dims{4, 7}));
}

TEST(Infer, OtherInputShapesNeedForgetting) {
  Graph graph = read(kText);
  ASSERT_TRUE(infer(graph).ok());
  graph.values[0].shape = {5, 7};
  EXPECT_NE(infer(graph).message().find("(shape.E3)"), std::string::npos);
  forget_shapes(graph);
  ASSERT_TRUE(infer(graph).ok());
  EXPECT_EQ(graph.values[2].shape, (Dims{5, 1}));
  EXPECT_EQ(graph.values[2].dtype, DType::f32);
}

TEST(Infer, LeavesOpsWithoutRuleAlone) {
  Graph graph = read("graph { %0 = input : f32[2] %1 = onednn.Unheard (%0) : f32[3] %2 = onednn.Exp (%1) : f32[*] }");
  ASSERT_TRUE(infer(graph).ok());
  EXPECT_EQ(graph.values[2].shape, (Dims{3}));
}

TEST(Infer, LayoutAnyBecomesRowMajor) {
  Graph graph = read("graph { %0 = input : f32[2,3] %1 = onednn.Abs (%0) : f32[2,3]{1,2} layout any }");
  ASSERT_TRUE(infer(graph).ok());
  EXPECT_EQ(graph.values[1].layout, Layout::strided);
  EXPECT_TRUE(graph.values[1].strides.empty());
}

}  // namespace
}  // namespace tenfold::graph
