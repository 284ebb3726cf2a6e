// SPDX-License-Identifier: Apache-2.0
//
// What the reader makes of good files: every key, both spellings, and the special values of oneDNN's writer.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "graph/read/json.hpp"

namespace {

using namespace tenfold::graph;
using tenfold::Dims;
using tenfold::DType;
using tenfold::kUnknownDim;
using tenfold::Result;

const std::string kUnknown = "-9223372036854775808";

std::string tensor(int id, const std::string& shape, const std::string& rest = "", const std::string& dtype = "f32") {
  return R"({"id": )" + std::to_string(id) + R"(, "dtype": ")" + dtype + R"(", "shape": )" + shape + rest + "}";
}

std::string op(int id, const std::string& kind, const std::string& inputs, const std::string& outputs,
               const std::string& attrs = "{}") {
  return R"({"id": )" + std::to_string(id) + R"(, "name": "o)" + std::to_string(id) + R"(", "kind": ")" + kind +
         R"(", "attrs": )" + attrs + R"(, "inputs": [)" + inputs + R"(], "outputs": [)" + outputs + "]}";
}

std::string file(const std::string& ops) { return R"({"version": "3.0.0", "graph": [)" + ops + "]}"; }

Graph read(const std::string& text) {
  Result<Graph> graph = read_json(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message() << "\n" << text;
  return graph.ok() ? std::move(graph).value() : Graph{};
}

/// The attribute of the only op of a file in which it is spelled `json`.
Attribute read_attribute(const std::string& json) {
  const Graph graph = read(file(op(0, "Abs", tensor(0, "[1]"), tensor(1, "[1]"), R"({"a": )" + json + "}")));
  if (graph.ops.empty() || graph.ops[0].attributes.size() != 1) return {};
  return graph.ops[0].attributes[0].value;
}

/// The input of a file whose only op's input record is `tensor(0, shape, rest)`.
Value read_input(const std::string& shape, const std::string& rest) {
  const Graph graph = read(file(op(0, "Abs", tensor(0, shape, rest), tensor(1, "[1]"))));
  return graph.values.empty() ? Value{} : graph.values[0];
}

std::string read_file(const std::string& name) {
  std::ifstream stream(std::filesystem::path(TENFOLD_SOURCE_DIR) / "tests/data/graphs" / name, std::ios::binary);
  EXPECT_TRUE(stream.good()) << name;
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

TEST(ReadJson, ReadsEveryKeyOfAReduction) {
  const Graph graph = read(read_file("reduce_l2.json"));
  EXPECT_EQ(graph.version, "3.0.0");
  EXPECT_EQ(graph.engine_kind, "cpu");
  EXPECT_EQ(graph.fpmath_mode, "strict");
  EXPECT_TRUE(graph.extras.empty());
  ASSERT_EQ(graph.ops.size(), 1U);
  const Op& l2 = graph.ops[0];
  EXPECT_EQ(describe(l2), "op 0 'l2' (ReduceL2)");
  EXPECT_EQ(l2.dialect, Dialect::onednn);
  EXPECT_EQ(attribute_or(l2, "axes", std::vector<std::int64_t>{}), std::vector<std::int64_t>{-1});
  EXPECT_TRUE(attribute_or(l2, "keep_dims", false));
  ASSERT_EQ(graph.values.size(), 2U);
  const Value& source = graph.values[0];
  EXPECT_EQ(source.id, 0);
  EXPECT_EQ(source.dtype, DType::f32);
  EXPECT_TRUE(source.ranked);
  EXPECT_EQ(source.shape, (Dims{3, 5, 33}));
  EXPECT_TRUE(source.strides.empty()) << "row-major strides are stored as none";
  EXPECT_EQ(source.layout, Layout::strided);
  EXPECT_EQ(source.property, Property::undef);
  EXPECT_EQ(source.producer, kNone);
  EXPECT_EQ(graph.values[1].producer, 0U);
  EXPECT_EQ(graph.inputs, std::vector<ValueId>{0});
  EXPECT_EQ(graph.outputs, std::vector<ValueId>{1});
}

TEST(ReadJson, EveryGraphFileOfTheTestsIsRead) {
  std::size_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(TENFOLD_SOURCE_DIR) / "tests/data/graphs")) {
    const Graph graph = read(read_file(entry.path().filename().string()));
    EXPECT_FALSE(graph.ops.empty()) << entry.path();
    EXPECT_FALSE(graph.outputs.empty()) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 12U);
}

TEST(ReadJson, NumbersMayBeIntegersOrFloats) {
  EXPECT_EQ(read_attribute(R"({"type": "s64", "value": 2.0})"), Attribute(std::int64_t{2}));
  EXPECT_EQ(read_attribute(R"({"type": "s64", "value": -3e2})"), Attribute(std::int64_t{-300}));
  EXPECT_EQ(read_attribute(R"({"type": "s64[]", "value": [1.0, 9223372036854775807]})"),
            Attribute(std::vector<std::int64_t>{1, std::numeric_limits<std::int64_t>::max()}));
  EXPECT_EQ(read_attribute(R"({"type": "f32", "value": 1})"), Attribute(1.0));
  EXPECT_EQ(read_attribute(R"({"type": "f32", "value": 1e-05})"), Attribute(1e-05));
  EXPECT_EQ(read_attribute(R"({"type": "f32[]", "value": [1, 0.5]})"), Attribute(std::vector<double>{1.0, 0.5}));
  EXPECT_EQ(read_attribute(R"({"type": "s64[]", "value": []})"), Attribute(std::vector<std::int64_t>{}));
}

TEST(ReadJson, BooleansMayBeNumbersOrWords) {
  for (const char* text : {"1", "true", "1.0"})
    EXPECT_EQ(read_attribute(std::string(R"({"type": "bool", "value": )") + text + "}"), Attribute(true)) << text;
  for (const char* text : {"0", "false"})
    EXPECT_EQ(read_attribute(std::string(R"({"type": "bool", "value": )") + text + "}"), Attribute(false)) << text;
}

TEST(ReadJson, AnAttributesTypeMayFollowItsValue) {
  EXPECT_EQ(read_attribute(R"({"value": [2, 1], "type": "s64[]"})"), Attribute(std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(read_attribute(R"({"value": "NCX", "type": "string"})"), Attribute(std::string("NCX")));
}

TEST(ReadJson, TakesTheBareInfinitiesOfTheWriter) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(read_attribute(R"({"type": "f32", "value": inf})"), Attribute(infinity));
  EXPECT_EQ(read_attribute(R"({"type": "f32", "value": -Infinity})"), Attribute(-infinity));
  EXPECT_EQ(read_attribute(R"({"type": "f32", "value": -inf})"), Attribute(-infinity));
  EXPECT_EQ(read_attribute(R"({"type": "f32", "value": "-inf"})"), Attribute(-infinity));
  for (const char* text : {"nan", "-nan", "NaN", "\"nan\""}) {
    const Attribute value = read_attribute(std::string(R"({"type": "f32", "value": )") + text + "}");
    ASSERT_TRUE(std::holds_alternative<double>(value)) << text;
    EXPECT_TRUE(std::isnan(std::get<double>(value))) << text;
  }
  EXPECT_EQ(read_attribute(R"({"type": "f32[]", "value": [inf,-inf,1]})"),
            Attribute(std::vector<double>{infinity, -infinity, 1}));
  EXPECT_EQ(read_attribute(R"({"type": "f32[]", "value": [Infinity,inf,-Infinity]})"),
            Attribute(std::vector<double>{infinity, infinity, -infinity}));
  EXPECT_EQ(read_attribute(R"({"type": "string", "value": "nan, inf"})"), Attribute(std::string("nan, inf")));
}

TEST(ReadJson, KeepsTheSignOfZero) {
  const Attribute value = read_attribute(R"({"type": "f32", "value": -0})");
  ASSERT_TRUE(std::holds_alternative<double>(value));
  EXPECT_TRUE(std::signbit(std::get<double>(value)));
  EXPECT_EQ(read_attribute(R"({"type": "s64", "value": -0})"), Attribute(std::int64_t{0}));
}

TEST(ReadJson, OneUnknownDimMeansThatTheRankIsUnknown) {
  const Value unranked =
      read_input("[" + kUnknown + "]", R"(, "stride": [)" + kUnknown + R"(], "layout_type": "undef")");
  EXPECT_FALSE(unranked.ranked);
  EXPECT_TRUE(unranked.shape.empty());
  EXPECT_TRUE(unranked.strides.empty());
  EXPECT_EQ(unranked.layout, Layout::undef);
  EXPECT_FALSE(is_static(unranked));

  const Value partly = read_input("[4, " + kUnknown + ", 3]", R"(, "stride": [12, 3, 1])");
  EXPECT_TRUE(partly.ranked);
  EXPECT_EQ(partly.shape, (Dims{4, kUnknownDim, 3}));
  EXPECT_TRUE(partly.strides.empty()) << "strides of a shape with unknown dims mean nothing";
  EXPECT_FALSE(is_static(partly));

  const Value strideless = read_input("[4, 3]", R"(, "stride": [)" + kUnknown + "]");
  EXPECT_EQ(strideless.shape, (Dims{4, 3}));
  EXPECT_TRUE(strideless.strides.empty());
}

TEST(ReadJson, RankZeroIsAShape) {
  const Value scalar = read_input("[]", R"(, "stride": [])");
  EXPECT_TRUE(scalar.ranked);
  EXPECT_TRUE(scalar.shape.empty());
  EXPECT_TRUE(is_static(scalar));
}

TEST(ReadJson, KeepsStridesThatAreNotRowMajor) {
  EXPECT_EQ(read_input("[2, 8, 5, 6]", R"(, "stride": [240, 1, 48, 8])").strides, (Dims{240, 1, 48, 8}));
  EXPECT_EQ(read_input("[4, 10]", R"(, "stride": [16, 1])").strides, (Dims{16, 1}));
  EXPECT_EQ(read_input("[4, 10]", R"(, "stride": [0, 1])").strides, (Dims{0, 1}));
  EXPECT_TRUE(read_input("[4, 10]", R"(, "stride": [10, 1])").strides.empty());
  EXPECT_TRUE(read_input("[4, 10]", "").strides.empty());
  EXPECT_TRUE(read_input("[4, 0, 3]", R"(, "stride": [0, 3, 1])").strides.empty()) << "no element, no stride";
  EXPECT_TRUE(read_input("[4, 10]", R"(, "stride": [7, 99], "layout_type": "opaque")").strides.empty())
      << "an opaque tensor's stride slot holds the layout's id";
}

TEST(ReadJson, ReadsLayoutAndProperty) {
  const Value value = read_input("[1]", R"(, "layout_type": "any", "property_type": "host_scalar")");
  EXPECT_EQ(value.layout, Layout::any);
  EXPECT_EQ(value.property, Property::host_scalar);
  EXPECT_EQ(read_input("[1]", R"(, "property_type": "variable")").property, Property::variable);
  const Value weights = read_input("[1]", R"(, "property_type": "constant")");
  EXPECT_EQ(weights.property, Property::constant);
  EXPECT_FALSE(weights.is_constant) << "without data a constant is an input that does not change";
}

TEST(ReadJson, OpsMayStandInAnyOrder) {
  const Graph graph = read(read_file("out_of_order.json"));
  ASSERT_EQ(graph.ops.size(), 3U);
  EXPECT_EQ(graph.ops[0].kind, "Sqrt") << "the file's order is kept";
  ASSERT_EQ(graph.inputs.size(), 1U);
  EXPECT_EQ(graph.values[graph.inputs[0]].id, 0);
  ASSERT_EQ(graph.outputs.size(), 1U);
  EXPECT_EQ(graph.values[graph.outputs[0]].id, 3);
}

TEST(ReadJson, PortListsAreDerivedAndNotBelieved) {
  const Graph graph = read(read_file("unknown_keys.json"));
  ASSERT_EQ(graph.inputs.size(), 1U);
  EXPECT_EQ(graph.values[graph.inputs[0]].id, 0);
  ASSERT_EQ(graph.outputs.size(), 1U);
  EXPECT_EQ(graph.values[graph.outputs[0]].id, 1);
}

TEST(ReadJson, WhatAnEndTakesIsAnOutput) {
  const Graph graph = read(read_file("chain.json"));
  std::vector<std::int64_t> ids;
  for (const ValueId output : graph.outputs) ids.push_back(graph.values[output].id);
  EXPECT_EQ(ids, (std::vector<std::int64_t>{4, 6}));
}

TEST(ReadJson, UnknownKeysAreKept) {
  const Graph graph = read(read_file("unknown_keys.json"));
  EXPECT_EQ(graph.extras,
            (std::vector<ExtraKey>{{"tool", R"({"name":"dumper"})"}, {"fpmath_mode_apply_to_int", "\"true\""}}));
  ASSERT_EQ(graph.ops.size(), 1U);
  EXPECT_EQ(graph.ops[0].extras,
            (std::vector<ExtraKey>{{"comment", R"({"by":["a tool",1.5]})"}, {"inputs/0/tag", "\"x\""}}));
  const Graph inside = read(file(op(0, "Abs", tensor(0, "[1]"), tensor(1, "[1]"),
                                    R"({"a": {"type": "s64", "value": 1, "why": [ " x ", inf ]}})")));
  ASSERT_EQ(inside.ops.size(), 1U);
  EXPECT_EQ(inside.ops[0].extras, (std::vector<ExtraKey>{{"attrs/a/why", R"([" x ",inf])"}}));
}

TEST(ReadJson, ApplyToIntMayBeAStringOrABoolean) {
  const std::vector<ExtraKey> expected{{"fpmath_mode_apply_to_int", "\"false\""}};
  EXPECT_EQ(read(R"({"fpmath_mode_apply_to_int": "false", "graph": []})").extras, expected);
  EXPECT_EQ(read(R"({"fpmath_mode_apply_to_int": false, "graph": []})").extras, expected);
  EXPECT_EQ(read(R"({"fpmath_mode_apply_to_int": 0, "graph": []})").extras, expected);
}

TEST(ReadJson, MembersMayStandInAnyOrder) {
  const Graph graph = read(R"({"graph": [{"outputs": [], "inputs": [{"shape": [], "dtype": "bf16", "id": 4}],
                                          "kind": "End", "id": 9}], "version": "9", "fpmath_mode": "bf16"})");
  EXPECT_EQ(graph.version, "9");
  EXPECT_EQ(graph.fpmath_mode, "bf16");
  ASSERT_EQ(graph.ops.size(), 1U);
  EXPECT_EQ(describe(graph.ops[0]), "op 9 (End)");
  ASSERT_EQ(graph.values.size(), 1U);
  EXPECT_EQ(graph.values[0].dtype, DType::bf16);
}

TEST(ReadJson, StringsAreDecoded) {
  EXPECT_EQ(read_attribute(R"({"type": "string", "value": "a\n\t\\\"\/\u00e9\ud83d\ude00é"})"),
            Attribute(std::string("a\n\t\\\"/\xc3\xa9\xf0\x9f\x98\x80\xc3\xa9")));
  EXPECT_EQ(read("\xef\xbb\xbf{\"graph\": []}").ops.size(), 0U) << "a byte order mark is allowed";
}

TEST(ReadJson, OneTensorIsOneValue) {
  const Graph graph = read(file(op(0, "Add", tensor(5, "[4]") + "," + tensor(5, "[4]"), tensor(6, "[4]"))));
  EXPECT_EQ(graph.values.size(), 2U);
  ASSERT_EQ(graph.ops.size(), 1U);
  EXPECT_EQ(graph.ops[0].inputs, (std::vector<ValueId>{0, 0}));
  EXPECT_EQ(graph.inputs, std::vector<ValueId>{0});
}

TEST(ReadJson, RecordsOfOneTensorCompleteEachOther) {
  const std::string unknown = "[" + kUnknown + "]";
  const Graph graph = read(file(op(0, "Abs", tensor(0, "[4, 3]"), tensor(1, unknown)) + "," +
                                op(1, "Exp", tensor(1, "[4, " + kUnknown + "]"), tensor(2, "[4, 3]")) + "," +
                                op(2, "Log", tensor(1, "[4, 3]", R"(, "stride": [1, 4])"), tensor(3, "[4, 3]"))));
  ASSERT_EQ(graph.values.size(), 4U);
  EXPECT_EQ(graph.values[1].shape, (Dims{4, 3}));
  EXPECT_EQ(graph.values[1].strides, (Dims{1, 4}));
}

TEST(ReadJson, TheProducersShapeCounts) {
  const std::string producer = op(0, "Abs", tensor(0, "[4, 3]"), tensor(1, "[4, 3]"));
  const std::string consumer = op(1, "Exp", tensor(1, "[4, 1]"), tensor(2, "[4, 1]"));
  const std::string other = op(2, "Log", tensor(1, "[1, 3]"), tensor(3, "[1, 3]"));
  for (const std::string& ops :
       {producer + "," + consumer, consumer + "," + producer, consumer + "," + other + "," + producer}) {
    const Graph graph = read(file(ops));
    for (const Value& value : graph.values) {
      if (value.id == 1) {
        EXPECT_EQ(value.shape, (Dims{4, 3})) << ops;
      }
    }
  }
}

TEST(ReadJson, ColumnsCountCharacters) {
  const Result<Graph> graph = read_json("{\n  \"gr\xc3\xa4ph\": 1, \"graph\": 2}");
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.status().message(), "line 2, column 24, at /graph: expected an array of ops");
  EXPECT_EQ(graph.status().code(), tenfold::Code::invalid_file);
}

TEST(ReadJson, PointersAreEscaped) {
  const Result<Graph> graph = read_json(R"({"a/b~": {"x": 1, "x": 2}, "graph": []})");
  ASSERT_FALSE(graph.ok());
  EXPECT_NE(graph.status().message().find("at /a~1b~0/x: key 'x' occurs twice"), std::string::npos)
      << graph.status().message();
}

TEST(Connect, KeepsWhatTheCallerWantsKept) {
  Graph graph = read(read_file("chain.json"));
  const auto id_of = [&](std::int64_t id) {
    for (ValueId i = 0; i < graph.values.size(); ++i)
      if (graph.values[i].id == id) return i;
    return kNone;
  };
  connect(graph, {id_of(2), id_of(0)});
  std::vector<std::int64_t> ids;
  for (const ValueId output : graph.outputs) ids.push_back(graph.values[output].id);
  EXPECT_EQ(ids, (std::vector<std::int64_t>{2, 4, 6, 0}));
  EXPECT_EQ(graph.inputs, (std::vector<ValueId>{id_of(0), id_of(1)}));
}

TEST(Attributes, AreSetReplacedAndFound) {
  Op reduce;
  EXPECT_EQ(find_attribute(reduce, "axes"), nullptr);
  set_attribute(reduce, "axes", std::vector<std::int64_t>{1});
  set_attribute(reduce, "axes", std::vector<std::int64_t>{0, 2});
  set_attribute(reduce, "keep_dims", true);
  EXPECT_EQ(reduce.attributes.size(), 2U);
  EXPECT_EQ(attribute_or(reduce, "axes", std::vector<std::int64_t>{}), (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(attribute_or(reduce, "keep_dims", std::int64_t{7}), 7) << "another type is not taken";
}

}  // namespace
