// SPDX-License-Identifier: Apache-2.0
//
// The ONNX reader on good models: all forms of data, names, dims and constants; and on ONNX's own node tests where they
// are (TENFOLD_CORPUS_ONNX, the checkout's neighbour, or Debian's libonnx-testdata).
#include "graph/read/onnx.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "schemas/op_table.hpp"
#include "tests/unit/read/onnx_writer.hpp"

namespace {

namespace fs = std::filesystem;
using namespace onnx_writer;
using tenfold::Code;
using tenfold::Dims;
using tenfold::DType;
using tenfold::kUnknownDim;
using tenfold::Result;
using tenfold::Status;
using tenfold::graph::Dialect;
using tenfold::graph::Graph;
using tenfold::graph::kNone;
using tenfold::graph::OnnxOptions;
using tenfold::graph::read_onnx;
using tenfold::graph::read_onnx_tensor;
using tenfold::graph::Value;

Graph read(const std::string& bytes, const OnnxOptions& options = {}) {
  Result<Graph> graph = read_onnx(bytes, options);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? std::move(graph).value() : Graph();
}

const Value& named(const Graph& graph, const std::string& name) {
  static const Value kNoValue;
  for (const Value& value : graph.values)
    if (value.name == name) return value;
  ADD_FAILURE() << "no tensor '" << name << "'";
  return kNoValue;
}

template <class T>
std::vector<T> elements(const Value& value) {
  std::vector<T> result(value.data.size() / sizeof(T));
  if (!result.empty()) std::memcpy(result.data(), value.data.data(), value.data.size());
  return result;
}

TEST(Onnx, AGraphKeepsNamesOrderAndOpset) {
  GraphParts parts;
  parts.inputs = {value_info("b", tensor_type(kFloat, {{2}, {3}})), value_info("a", tensor_type(kFloat, {{3}}))};
  parts.nodes = {node("Add", {"a", "b"}, {"c"}).text(3, "adder"),
                 node("ReduceMax", {"c"}, {"d"}, {ints_attribute("axes", {-1}), int_attribute("keepdims", 0)})};
  parts.outputs = {value_info("d", tensor_type(kFloat, {{2}})), value_info("c", tensor_type(kFloat, {{2}, {3}}))};
  const Graph graph = read(model(parts, {opset("ai.onnx", 17)}));
  ASSERT_EQ(graph.ops.size(), 2U);
  ASSERT_EQ(graph.inputs.size(), 2U);
  EXPECT_EQ(graph.values[graph.inputs[0]].name, "b");
  EXPECT_EQ(graph.values[graph.inputs[1]].name, "a");
  ASSERT_EQ(graph.outputs.size(), 2U);
  EXPECT_EQ(graph.values[graph.outputs[0]].name, "d");
  EXPECT_EQ(graph.values[graph.outputs[1]].name, "c");
  EXPECT_EQ(graph.ops[0].name, "adder");
  EXPECT_EQ(graph.ops[0].kind, "Add");
  EXPECT_EQ(graph.ops[0].dialect, Dialect::onnx);
  EXPECT_EQ(graph.ops[0].opset, 17);
  EXPECT_EQ(graph.ops[0].inputs, (std::vector<tenfold::graph::ValueId>{graph.inputs[1], graph.inputs[0]}));
  EXPECT_EQ(tenfold::graph::attribute_or<std::vector<std::int64_t>>(graph.ops[1], "axes", {}), Dims{-1});
  EXPECT_EQ(tenfold::graph::attribute_or<std::int64_t>(graph.ops[1], "keepdims", 1), 0);
  EXPECT_EQ(named(graph, "c").shape, (Dims{2, 3}));
  EXPECT_EQ(named(graph, "c").producer, 0U);
  for (std::size_t v = 0; v < graph.values.size(); ++v) EXPECT_EQ(graph.values[v].id, static_cast<std::int64_t>(v));
}

TEST(Onnx, DimsMayBeNamedOrLeftOpen) {
  GraphParts parts;
  parts.inputs = {value_info("x", tensor_type(kFloat, {{0, "N"}, {-2}, {4}})),
                  value_info("y", Message().message(1, Message().number(1, kFloat)))};
  parts.nodes = {node("Add", {"x", "y"}, {"z"})};
  parts.outputs = {Message().text(1, "z")};
  const Graph graph = read(model(parts));
  EXPECT_EQ(named(graph, "x").shape, (Dims{kUnknownDim, kUnknownDim, 4}));
  EXPECT_EQ(named(graph, "x").dim_names, (std::vector<std::string>{"N", "", ""}));
  EXPECT_FALSE(named(graph, "y").ranked);
  EXPECT_EQ(named(graph, "z").dtype, DType::undef);
}

TEST(Onnx, OptionalInputsAndOutputsMayBeLeftOut) {
  GraphParts parts;
  parts.inputs = {value_info("x", tensor_type(kFloat, {{2}})), value_info("hi", tensor_type(kFloat, {}))};
  parts.nodes = {node("Clip", {"x", "", "hi"}, {"y"}), node("Dropout", {"y"}, {"z", ""})};
  parts.outputs = {value_info("z", tensor_type(kFloat, {{2}}))};
  const Graph graph = read(model(parts));
  ASSERT_EQ(graph.ops.size(), 2U);
  ASSERT_EQ(graph.ops[0].inputs.size(), 3U);
  EXPECT_EQ(graph.ops[0].inputs[1], kNone);
  ASSERT_EQ(graph.ops[1].outputs.size(), 2U);
  EXPECT_EQ(graph.values[graph.ops[1].outputs[1]].name, "");
  EXPECT_EQ(graph.outputs.size(), 1U);
  EXPECT_TRUE(named(graph, "hi").ranked);
  EXPECT_TRUE(named(graph, "hi").shape.empty());
}

TEST(Onnx, InitializersThatAreInputsToo) {
  GraphParts parts;
  parts.inputs = {value_info("w", tensor_type(kFloat, {{2}})), value_info("x", tensor_type(kFloat, {{2}}))};
  parts.initializers = {raw_tensor("w", kFloat, {2}, bytes_of<float>({1, 2}))};
  parts.nodes = {node("Mul", {"x", "w"}, {"y"})};
  parts.outputs = {value_info("y", tensor_type(kFloat, {{2}}))};
  const Graph graph = read(model(parts));
  ASSERT_EQ(graph.inputs.size(), 1U);
  EXPECT_EQ(graph.values[graph.inputs[0]].name, "x");
  EXPECT_TRUE(named(graph, "w").is_constant);
  EXPECT_EQ(elements<float>(named(graph, "w")), (std::vector<float>{1, 2}));
}

TEST(Onnx, OldModelsWithoutOpsetsMeanTheFirst) {
  GraphParts parts;
  parts.inputs = {value_info("x", tensor_type(kFloat, {{2}}))};
  parts.nodes = {node("Abs", {"x"}, {"y"})};
  parts.outputs = {value_info("y", tensor_type(kFloat, {{2}}))};
  const Graph graph = read(model(parts, {}, 2));
  ASSERT_EQ(graph.ops.size(), 1U);
  EXPECT_EQ(graph.ops[0].opset, 1);
}

/// Two elements, 1 and 0, of each data type that is a number: as raw data, and in the typed list of `field`.
struct Stored {
  int data_type;
  DType dtype;
  std::uint64_t field;
  std::string raw;
  std::string packed;
};

std::vector<Stored> stored() {
  using namespace std::string_literals;
  const std::string words("\1\0", 2);
  return {
      {1, DType::f32, 4, bytes_of<float>({1, 0}), bytes_of<float>({1, 0})},
      {2, DType::u8, 5, words, words},
      {3, DType::s8, 5, words, words},
      {4, DType::u16, 5, "\1\0\0\0"s, words},
      {5, DType::s16, 5, "\1\0\0\0"s, words},
      {6, DType::s32, 5, bytes_of<std::int32_t>({1, 0}), words},
      {7, DType::s64, 7, bytes_of<std::int64_t>({1, 0}), words},
      {9, DType::boolean, 5, words, words},
      {10, DType::f16, 5, "\0\x3c\0\0"s, "\x80\x78\0"s},
      {11, DType::f64, 10, bytes_of<double>({1, 0}), bytes_of<double>({1, 0})},
      {12, DType::u32, 11, bytes_of<std::uint32_t>({1, 0}), words},
      {13, DType::u64, 11, bytes_of<std::uint64_t>({1, 0}), words},
      {16, DType::bf16, 5, "\x80\x3f\0\0"s, "\x80\x7f\0"s},
  };
}

TEST(Onnx, RawAndTypedDataAgreeForEveryDType) {
  for (const Stored& s : stored()) {
    SCOPED_TRACE(std::string(to_string(s.dtype)));
    const auto raw = read_onnx_tensor(raw_tensor("t", s.data_type, {2, 1}, s.raw).bytes());
    const auto typed = read_onnx_tensor(tensor("t", s.data_type, {2, 1}).text(s.field, s.packed).bytes());
    ASSERT_TRUE(raw.ok()) << raw.status().message();
    ASSERT_TRUE(typed.ok()) << typed.status().message();
    EXPECT_EQ(raw.value(), typed.value());
    EXPECT_EQ(raw.value().dtype, s.dtype);
    EXPECT_EQ(raw.value().shape, (Dims{2, 1}));
    EXPECT_EQ(elements<char>(raw.value()), std::vector<char>(s.raw.begin(), s.raw.end()));
  }
}

TEST(Onnx, NegativeElementsOfTypedLists) {
  const auto value = read_onnx_tensor(tensor("t", 3, {2}).number(5, -128).number(5, 127).bytes());
  ASSERT_TRUE(value.ok()) << value.status().message();
  EXPECT_EQ(elements<std::int8_t>(value.value()), (std::vector<std::int8_t>{-128, 127}));
}

TEST(Onnx, EmptyAndRankZeroTensors) {
  const auto empty = read_onnx_tensor(tensor("t", kInt64, {0}).bytes());
  ASSERT_TRUE(empty.ok()) << empty.status().message();
  EXPECT_TRUE(empty.value().is_constant);
  EXPECT_TRUE(empty.value().data.empty());
  const auto scalar = read_onnx_tensor(raw_tensor("t", kInt64, {}, bytes_of<std::int64_t>({7})).bytes());
  ASSERT_TRUE(scalar.ok()) << scalar.status().message();
  EXPECT_TRUE(scalar.value().shape.empty());
}

TEST(Onnx, ConstantOfShapeIsExpandOfItsValue) {
  const auto of = [](const std::vector<Message>& attributes) {
    GraphParts parts;
    parts.nodes.push_back(node("ConstantOfShape", {"s"}, {"y"}, attributes));
    parts.initializers.push_back(raw_tensor("s", kInt64, {2}, bytes_of<std::int64_t>({2, 3})));
    parts.outputs.push_back(Message().text(1, "y"));
    return read_onnx(model(parts));
  };
  const Result<Graph> graph = of({tensor_attribute("value", raw_tensor("", kInt32, {1}, bytes_of<std::int32_t>({5})))});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph.value().ops.size(), 1U);
  const auto& op = graph.value().ops[0];
  EXPECT_EQ(op.kind, "Expand");
  ASSERT_EQ(op.inputs.size(), 2U);
  const auto& value = graph.value().values[op.inputs[0]];
  EXPECT_TRUE(value.shape.empty());
  EXPECT_EQ(elements<std::int32_t>(value), std::vector<std::int32_t>{5});
  const Result<Graph> zero = of({});
  ASSERT_TRUE(zero.ok()) << zero.status().message();
  EXPECT_EQ(elements<float>(zero.value().values[zero.value().ops[0].inputs[0]]), std::vector<float>{0});
  EXPECT_EQ(
      of({tensor_attribute("value", raw_tensor("", kInt32, {2}, bytes_of<std::int32_t>({5, 6})))}).status().code(),
      Code::invalid_op);
  EXPECT_EQ(of({int_attribute("value", 1)}).status().code(), Code::invalid_op);
}

TEST(Onnx, ConstantNodesInAllTheirForms) {
  const std::vector<Message> attributes = {
      tensor_attribute("value", raw_tensor("", kInt32, {2}, bytes_of<std::int32_t>({5, 6}))),
      Message().text(1, "value_float").fixed32(2, 1.5F).number(20, kAttrFloat),
      Message().text(1, "value_floats").fixed32(7, 1.5F).fixed32(7, 2.5F).number(20, 6),
      int_attribute("value_int", -3),
      ints_attribute("value_ints", {-3, 4}),
  };
  GraphParts parts;
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    const std::string name = "c" + std::to_string(i);
    parts.nodes.push_back(node("Constant", {}, {name}, {attributes[i]}));
    parts.outputs.push_back(Message().text(1, name));
  }
  const Graph graph = read(model(parts));
  EXPECT_TRUE(graph.ops.empty());
  EXPECT_TRUE(graph.inputs.empty());
  EXPECT_EQ(graph.outputs.size(), attributes.size());
  EXPECT_EQ(elements<std::int32_t>(named(graph, "c0")), (std::vector<std::int32_t>{5, 6}));
  EXPECT_EQ(elements<float>(named(graph, "c1")), std::vector<float>{1.5F});
  EXPECT_TRUE(named(graph, "c1").shape.empty());
  EXPECT_EQ(elements<float>(named(graph, "c2")), (std::vector<float>{1.5F, 2.5F}));
  EXPECT_EQ(elements<std::int64_t>(named(graph, "c3")), std::vector<std::int64_t>{-3});
  EXPECT_EQ(elements<std::int64_t>(named(graph, "c4")), (std::vector<std::int64_t>{-3, 4}));
  EXPECT_EQ(named(graph, "c4").shape, Dims{2});
}

TEST(Onnx, ConstantNodesHaveTheFormsOfTheirOpset) {
  const auto read_as = [](const Message& attribute, int version) {
    GraphParts parts;
    parts.nodes = {node("Constant", {}, {"c"}, {attribute})};
    parts.outputs = {Message().text(1, "c")};
    return read_onnx(model(parts, {opset("", version)})).status();
  };
  const auto floats = [](const char* name) { return Message().text(1, name).fixed32(7, 1.5F).number(20, 6); };
  const auto strings = [](const char* name) { return Message().text(1, name).text(4, "s").number(20, kAttrString); };
  const std::pair<const char*, Message> numbers[] = {
      {"value", tensor_attribute("value", raw_tensor("", kInt32, {1}, bytes_of<std::int32_t>({5})))},
      {"value_float", Message().text(1, "value_float").fixed32(2, 1.5F).number(20, kAttrFloat)},
      {"value_floats", floats("value_floats")},
      {"value_int", int_attribute("value_int", 1)},
      {"value_ints", ints_attribute("value_ints", {1})}};
  const auto* desc = tenfold::schemas::find_op(tenfold::schemas::Dialect::onnx, "Constant");
  ASSERT_NE(desc, nullptr);
  for (int version = 1; version <= tenfold::schemas::newest_opset(); ++version)
    for (const auto& [name, attribute] : numbers) {
      const auto& known = tenfold::schemas::version_for(*desc, version)->attributes;
      const bool expected = name == std::string("value") ||
                            std::any_of(known.begin(), known.end(), [&](const auto& a) { return a.name == name; });
      const Status status = read_as(attribute, version);
      EXPECT_EQ(status.ok(), expected) << name << " in opset " << version << ": " << status.message();
    }
  EXPECT_EQ(read_as(numbers[1].second, 11).message(),
            "op 0 (Constant): attribute 'value_float' is not known in opset 11; it is since opset 12");
  EXPECT_EQ(read_as(strings("sparse_value"), 10).code(), Code::invalid_op);
  EXPECT_EQ(read_as(strings("sparse_value"), 11).code(), Code::unsupported_dtype);
  EXPECT_EQ(read_as(strings("value_string"), 11).code(), Code::invalid_op);
  EXPECT_EQ(read_as(strings("value_string"), 12).code(), Code::unsupported_dtype);
}

std::string external_model(const std::string& length) {
  const auto entry = [](const char* key, const std::string& value) { return Message().text(1, key).text(2, value); };
  GraphParts parts;
  parts.initializers = {tensor("w", kFloat, {2})
                            .message(13, entry("location", "weights.bin"))
                            .message(13, entry("offset", "16"))
                            .message(13, entry("length", length))
                            .number(14, 1)};
  parts.outputs = {Message().text(1, "w")};
  return model(parts);
}

TEST(Onnx, ExternalDataComeFromTheCaller) {
  OnnxOptions options;
  std::string asked;
  options.external_data = [&](const std::string& location, std::int64_t offset, std::int64_t length) {
    asked = location + " " + std::to_string(offset) + " " + std::to_string(length);
    return Result<std::string>(bytes_of<float>({3, 4}));
  };
  const Graph graph = read(external_model("8"), options);
  EXPECT_EQ(asked, "weights.bin 16 8");
  EXPECT_EQ(elements<float>(named(graph, "w")), (std::vector<float>{3, 4}));
}

TEST(Onnx, ExternalDataAreRefusedWithoutACallerWhoGivesThem) {
  const auto graph = read_onnx(external_model("8"));
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.status().code(), Code::invalid_file);
  EXPECT_NE(graph.status().message().find("external file 'weights.bin'"), std::string::npos);
  OnnxOptions options;
  options.external_data = [](const std::string&, std::int64_t, std::int64_t) {
    return Result<std::string>(std::string("1234"));
  };
  EXPECT_NE(read_onnx(external_model("8"), options).status().message().find("4 bytes of data"), std::string::npos);
  EXPECT_NE(read_onnx(external_model("-8"), options).status().message().find("'length' is '-8'"), std::string::npos);
}

std::vector<fs::path> corpus() {
  std::vector<fs::path> found;
  const char* given = std::getenv("TENFOLD_CORPUS_ONNX");
  const fs::path beside = fs::path(TENFOLD_SOURCE_DIR) / "../shared/corpus/onnx-node";
  for (const fs::path& path :
       {given != nullptr ? fs::path(given) : beside, fs::path("/usr/share/libonnx-testdata/data/node")})
    if (fs::is_directory(path)) found.push_back(path);
  return found;
}

std::string contents(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.good()) << path;
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

TEST(OnnxCorpus, EveryModelIsReadOrRefusedAsUnsupported) {
  if (corpus().empty()) {
    std::printf("NOT RUN: no ONNX node tests (set TENFOLD_CORPUS_ONNX, or install libonnx-testdata)\n");
    GTEST_SKIP();
  }
  std::size_t good = 0, refused = 0;
  for (const fs::path& folder : corpus()) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (!fs::exists(entry.path() / "model.onnx")) continue;
      const auto graph = read_onnx(contents(entry.path() / "model.onnx"));
      ++(graph.ok() ? good : refused);
      if (graph.ok()) continue;
      const Code code = graph.status().code();
      EXPECT_TRUE(code == Code::unsupported_op || code == Code::unsupported_dtype)
          << entry.path() << ": " << graph.status().message();
    }
  }
  std::printf("%zu models read, %zu refused\n", good, refused);
  EXPECT_GT(good, refused);
}

TEST(OnnxCorpus, NoPlaceToCutAModelMakesItGood) {
  if (corpus().empty()) {
    std::printf("NOT RUN: no ONNX node tests (set TENFOLD_CORPUS_ONNX, or install libonnx-testdata)\n");
    GTEST_SKIP();
  }
  std::size_t cuts = 0;
  for (const fs::path& folder : corpus()) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (!entry.path().filename().string().starts_with("test_reduce_max")) continue;
      const std::string bytes = contents(entry.path() / "model.onnx");
      const auto whole = read_onnx(bytes);
      ASSERT_TRUE(whole.ok()) << entry.path() << ": " << whole.status().message();
      for (std::size_t size = 0; size < bytes.size(); ++size, ++cuts) {
        const auto graph = read_onnx(std::string_view(bytes).substr(0, size));
        // What stands behind the graph, its operator sets, is needed too.
        EXPECT_FALSE(graph.ok()) << entry.path() << " cut to " << size << " bytes";
      }
    }
  }
  EXPECT_GT(cuts, 0U);
}

}  // namespace
