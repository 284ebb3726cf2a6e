// SPDX-License-Identifier: Apache-2.0
//
// Axes that are known only at run time: one specialisation per distinct value, queried, prepared and executed, from one
// thread and from eight.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "api/partition.hpp"
#include "tenfold/tenfold.hpp"

namespace tenfold {
namespace {

constexpr std::int64_t kRows = 5, kColumns = 7;

/// ReduceSum of f32 [5, 7] along the axes in an s32 input of `axes_shape`.
Result<CompiledPartition> compile_sum(const Dims& axes_shape, bool keep_dims = false, Dims shape = {kRows, kColumns}) {
  GraphBuilder b;
  const TensorId x = b.input({DType::f32, std::move(shape), {}});
  const TensorId axes = b.input({DType::s32, axes_shape, {}});
  b.op("ReduceSum", {x, axes}, {{"keep_dims", keep_dims}});
  const auto graph = b.finish();
  if (!graph.ok()) return graph.status();
  return compile(graph.value());
}

std::vector<float> counting(std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i);
  return values;
}

/// Sums of counting() over rows (axis 0) or columns (axis 1).
std::vector<float> expected_sums(int axis) {
  std::vector<float> sums(axis == 0 ? kColumns : kRows, 0.0F);
  for (std::int64_t r = 0; r < kRows; ++r)
    for (std::int64_t c = 0; c < kColumns; ++c)
      sums[static_cast<std::size_t>(axis == 0 ? c : r)] += static_cast<float>(r * kColumns + c);
  return sums;
}

TEST(RunTimeAxes, ShapeFollowsTheValueAndEachValueIsSpecialisedOnce) {
  const auto partition = compile_sum({1});
  ASSERT_TRUE(partition.ok()) << partition.status().message();
  const CompiledPartition& p = partition.value();
  ASSERT_EQ(p.inputs().size(), 2U);
  EXPECT_EQ(p.outputs()[0].desc.shape, (Dims{kUnknownDim}));
  const std::vector<float> in = counting(kRows * kColumns);
  EXPECT_EQ(p.impl().cache.made(), 0U);
  for (int round = 0; round < 3; ++round) {
    for (const std::int32_t axis : {0, 1}) {
      const void* inputs[] = {nullptr, &axis};
      const auto outputs = p.query_outputs(inputs, 2);
      ASSERT_TRUE(outputs.ok()) << outputs.status().message();
      EXPECT_EQ(outputs.value()[0].desc.shape, (Dims{axis == 0 ? kColumns : kRows}));
      std::vector<float> out(expected_sums(axis).size());
      const Status status = p.execute({in.data(), &axis}, {out.data()});
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(out, expected_sums(axis));
    }
  }
  EXPECT_EQ(p.impl().cache.made(), 2U);
}

TEST(RunTimeAxes, ExecuteBeforeQuery) {
  const auto partition = compile_sum({2});
  ASSERT_TRUE(partition.ok()) << partition.status().message();
  const std::vector<float> in = counting(kRows * kColumns);
  const std::array<std::int32_t, 2> axes{-1, 0};
  float out = 0;
  const Status status = partition.value().execute({in.data(), axes.data()}, {&out});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(out, 595.0F);
  const void* inputs[] = {in.data(), axes.data()};
  const auto outputs = partition.value().query_outputs(inputs, 2);
  ASSERT_TRUE(outputs.ok());
  EXPECT_TRUE(outputs.value()[0].desc.shape.empty());
}

TEST(RunTimeAxes, RankZeroAxesAndKeepDims) {
  const auto partition = compile_sum({}, true);
  ASSERT_TRUE(partition.ok()) << partition.status().message();
  const std::int32_t axis = -2;
  const void* inputs[] = {nullptr, &axis};
  const auto outputs = partition.value().query_outputs(inputs, 2);
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(outputs.value()[0].desc.shape, (Dims{1, kColumns}));
}

TEST(RunTimeAxes, PrepareDoesTheWorkAhead) {
  const auto partition = compile_sum({1});
  ASSERT_TRUE(partition.ok()) << partition.status().message();
  const std::int32_t axis = 1;
  const void* inputs[] = {nullptr, &axis};
  ASSERT_TRUE(partition.value().prepare(inputs, 2).ok());
  EXPECT_EQ(partition.value().impl().cache.made(), 1U);
  const std::vector<float> in = counting(kRows * kColumns);
  std::vector<float> out(kRows);
  ASSERT_TRUE(partition.value().execute({in.data(), &axis}, {out.data()}).ok());
  EXPECT_EQ(partition.value().impl().cache.made(), 1U);
  EXPECT_NE(partition.value().explain().find("axes [1]"), std::string::npos) << partition.value().explain();
}

TEST(RunTimeAxes, BadAxesAreNamedAndNotKept) {
  const auto partition = compile_sum({2});
  ASSERT_TRUE(partition.ok()) << partition.status().message();
  const std::vector<float> in = counting(kRows * kColumns);
  float out = 0;
  const auto message = [&](std::array<std::int32_t, 2> axes) {
    const Status status = partition.value().execute({in.data(), axes.data()}, {&out});
    EXPECT_STREQ(to_string(status.code()), "invalid_op");
    return status.message();
  };
  EXPECT_NE(message({0, 2}).find("reduce.C3"), std::string::npos) << message({0, 2});
  EXPECT_NE(message({-3, 0}).find("reduce.C3"), std::string::npos) << message({-3, 0});
  EXPECT_NE(message({1, -1}).find("reduce.C4"), std::string::npos) << message({1, -1});
  EXPECT_EQ(partition.value().impl().cache.made(), 0U);
  const void* null_axes[] = {in.data(), nullptr};
  EXPECT_EQ(partition.value().query_outputs(null_axes, 2).status().code(), Code::invalid_argument);
}

TEST(RunTimeAxes, TheCacheIsBounded) {
  const Dims shape{2, 2, 2, 2, 2, 2};
  const auto partition = compile_sum({3}, true, shape);
  ASSERT_TRUE(partition.ok()) << partition.status().message();
  std::size_t distinct = 0;
  for (std::int32_t a = 0; a < 6; ++a)
    for (std::int32_t b = 0; b < 6; ++b)
      for (std::int32_t c = 0; c < 6; ++c) {
        if (a == b || b == c || a == c) continue;
        const std::array<std::int32_t, 3> axes{a, b, c};
        const void* inputs[] = {nullptr, axes.data()};
        ASSERT_TRUE(partition.value().prepare(inputs, 2).ok());
        ++distinct;
      }
  const auto& cache = partition.value().impl().cache;
  ASSERT_GT(distinct, api::SpecialisationCache::kCapacity);
  EXPECT_EQ(cache.made(), distinct);
  EXPECT_EQ(cache.entries().size(), api::SpecialisationCache::kCapacity);
  // The last one is there, the first had to go.
  const std::array<std::int32_t, 3> last{5, 4, 3}, first{0, 1, 2};
  const void* last_inputs[] = {nullptr, last.data()};
  ASSERT_TRUE(partition.value().prepare(last_inputs, 2).ok());
  EXPECT_EQ(cache.made(), distinct);
  const void* first_inputs[] = {nullptr, first.data()};
  ASSERT_TRUE(partition.value().prepare(first_inputs, 2).ok());
  EXPECT_EQ(cache.made(), distinct + 1);
}

TEST(RunTimeAxes, AxesThatAnotherOpComputesAreRefused) {
  GraphBuilder b;
  const TensorId x = b.input({DType::f32, {2, 3}, {}});
  const TensorId a = b.input({DType::s32, {1}, {}});
  const TensorId axes = b.op("Add", {a, a});
  b.op("ReduceSum", {x, axes});
  const auto graph = b.finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto partition = compile(graph.value());
  ASSERT_FALSE(partition.ok());
  EXPECT_EQ(partition.status().code(), Code::unsupported_op);
  EXPECT_NE(partition.status().message().find("computed by another op"), std::string::npos)
      << partition.status().message();
}

/// ONNX's reduction of f32 [2, 3] along `count` axes that are known at run time.
Result<CompiledPartition> compile_onnx(const std::string& kind, std::int64_t count, bool noop, bool keep_dims) {
  const std::string text =
      R"({"dialect": "onnx", "opset": 20, "graph": [{"id": 0, "kind": ")" + kind +
      R"(", "attrs": {"noop_with_empty_axes": {"type": "s64", "value": )" + (noop ? "1" : "0") +
      R"(}, "keepdims": {"type": "s64", "value": )" + (keep_dims ? "1" : "0") +
      R"(}}, "inputs": [{"id": 0, "dtype": "f32", "shape": [2, 3]}, {"id": 1, "dtype": "s64", "shape": [)" +
      std::to_string(count) + R"(]}], "outputs": [{"id": 2, "dtype": "f32", "shape": [)" + std::to_string(kUnknownDim) +
      R"(]}]}]})";
  const auto graph = Graph::from_json(text);
  if (!graph.ok()) return graph.status();
  return compile(graph.value());
}

/// What `partition` gives for the elements -1, 2, -3, 4, -5, 6; its output has the shape `shape`.
std::vector<float> onnx_result(const Result<CompiledPartition>& partition, const std::vector<std::int64_t>& axes,
                               const Dims& shape) {
  EXPECT_TRUE(partition.ok()) << partition.status().message();
  if (!partition.ok()) return {};
  const std::vector<float> in = {-1, 2, -3, 4, -5, 6};
  const void* inputs[] = {in.data(), axes.data()};
  const auto outputs = partition.value().query_outputs(inputs, 2);
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  if (!outputs.ok()) return {};
  EXPECT_EQ(outputs.value()[0].desc.shape, shape);
  std::vector<float> out(static_cast<std::size_t>(numel(outputs.value()[0].desc.shape).value()));
  void* results[] = {out.data()};
  const Status status = partition.value().execute(inputs, 2, results, 1);
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

TEST(RunTimeAxes, OnnxTakesNoAxesForAll) {
  for (const bool keep_dims : {false, true}) {
    const Dims shape = keep_dims ? Dims{1, 1} : Dims{};
    const std::vector<float> sum = {3}, magnitudes = {21}, most = {6};
    EXPECT_EQ(onnx_result(compile_onnx("ReduceSum", 0, false, keep_dims), {}, shape), sum);
    EXPECT_EQ(onnx_result(compile_onnx("ReduceL1", 0, false, keep_dims), {}, shape), magnitudes);
    EXPECT_EQ(onnx_result(compile_onnx("ReduceMax", 0, false, keep_dims), {}, shape), most);
  }
}

TEST(RunTimeAxes, OnnxWithNoopTakesNoAxesForEachElementAlone) {
  for (const bool keep_dims : {false, true}) {
    const std::vector<float> same = {-1, 2, -3, 4, -5, 6}, magnitudes = {1, 2, 3, 4, 5, 6},
                             squares = {1, 4, 9, 16, 25, 36};
    EXPECT_EQ(onnx_result(compile_onnx("ReduceSum", 0, true, keep_dims), {}, {2, 3}), same);
    EXPECT_EQ(onnx_result(compile_onnx("ReduceMax", 0, true, keep_dims), {}, {2, 3}), same);
    EXPECT_EQ(onnx_result(compile_onnx("ReduceL1", 0, true, keep_dims), {}, {2, 3}), magnitudes);
    EXPECT_EQ(onnx_result(compile_onnx("ReduceL2", 0, true, keep_dims), {}, {2, 3}), magnitudes);
    EXPECT_EQ(onnx_result(compile_onnx("ReduceSumSquare", 0, true, keep_dims), {}, {2, 3}), squares);
  }
}

TEST(RunTimeAxes, OnnxWithNoopReducesTheAxesThatItHas) {
  const auto rows = compile_onnx("ReduceL1", 1, true, true);
  const std::vector<float> by_row = {6, 15}, by_column = {5, 7, 9};
  EXPECT_EQ(onnx_result(rows, {-1}, {2, 1}), by_row);
  EXPECT_EQ(onnx_result(rows, {0}, {1, 3}), by_column);
}

TEST(RunTimeAxes, EightThreadsShareOnePartition) {
  const auto partition = compile_sum({1});
  ASSERT_TRUE(partition.ok()) << partition.status().message();
  const std::vector<float> in = counting(kRows * kColumns);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        const std::int32_t axis = (t + i) % 2;
        std::vector<float> out(expected_sums(axis).size());
        const Status status = partition.value().execute({in.data(), &axis}, {out.data()});
        if (!status.ok() || out != expected_sums(axis)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(partition.value().impl().cache.made(), 2U);
}

TEST(RunTimeShapes, OfWhatWindowsSlideOverAreReadAtEachRun) {
  const std::string text =
      R"({"graph": [{"id": 0, "kind": "Interpolate", "attrs": {"mode": {"type": "string", "value": "nearest"}},
          "inputs": [{"id": 0, "dtype": "f32", "shape": [1, 3, 1]}, {"id": 1, "dtype": "s32", "shape": [1]}],
          "outputs": [{"id": 2, "dtype": "f32", "shape": [1, )" +
      std::to_string(kUnknownDim) + R"(, 1]}]}]})";
  const auto graph = Graph::from_json(text);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto partition = compile(graph.value());
  ASSERT_TRUE(partition.ok()) << partition.status().message();
  const std::vector<float> in = {1, 2, 3};
  for (const std::int32_t size : {3, 6, 9}) {
    const void* inputs[] = {in.data(), &size};
    const auto outputs = partition.value().query_outputs(inputs, 2);
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    ASSERT_EQ(outputs.value()[0].desc.shape, (Dims{1, size, 1}));
    std::vector<float> out(static_cast<std::size_t>(size));
    void* results[] = {out.data()};
    const Status status = partition.value().execute(inputs, 2, results, 1);
    ASSERT_TRUE(status.ok()) << status.message();
    for (std::int32_t i = 0; i < size; ++i)
      EXPECT_EQ(out[static_cast<std::size_t>(i)], in[static_cast<std::size_t>(i * 3 / size)]);
  }
}

/// One dim can only be as long as the input has elements; another value is an error all the same.
TEST(RunTimeShapes, OfWhatIsFlattenedAreLookedAt) {
  const auto graph = Graph::from_json(
      R"({"dialect": "onnx", "graph": [{"id": 0, "kind": "Reshape",
          "inputs": [{"id": 0, "dtype": "f32", "shape": [2, 3]}, {"id": 1, "dtype": "s64", "shape": [1]}],
          "outputs": [{"id": 2, "dtype": "f32", "shape": [6]}]}]})");
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto partition = compile(graph.value());
  ASSERT_TRUE(partition.ok()) << partition.status().message();
  const std::vector<float> in = {1, 2, 3, 4, 5, 6};
  for (const std::int64_t size : {6, -1, 5, 0, -6}) {
    std::vector<float> out(6);
    const void* inputs[] = {in.data(), &size};
    void* results[] = {out.data()};
    const Status status = partition.value().execute(inputs, 2, results, 1);
    EXPECT_EQ(status.ok(), size == 6 || size == -1) << size << ": " << status.message();
    if (status.ok()) {
      EXPECT_EQ(out, in);
    }
  }
}

}  // namespace
}  // namespace tenfold
