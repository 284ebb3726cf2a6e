// SPDX-License-Identifier: Apache-2.0
//
// execute(): results through every target, and every misuse that it promises to refuse.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "target/target.hpp"
#include "tenfold/tenfold.hpp"

namespace tenfold {
namespace {

using Axes = std::vector<std::int64_t>;

CompiledPartition partition_of(const std::string& kind, TensorDesc desc, Axes axes,
                               const CompileOptions& options = {}) {
  GraphBuilder b;
  b.op(kind, {b.input(std::move(desc))}, {{"axes", std::move(axes)}});
  const auto graph = b.finish();
  if (!graph.ok()) throw std::runtime_error(graph.status().message());
  auto partition = compile(graph.value(), options);
  if (!partition.ok()) throw std::runtime_error(partition.status().message());
  return partition.value();
}

void expect_refused(const Status& status, const std::string& part) {
  ASSERT_FALSE(status.ok());
  EXPECT_STREQ(to_string(status.code()), "invalid_argument");
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

TEST(Execute, TheSameBitsOnEveryTargetAndThreadCount) {
  std::vector<float> in(97 * 130);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 251) * 0.37F - 40.0F;
  std::vector<float> expected;
  ASSERT_TRUE(target::host().ok()) << target::host().status().message();
  for (const target::IsaRow& row : target::all_isas()) {
    if (row.isa > target::host().value().isa || row.isa == target::Isa::reference) continue;
    for (const int threads : {1, 2, 0}) {
      CompileOptions options;
      options.target = std::string(row.name);
      options.threads = threads;
      const CompiledPartition p = partition_of("ReduceSum", {DType::f32, {97, 130}, {}}, {0}, options);
      std::vector<float> out(130);
      const Status status = p.execute({in.data()}, {out.data()});
      ASSERT_TRUE(status.ok()) << status.message();
      if (expected.empty()) expected = out;
      EXPECT_EQ(out, expected) << row.name << ", " << threads << " threads";
    }
  }
}

TEST(Execute, RefusesWrongCounts) {
  const CompiledPartition p = partition_of("ReduceMax", {DType::f32, {4, 4}, {}}, {1});
  std::vector<float> in(16), out(4);
  expect_refused(p.execute({}, {out.data()}), "0 inputs given, the partition has 1");
  expect_refused(p.execute({in.data(), in.data()}, {out.data()}), "2 inputs given, the partition has 1");
  expect_refused(p.execute({in.data()}, {}), "0 outputs given, the partition has 1");
  expect_refused(p.execute(nullptr, 1, nullptr, 1), "null");
}

TEST(Execute, RefusesNullAndMisalignedPointers) {
  const CompiledPartition p = partition_of("ReduceMax", {DType::f32, {4, 4}, {}}, {1});
  std::vector<float> in(17), out(5);
  expect_refused(p.execute({nullptr}, {out.data()}), "input 0 (tensor 0): the pointer is null");
  expect_refused(p.execute({in.data()}, {nullptr}), "output 0 (tensor 1): the pointer is null");
  const void* odd_in = reinterpret_cast<const char*>(in.data()) + 2;
  void* odd_out = reinterpret_cast<char*>(out.data()) + 1;
  expect_refused(p.execute({odd_in}, {out.data()}), "not aligned to its element of 4 bytes");
  expect_refused(p.execute({in.data()}, {odd_out}), "not aligned to its element of 4 bytes");
}

TEST(Execute, RefusesOverlap) {
  const CompiledPartition p = partition_of("ReduceMax", {DType::f32, {4, 4}, {}}, {1});
  std::vector<float> buffer(20);
  expect_refused(p.execute({buffer.data()}, {buffer.data()}), "output 0 (tensor 1) overlaps input 0 (tensor 0)");
  expect_refused(p.execute({buffer.data()}, {buffer.data() + 15}), "overlaps");
  EXPECT_TRUE(p.execute({buffer.data()}, {buffer.data() + 16}).ok());
  EXPECT_TRUE(p.execute({buffer.data() + 4}, {buffer.data()}).ok());
}

constexpr const char* kGapped = R"({"version": "3.0.0", "engine_kind": "cpu", "fpmath_mode": "strict", "graph": [
  {"id": 0, "name": "sum", "kind": "ReduceSum",
   "attrs": {"axes": {"type": "s64[]", "value": [1]}, "keep_dims": {"type": "bool", "value": 0}},
   "inputs": [{"id": 0, "dtype": "f32", "shape": [3, 2], "stride": [3, 1], "layout_type": "strided",
               "property_type": "undef"}],
   "outputs": [{"id": 1, "dtype": "f32", "shape": [3], "stride": [3], "layout_type": "strided",
                "property_type": "undef"}]}]})";

TEST(Execute, OutputMayLieInTheGapsOfAnInput) {
  const auto graph = Graph::from_json(kGapped);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto p = compile(graph.value());
  ASSERT_TRUE(p.ok()) << p.status().message();
  std::vector<float> buffer{1, 2, 0, 3, 4, 0, 5, 6, 0};
  const Status status = p.value().execute({buffer.data()}, {buffer.data() + 2});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(buffer, (std::vector<float>{1, 2, 3, 3, 4, 7, 5, 6, 11}));
}

TEST(Execute, EmptyTensorsMayBeNull) {
  const CompiledPartition kept = partition_of("ReduceSum", {DType::f32, {0, 4}, {}}, {1});
  EXPECT_TRUE(kept.execute({nullptr}, {nullptr}).ok());
  const CompiledPartition reduced = partition_of("ReduceSum", {DType::f32, {0, 4}, {}}, {0});
  std::vector<float> out(4, 9.0F);
  const Status status = reduced.execute({nullptr}, {out.data()});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(out, (std::vector<float>{0, 0, 0, 0}));
}

TEST(Execute, QueryAndPrepareWorkWithoutRunTimeAxes) {
  const CompiledPartition p = partition_of("ReduceMax", {DType::f32, {4, 6}, {}}, {0});
  const void* in[] = {nullptr};
  const auto outputs = p.query_outputs(in, 1);
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(outputs.value()[0].desc.shape, (Dims{6}));
  EXPECT_TRUE(p.prepare(in, 1).ok());
  expect_refused(p.prepare(nullptr, 0), "0 inputs given");
}

TEST(Execute, TheLogarithmOfSumsOverNoAxesIsThatOfEachInteger) {
  const std::string text = R"({"dialect": "onnx", "opset": 18, "graph": [{"id": 0, "kind": "ReduceLogSum",
    "attrs": {"noop_with_empty_axes": {"type": "s64", "value": 1}}, "inputs": [{"id": 0, "dtype": "s32", "shape": [6]}],
    "outputs": [{"id": 1, "dtype": "s32", "shape": [6]}]}]})";
  const auto graph = Graph::from_json(text);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto partition = compile(graph.value());
  ASSERT_TRUE(partition.ok()) << partition.status().message();
  const std::vector<std::int32_t> in = {1, 2, 3, 1000, 0, -5};
  std::vector<std::int32_t> out(in.size());
  ASSERT_TRUE(partition.value().execute({in.data()}, {out.data()}).ok());
  const std::int32_t least = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(out, (std::vector<std::int32_t>{0, 0, 1, 6, least, 0})) << "in f64, truncated; no number is 0";
}

}  // namespace
}  // namespace tenfold
