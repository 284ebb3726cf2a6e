// SPDX-License-Identifier: Apache-2.0
//
// GraphBuilder and Graph: what they accept, what they infer, and how mistakes are reported.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tenfold/tenfold.hpp"

namespace tenfold {
namespace {

using Axes = std::vector<std::int64_t>;

/// Expects that finish() fails with this code and that the message holds `part`.
void expect_error(GraphBuilder& builder, Code code, const std::string& part, std::vector<TensorId> outputs = {}) {
  const auto graph = builder.finish(std::move(outputs));
  ASSERT_FALSE(graph.ok());
  EXPECT_STREQ(to_string(graph.status().code()), to_string(code)) << graph.status().message();
  EXPECT_NE(graph.status().message().find(part), std::string::npos) << graph.status().message();
}

TEST(Builder, InfersShapesAndDtypes) {
  GraphBuilder b;
  const TensorId x = b.input({DType::bf16, {4, 8, 16}, {}});
  const TensorId m = b.op("ReduceMax", {x}, {{"axes", Axes{-1, 0}}});
  const TensorId y = b.op("TypeCast", {m}, {}, DType::f32);
  const auto graph = b.finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto partition = compile(graph.value());
  ASSERT_TRUE(partition.ok()) << partition.status().message();
  ASSERT_EQ(partition.value().outputs().size(), 1U);
  EXPECT_EQ(partition.value().outputs()[0].id, y);
  EXPECT_EQ(partition.value().outputs()[0].desc.dtype, DType::f32);
  EXPECT_EQ(partition.value().outputs()[0].desc.shape, (Dims{8}));
  EXPECT_NE(graph.value().to_text().find("ReduceMax"), std::string::npos);
}

TEST(Builder, KeepsTheOrderOfNamedOutputsAndDropsWhatNobodyNeeds) {
  GraphBuilder b;
  const TensorId x = b.input({DType::f32, {3, 5}, {}});
  const TensorId low = b.op("ReduceMin", {x}, {{"axes", Axes{1}}});
  const TensorId high = b.op("ReduceMax", {x}, {{"axes", Axes{1}}});
  b.op("ReduceSum", {x}, {{"axes", Axes{1}}});
  const auto graph = b.finish({high, low});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto partition = compile(graph.value());
  ASSERT_TRUE(partition.ok()) << partition.status().message();
  ASSERT_EQ(partition.value().outputs().size(), 2U);
  EXPECT_EQ(partition.value().outputs()[0].id, high);
  EXPECT_EQ(partition.value().outputs()[1].id, low);
  const std::vector<float> in{1, 2, 3, 4, 5, 9, 8, 7, 6, 5, 0, 0, -1, 0, 0};
  std::vector<float> highs(3), lows(3);
  const Status status = partition.value().execute({in.data()}, {highs.data(), lows.data()});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(highs, (std::vector<float>{5, 9, 0}));
  EXPECT_EQ(lows, (std::vector<float>{1, 5, -1}));
}

TEST(Builder, ConstantsOfHalfBytesArePacked) {
  GraphBuilder b;
  // Only as many bytes as there are: more would be read beyond the end.
  const std::vector<unsigned char> packed{0x21, 0xC3, 0x07};
  const float scale = 0.5F;
  const TensorId x = b.constant({DType::s4, {5}, {}}, packed.data());
  b.op("DynamicDequantize", {x, b.constant({DType::f32, {1}, {}}, &scale)}, {}, DType::f32);
  const auto graph = b.finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto partition = compile(graph.value());
  ASSERT_TRUE(partition.ok()) << partition.status().message();
  std::vector<float> out(5);
  const Status status = partition.value().execute({}, {out.data()});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(out, (std::vector<float>{0.5F, 1.0F, 1.5F, -2.0F, 3.5F}));
}

TEST(Builder, AConstantAxesTensorIsFolded) {
  GraphBuilder b;
  const TensorId x = b.input({DType::f32, {2, 3}, {}});
  const std::int32_t axis = -2;
  const TensorId axes = b.constant({DType::s32, {1}, {}}, &axis);
  b.op("ReduceSum", {x, axes});
  const auto graph = b.finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto partition = compile(graph.value());
  ASSERT_TRUE(partition.ok()) << partition.status().message();
  ASSERT_EQ(partition.value().inputs().size(), 1U);
  EXPECT_EQ(partition.value().outputs()[0].desc.shape, (Dims{3}));
  const std::vector<float> in{1, 2, 3, 10, 20, 30};
  std::vector<float> out(3);
  const Status status = partition.value().execute({in.data()}, {out.data()});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(out, (std::vector<float>{11, 22, 33}));
}

TEST(Builder, MistakesAreReportedByFinish) {
  {
    GraphBuilder b;
    expect_error(b, Code::invalid_graph, "no op");
  }
  {
    GraphBuilder b;
    b.op("ReduceMax", {7}, {{"axes", Axes{0}}});
    expect_error(b, Code::invalid_graph, "input 7");
  }
  {
    GraphBuilder b;
    const TensorId x = b.input({DType::f32, {2, 2}, {}});
    b.op("ReduceMax", {x}, {{"axes", Axes{2}}});
    expect_error(b, Code::invalid_op, "reduce.C3");
  }
  {
    GraphBuilder b;
    const TensorId x = b.input({DType::f32, {2, 2}, {}});
    b.op("ReduceMax", {x}, {{"axes", Axes{1, -1}}});
    expect_error(b, Code::invalid_op, "reduce.C4");
  }
  {
    GraphBuilder b;
    const TensorId x = b.input({DType::f32, {2, 2}, {}});
    b.op("ReduceMx", {x}, {{"axes", Axes{1}}});
    expect_error(b, Code::unsupported_op, "ReduceMx");
  }
  {
    GraphBuilder b;
    const TensorId x = b.input({DType::f32, {2, 2}, {}});
    b.op("ReduceMax", {x}, {{"axes", Axes{1}}, {"axes", Axes{0}}});
    expect_error(b, Code::invalid_op, "'axes' is given twice");
  }
  {
    GraphBuilder b;
    const TensorId x = b.input({DType::f32, {2, 2}, {}});
    b.op("TypeCast", {x});
    expect_error(b, Code::invalid_dtype, "dtype must be given");
  }
  {
    GraphBuilder b;
    b.input({DType::undef, {2}, {}});
    expect_error(b, Code::invalid_dtype, "undef");
  }
  {
    GraphBuilder b;
    b.input({DType::f32, {std::int64_t{1} << 62, 4}, {}});
    expect_error(b, Code::invalid_shape, "2^47");
  }
  {
    GraphBuilder b;
    b.input({DType::f32, Dims(13, 1), {}});
    expect_error(b, Code::invalid_shape, "rank 13");
  }
  {
    GraphBuilder b;
    b.constant({DType::s32, {1}, {}}, nullptr);
    expect_error(b, Code::invalid_argument, "null");
  }
}

TEST(Builder, OutputsMustBeMadeByOps) {
  GraphBuilder b;
  const TensorId x = b.input({DType::f32, {2, 2}, {}});
  const TensorId y = b.op("Abs", {x});
  expect_error(b, Code::invalid_graph, "no op makes it", {x});
  expect_error(b, Code::invalid_graph, "listed twice", {y, y});
  expect_error(b, Code::invalid_graph, "no tensor", {99});
  EXPECT_TRUE(b.finish({y}).ok());
}

TEST(Graphs, FromJsonSaysWhereAFileIsWrong) {
  const auto graph = Graph::from_json("{\"graph\": 3}");
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.status().code(), Code::invalid_file);
  EXPECT_NE(graph.status().message().find("/graph"), std::string::npos) << graph.status().message();
}

Result<Graph> open_graph() {
  GraphBuilder b;
  const TensorId x = b.input({DType::f32, {kUnknownDim, 4}, {}});
  b.op("ReduceSum", {x}, {{"axes", Axes{1}}});
  return b.finish();
}

TEST(Compile, BindsInputShapes) {
  const auto graph = open_graph();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto open = compile(graph.value());
  ASSERT_FALSE(open.ok());
  EXPECT_EQ(open.status().code(), Code::invalid_shape);
  EXPECT_NE(open.status().message().find("0 [?, 4]"), std::string::npos) << open.status().message();
  for (const std::int64_t rows : {1, 3, 0}) {
    CompileOptions options;
    options.input_shapes = {{0, {rows, 4}}};
    const auto bound = compile(graph.value(), options);
    ASSERT_TRUE(bound.ok()) << bound.status().message();
    EXPECT_EQ(bound.value().outputs()[0].desc.shape, (Dims{rows}));
  }
}

TEST(Compile, RefusesBadOptions) {
  const auto graph = open_graph();
  ASSERT_TRUE(graph.ok());
  const auto expect = [&](const CompileOptions& options, Code code, const std::string& part) {
    const auto partition = compile(graph.value(), options);
    ASSERT_FALSE(partition.ok());
    EXPECT_STREQ(to_string(partition.status().code()), to_string(code));
    EXPECT_NE(partition.status().message().find(part), std::string::npos) << partition.status().message();
  };
  CompileOptions options;
  options.input_shapes = {{5, {2, 4}}};
  expect(options, Code::invalid_argument, "its inputs are 0 (f32 [?, 4])");
  options.input_shapes = {{0, {2, 4}}, {0, {3, 4}}};
  expect(options, Code::invalid_argument, "more than once");
  options.input_shapes = {{0, {-2, 4}}};
  expect(options, Code::invalid_shape, "-2");
  options.input_shapes = {{0, {2, 4}}};
  options.threads = -1;
  expect(options, Code::invalid_argument, "-1");
  options.threads = 0;
  options.target = "avx3";
  expect(options, Code::invalid_argument, "avx2");
  options.target = "reference";
  EXPECT_TRUE(compile(graph.value(), options).ok());
}

}  // namespace
}  // namespace tenfold
