// SPDX-License-Identifier: Apache-2.0
//
// The writer of graph files: reading what it wrote gives the same graph, for our files, for oneDNN's own
// (TENFOLD_CORPUS, or beside the checkout), and for constants of every dtype.
#include "graph/read/json.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "graph/check/check.hpp"
#include "graph/text/text.hpp"
#include "graph/write/json.hpp"

namespace {

namespace fs = std::filesystem;
using tenfold::Result;
using tenfold::graph::Graph;
using tenfold::graph::read_json;
using tenfold::graph::write_json;

std::string contents(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.good()) << path;
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

void expect_round_trip(const std::string& text) {
  const Result<Graph> graph = read_json(text);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const Result<std::string> written = write_json(graph.value());
  ASSERT_TRUE(written.ok()) << written.status().message();
  const Result<Graph> again = read_json(written.value());
  ASSERT_TRUE(again.ok()) << again.status().message() << "\n" << written.value();
  EXPECT_TRUE(again.value() == graph.value()) << print(graph.value()) << "\n" << print(again.value());
}

/// The graph of that text as a file, read and verified.
Graph through_a_file(const std::string& graph_text) {
  const Result<Graph> graph = tenfold::graph::parse(graph_text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  const Result<std::string> text = write_json(graph.value());
  EXPECT_TRUE(text.ok()) << text.status().message();
  Result<Graph> again = read_json(text.value());
  EXPECT_TRUE(again.ok()) << again.status().message();
  const tenfold::Status status = tenfold::graph::verify(again.value());
  EXPECT_TRUE(status.ok()) << status.message();
  return std::move(again).value();
}

int round_trips_below(const fs::path& folder) {
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    SCOPED_TRACE(entry.path().string());
    expect_round_trip(contents(entry.path()));
    ++files;
  }
  return files;
}

TEST(GraphJson, OurFilesComeBack) {
  EXPECT_GT(round_trips_below(fs::path(TENFOLD_SOURCE_DIR) / "tests/data/graphs"), 10);
}

TEST(GraphJson, OneDnnsFilesComeBack) {
  const char* given = std::getenv("TENFOLD_CORPUS");
  const fs::path folder =
      given != nullptr ? fs::path(given) : fs::path(TENFOLD_SOURCE_DIR) / "../shared/corpus/onednn-graph";
  if (!fs::is_directory(folder)) {
    std::printf("NOT RUN: no graph files at %s (set TENFOLD_CORPUS)\n", folder.c_str());
    GTEST_SKIP();
  }
  EXPECT_GT(round_trips_below(folder), 0);
}

std::string constant(const std::string& dtype, const std::string& data) {
  return R"({"graph": [{"id": 0, "kind": "Abs", "inputs": [{"id": 0, "dtype": ")" + dtype +
         R"(", "shape": [3], "data": )" + data + R"(}], "outputs": [{"id": 1, "dtype": "undef", "shape": [3]}]}]})";
}

TEST(GraphJson, ConstantsKeepTheirBits) {
  for (const char* dtype : {"f32", "f64", "bf16", "f16"}) {
    SCOPED_TRACE(dtype);
    expect_round_trip(constant(dtype, R"([-0.0, "inf", 0.1])"));
    expect_round_trip(constant(dtype, R"(["nan", "-inf", 6.1e-5])"));
  }
  expect_round_trip(constant("f32", "[3.4028234663852886e38, 1e-45, 16777217]"));
  expect_round_trip(constant("s64", "[-9223372036854775808, 9223372036854775807, 9007199254740993]"));
  expect_round_trip(constant("u64", "[0, 18446744073709551615, 9007199254740993]"));
  expect_round_trip(constant("boolean", "[true, false, true]"));
  for (const char* dtype : {"s8", "s16", "s32"}) expect_round_trip(constant(dtype, "[-128, 127, 0]"));
  for (const char* dtype : {"u8", "u16", "u32"}) expect_round_trip(constant(dtype, "[0, 255, 1]"));
  expect_round_trip(constant("s4", "[-8, 7, -1]"));
  expect_round_trip(constant("u4", "[0, 15, 9]"));
}

TEST(GraphJson, DialectOpsetNamesAndLeftOutInputsComeBack) {
  const std::string x = R"({"id": 0, "dtype": "f32", "shape": [3], "name": "x"})";
  const std::string y = R"({"id": 1, "dtype": "f32", "shape": [3]})";
  const std::string op =
      R"("id": 0, "kind": "Clip", "inputs": [)" + x + R"(, null, )" + x + R"(], "outputs": [)" + y + "]";
  const std::string text = R"({"graph": [{"dialect": "onnx", "opset": 13, )" + op + "}]}";
  expect_round_trip(text);
  const Result<Graph> one = read_json(text);
  ASSERT_TRUE(one.ok()) << one.status().message();
  EXPECT_EQ(one.value().ops[0].dialect, tenfold::graph::Dialect::onnx);
  EXPECT_EQ(one.value().ops[0].opset, 13);
  EXPECT_EQ(one.value().ops[0].inputs[1], tenfold::graph::kNone);
  EXPECT_EQ(one.value().values[0].name, "x");
  const Result<Graph> whole = read_json(R"({"graph": [{)" + op + R"(}], "dialect": "onnx", "opset": 13})");
  ASSERT_TRUE(whole.ok()) << whole.status().message();
  EXPECT_TRUE(whole.value() == one.value());
}

TEST(GraphJson, OutputsThatAreLeftOutComeBack) {
  const std::string text =
      R"({"graph": [{"dialect": "onnx", "opset": 17, "id": 0, "kind": "LayerNormalization",
          "inputs": [{"id": 1, "dtype": "f32", "shape": [2, 3]}, {"id": 2, "dtype": "f32", "shape": [3]}],
          "outputs": [{"id": 3, "dtype": "f32", "shape": [2, 3]}, null, {"id": 0, "dtype": "f32", "shape": [2, 1]}]}]})";
  expect_round_trip(text);
  const Result<Graph> graph = read_json(text);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const tenfold::graph::Op& op = graph.value().ops[0];
  ASSERT_EQ(op.outputs.size(), 3U);
  EXPECT_EQ(graph.value().values[op.outputs[1]].id, 4) << "the first id that no other has";
  EXPECT_EQ(graph.value().outputs, (std::vector<tenfold::graph::ValueId>{op.outputs[0], op.outputs[2]}));
  EXPECT_NE(write_json(graph.value()).value().find("}, null, {"), std::string::npos);
}

TEST(GraphJson, OutputsWhoseDtypeDoesNotFollowKeepTheirs) {
  const Graph again = through_a_file(
      "graph {\n %0 = input : f32[2,4]\n"
      " %1, %2, %3 = onednn.LayerNorm (%0) {use_affine = false} : f32[2,4], f32[2], f32[2]\n output %1\n}\n");
  EXPECT_EQ(again.outputs.size(), 3U);
}

TEST(GraphJson, DialectsAndOpsetsThatAreNoneAreRefused) {
  const auto message = [](const std::string& keys) {
    return read_json(R"({"graph": [], )" + keys + "}").status().message();
  };
  EXPECT_NE(message(R"("dialect": "core")").find("unknown dialect 'core'"), std::string::npos);
  EXPECT_NE(message(R"("dialect": "onnx", "opset": 1001)").find("above 1000"), std::string::npos);
  EXPECT_NE(message(R"("dialect": "onnx", "opset": -1)").find("opset"), std::string::npos);
}

TEST(GraphJson, AnOutputThatIsUsedInsideGetsAnEnd) {
  const Graph again = through_a_file(
      "graph {\n %0 = input : f32[3]\n %1 = onednn.Abs (%0) : f32[3]\n %2 = onednn.Abs (%1) : f32[3]\n"
      " output %1, %2\n}\n");
  EXPECT_EQ(again.outputs.size(), 2U);
  EXPECT_EQ(again.ops.size(), 3U);
}

TEST(GraphJson, SuchAnEndTakesEveryDtype) {
  for (const tenfold::DTypeRow& row : tenfold::kDTypes) {
    if (row.dtype == tenfold::DType::undef) continue;
    const std::string dtype(row.name);
    through_a_file("graph {\n %0 = input : " + dtype + "[3]\n %1 = onnx.Identity (%0) : " + dtype +
                   "[3]\n %2 = onnx.Identity (%1) : " + dtype + "[3]\n output %1, %2\n}\n");
  }
}

TEST(GraphJson, NamesOfAnyBytesBecomeJsonStrings) {
  const auto round_trip = [](const std::string& name) {
    Graph graph;
    graph.values.resize(2);
    for (tenfold::graph::Value& value : graph.values) value.dtype = tenfold::DType::f32;
    graph.values[0].id = 1;
    graph.ops.resize(1);
    graph.ops[0].kind = "Abs";
    graph.ops[0].name = name;
    graph.ops[0].inputs = {0};
    graph.ops[0].outputs = {1};
    tenfold::graph::connect(graph);
    const Result<std::string> text = write_json(graph);
    EXPECT_TRUE(text.ok());
    const Result<Graph> again = read_json(text.value());
    EXPECT_TRUE(again.ok()) << again.status().message() << text.value();
    return again.ok() ? again.value().ops[0].name : "";
  };
  for (const std::string kept : {"a \"quoted\" \\ one", "line\nand\ttab\x01\x7f", "\u00e9\u20ac\U0001f600", "\uffff"})
    EXPECT_EQ(round_trip(kept), kept);
  const std::string replaced = "\ufffd";
  EXPECT_EQ(round_trip("a\x80z"), "a" + replaced + "z") << "a byte that begins nothing";
  EXPECT_EQ(round_trip("\xe2\x82"), replaced + replaced) << "cut off";
  EXPECT_EQ(round_trip("\xc0\xaf"), replaced + replaced) << "longer than need be";
  EXPECT_EQ(round_trip("\xed\xa0\x80"), replaced + replaced + replaced) << "half of a pair";
  EXPECT_EQ(round_trip("\xf4\x90\x80\x80"), replaced + replaced + replaced + replaced) << "beyond Unicode";
}

TEST(GraphJson, WhatFilesCannotHoldIsRefused) {
  Graph graph;
  graph.values.resize(2);
  graph.values[0].is_constant = true;
  graph.values[0].dtype = tenfold::DType::f8_e5m2;
  graph.values[1].producer = 0;
  graph.outputs = {1};
  graph.ops.resize(1);
  graph.ops[0].kind = "Abs";
  graph.ops[0].inputs = {0};
  graph.ops[0].outputs = {1};
  EXPECT_EQ(write_json(graph).status().code(), tenfold::Code::unsupported_dtype);
  graph.ops[0].dialect = tenfold::graph::Dialect::core;
  EXPECT_EQ(write_json(graph).status().code(), tenfold::Code::unsupported_op);
}

}  // namespace
