// SPDX-License-Identifier: Apache-2.0
//
// The ONNX reader on bad models, each a good one with one thing wrong: the message must name it. Then models with
// random bytes changed, which may be anything but a crash, and models that would cost more than the limits.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/read/onnx.hpp"
#include "tests/unit/growth.hpp"
#include "tests/unit/read/onnx_writer.hpp"

namespace {

using namespace onnx_writer;
using tenfold::Code;
using tenfold::Result;
using tenfold::Status;
using tenfold::graph::Graph;
using tenfold::graph::OnnxOptions;
using tenfold::graph::read_onnx;
using tenfold::graph::read_onnx_tensor;

/// y = x * w, with w an initializer.
GraphParts good() {
  GraphParts parts;
  parts.inputs = {value_info("x", tensor_type(kFloat, {{2}, {3}}))};
  parts.initializers = {raw_tensor("w", kFloat, {3}, bytes_of<float>({1, 2, 3}))};
  parts.nodes = {node("Mul", {"x", "w"}, {"y"})};
  parts.outputs = {value_info("y", tensor_type(kFloat, {{2}, {3}}))};
  return parts;
}

struct Bad {
  const char* name;
  Code code;
  const char* part;  ///< of the message
  std::function<std::string()> make;
};

std::string with(const std::function<void(GraphParts&)>& spoil) {
  GraphParts parts = good();
  spoil(parts);
  return model(parts);
}

std::string with_initializer(const Message& initializer) {
  return with([&](GraphParts& p) { p.initializers = {initializer}; });
}

std::string with_node(const Message& bad_node) {
  return with([&](GraphParts& p) { p.nodes = {bad_node}; });
}

std::string with_input(const Message& type) {
  return with([&](GraphParts& p) { p.inputs = {value_info("x", type)}; });
}

std::vector<Bad> bad_files() {
  return {
      {"empty", Code::invalid_file, "empty", [] { return std::string(); }},
      {"text", Code::invalid_file, "byte", [] { return std::string("{\"graph\": []}"); }},
      {"zeros", Code::invalid_file, "field number 0", [] { return std::string(64, '\0'); }},
      {"endless number", Code::invalid_file, "ten bytes",
       [] { return std::string(1, '\x08') + std::string(20, '\xff'); }},
      {"length beyond the end", Code::invalid_file, "are left", [] { return std::string("\x3a\xff\xff\xff\x7f"); }},
      {"group", Code::invalid_file, "wire type 3", [] { return std::string("\x0b\x0c"); }},
      {"no graph", Code::invalid_file, "no graph", [] { return Message().number(1, 8).bytes(); }},
      {"no IR version", Code::invalid_file, "IR version is 0", [] { return model(good(), {opset("", 18)}, 0); }},
      {"no opset", Code::invalid_graph, "imports no opset", [] { return model(good(), {}); }},
      {"opset 0", Code::invalid_graph, "opset 0", [] { return model(good(), {opset("", 0)}); }},
      {"opset -1", Code::invalid_graph, "opset -1", [] { return model(good(), {opset("", -1)}); }},
      {"opset 9999", Code::unsupported_op, "opset 9999", [] { return model(good(), {opset("", 9999)}); }},
      {"two opsets", Code::invalid_graph, "as opset 18 and 17",
       [] {
         return model(good(), {opset("", 18), opset("ai.onnx", 17)});
       }},
      {"unknown domain", Code::unsupported_op, "'com.example'",
       [] {
         return with_node(node("Mul", {"x", "w"}, {"y"}).text(7, "com.example"));
       }},
      {"domain that is imported", Code::unsupported_op, "(Mul): its domain 'com.example' is not known",
       [] {
         GraphParts parts = good();
         parts.nodes = {node("Mul", {"x", "w"}, {"y"}).text(7, "com.example")};
         return model(parts, {opset("", 18), opset("com.example", 1)});
       }},
      {"opset of another domain alone", Code::invalid_graph, "(Mul): the model imports no opset of ai.onnx",
       [] { return model(good(), {opset("com.example", 1)}); }},
      {"op younger than the opset", Code::invalid_op, "'Mish' is since opset 18, the op is of opset 13",
       [] {
         GraphParts parts = good();
         parts.nodes = {node("Mish", {"x"}, {"y"})};
         return model(parts, {opset("", 13)});
       }},
      {"attribute of another version", Code::invalid_op, "'broadcast' is not known in Mul-14",
       [] {
         return with_node(node("Mul", {"x", "w"}, {"y"}, {int_attribute("broadcast", 1)}));
       }},
      {"unknown op", Code::unsupported_op, "NoSuchOp",
       [] {
         return with_node(node("NoSuchOp", {"x", "w"}, {"y"}));
       }},
      {"function over a known op", Code::unsupported_op, "function 'Mul'",
       [] { return model(good()) + Message().message(25, Message().text(1, "Mul")).bytes(); }},
      {"function", Code::unsupported_op, "function 'Mine'",
       [] {
         GraphParts parts = good();
         parts.nodes = {node("Mine", {"x"}, {"y"}).text(7, "local")};
         return model(parts) + Message().message(25, Message().text(1, "Mine").text(10, "local")).bytes();
       }},
  };
}

std::vector<Bad> bad_tensors() {
  const std::int64_t huge = std::int64_t{1} << 60;
  return {
      {"initializer too short", Code::invalid_file, "initializer 'w': 8 bytes",
       [] {
         return with_initializer(raw_tensor("w", kFloat, {3}, bytes_of<float>({1, 2})));
       }},
      {"typed data too short", Code::invalid_file, "1 elements",
       [] { return with_initializer(tensor("w", kFloat, {3}).fixed32(4, 1)); }},
      {"typed data too long, and out of range where they are", Code::invalid_file,
       "3 elements in the list of its type, but its dims ask for 2",
       [] { return with_initializer(tensor("w", kUint8, {2}).number(5, 1).number(5, 2).number(5, 256)); }},
      {"half bytes in a list that is too long", Code::invalid_file, "3 elements in the list of its type, but its dims",
       [] { return with_initializer(tensor("w", kInt4, {4}).number(5, 1).number(5, 2).number(5, 3)); }},
      {"typed data out of range", Code::invalid_file, "256, is out of the range of u8",
       [] { return with_initializer(tensor("w", kUint8, {1}).number(5, 256)); }},
      {"boolean 2", Code::invalid_file, "2, is no boolean",
       [] { return with_initializer(raw_tensor("w", kBool, {1}, "\2")); }},
      {"raw and typed data", Code::invalid_file, "more than one way",
       [] { return with_initializer(raw_tensor("w", kFloat, {1}, "1234").fixed32(4, 1)); }},
      {"huge dims", Code::invalid_shape, "2^47",
       [huge] {
         return with_initializer(tensor("w", kFloat, {huge, huge}));
       }},
      {"huge beside zero", Code::invalid_shape, "2^47",
       [huge] {
         return with_initializer(tensor("w", kFloat, {0, huge}));
       }},
      {"large dims without data", Code::invalid_file, "limit",
       [] { return with_initializer(tensor("w", kFloat, {1 << 30})); }},
      {"negative dim of data", Code::invalid_shape, "-3", [] { return with_initializer(tensor("w", kFloat, {-3})); }},
      {"no element type", Code::invalid_dtype, "not given", [] { return with_initializer(tensor("w", 0, {1})); }},
      {"element type 99", Code::unsupported_dtype, "99", [] { return with_initializer(tensor("w", 99, {1})); }},
      {"strings", Code::unsupported_dtype, "STRING",
       [] { return with_initializer(tensor("w", kString, {1}).text(6, "a")); }},
      {"input of huge dims", Code::invalid_shape, "graph input 'x'",
       [huge] {
         return with_input(tensor_type(kFloat, {{huge}, {huge}}));
       }},
      {"input with negative dim", Code::invalid_shape, "dim 1 is -1",
       [] {
         return with_input(tensor_type(kFloat, {{2}, {-1}}));
       }},
      {"input of rank 13", Code::invalid_shape, "rank 13",
       [] {
         return with_input(tensor_type(kFloat, std::vector<Dim>(13, Dim{1, ""})));
       }},
      {"input without type", Code::invalid_dtype, "'x'", [] { return with_input(Message()); }},
      {"sequence", Code::unsupported_dtype, "'x' is a sequence",
       [] { return with_input(Message().message(4, Message().message(1, tensor_type(kFloat, {})))); }},
      {"declared dtype", Code::invalid_dtype, "declared as s64",
       [] { return with([](GraphParts& p) { p.infos = {value_info("w", tensor_type(kInt64, {{3}}))}; }); }},
      {"declared dims", Code::invalid_shape, "other dims",
       [] { return with([](GraphParts& p) { p.infos = {value_info("w", tensor_type(kFloat, {{4}}))}; }); }},
  };
}

std::vector<Bad> bad_graphs() {
  return {
      {"missing initializer", Code::invalid_graph, "input 'w'",
       [] { return with([](GraphParts& p) { p.initializers.clear(); }); }},
      {"missing output", Code::invalid_graph, "graph output 'q'",
       [] { return with([](GraphParts& p) { p.outputs = {value_info("q", tensor_type(kFloat, {}))}; }); }},
      {"no outputs", Code::invalid_graph, "no outputs", [] { return with([](GraphParts& p) { p.outputs.clear(); }); }},
      {"output twice", Code::invalid_graph, "listed twice",
       [] { return with([](GraphParts& p) { p.outputs.push_back(p.outputs[0]); }); }},
      {"two producers", Code::invalid_graph, "output 'y'",
       [] { return with([](GraphParts& p) { p.nodes.push_back(p.nodes[0]); }); }},
      {"node gives an initializer", Code::invalid_graph, "output 'w'",
       [] {
         return with_node(node("Mul", {"x", "x"}, {"w"}));
       }},
      {"input twice", Code::invalid_graph, "graph input 'x'",
       [] { return with([](GraphParts& p) { p.inputs.push_back(p.inputs[0]); }); }},
      {"cycle", Code::invalid_graph, "cycle",
       [] {
         return with([](GraphParts& p) { p.nodes = {node("Mul", {"x", "z"}, {"y"}), node("Abs", {"y"}, {"z"})}; });
       }},
      {"node that reads what it gives", Code::invalid_graph, "cycle",
       [] {
         return with_node(node("Mul", {"x", "y"}, {"y"}));
       }},
      {"no op type", Code::invalid_graph, "no op type",
       [] {
         return with_node(node("", {"x", "w"}, {"y"}));
       }},
      {"control flow", Code::unsupported_op, "'then_branch' holds a graph",
       [] {
         return with_node(node("If", {"x"}, {"y"},
                               {Message().text(1, "then_branch").message(6, graph(good())).number(20, kAttrGraph)}));
       }},
      {"attribute twice", Code::invalid_op, "'axis' is given twice",
       [] {
         return with_node(node("Mul", {"x"}, {"y"}, {int_attribute("axis", 0), int_attribute("axis", 1)}));
       }},
      {"constant without value", Code::invalid_op, "0 attributes",
       [] { return with_node(node("Constant", {}, {"y"})); }},
      {"constant with inputs", Code::invalid_op, "1 inputs",
       [] { return with_node(node("Constant", {"x"}, {"y"}, {int_attribute("value_int", 1)})); }},
      {"constant of a wrong kind", Code::invalid_op, "'axis'",
       [] { return with_node(node("Constant", {}, {"y"}, {int_attribute("axis", 1)})); }},
      {"constant without an opset", Code::invalid_graph, "(Constant): the model imports no opset",
       [] {
         GraphParts parts = good();
         parts.nodes = {node("Constant", {}, {"y"}, {int_attribute("value_int", 1)})};
         return model(parts, {});
       }},
      {"constant of shape younger than the opset", Code::invalid_op, "'ConstantOfShape' is since opset 9, the op is of",
       [] {
         GraphParts parts = good();
         parts.nodes = {node("ConstantOfShape", {"w"}, {"y"})};
         return model(parts, {opset("", 8)});
       }},
  };
}

Status judge(const std::string& bytes) {
  Result<Graph> graph = read_onnx(bytes);
  return graph.ok() ? tenfold::graph::verify(graph.value()) : graph.status();
}

TEST(OnnxHostile, EveryBadModelIsNamed) {
  for (const auto& list : {bad_files(), bad_tensors(), bad_graphs()}) {
    for (const Bad& bad : list) {
      SCOPED_TRACE(bad.name);
      const Status status = judge(bad.make());
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(to_string(status.code()), std::string(to_string(bad.code))) << status.message();
      EXPECT_NE(status.message().find(bad.part), std::string::npos) << status.message();
    }
  }
}

TEST(OnnxHostile, TheModelThatTheBadOnesAreMadeOfIsRead) {
  const auto graph = read_onnx(model(good()));
  EXPECT_TRUE(graph.ok()) << graph.status().message();
}

/// A model whose only tensor is external, with these entries.
std::string external(const std::vector<std::pair<const char*, std::string>>& entries, const std::string& raw = "") {
  Message w = tensor("w", kFloat, {2});
  for (const auto& [key, value] : entries) w.message(13, Message().text(1, key).text(2, value));
  if (!raw.empty()) w.text(9, raw);
  GraphParts parts;
  parts.initializers = {w.number(14, 1)};
  parts.outputs = {Message().text(1, "w")};
  return model(parts);
}

TEST(OnnxHostile, BadExternalDataAreNamed) {
  OnnxOptions options;
  bool asked = false;
  options.external_data = [&asked](const std::string& location, std::int64_t, std::int64_t) -> Result<std::string> {
    asked = true;
    if (location == "gone") return Status(Code::invalid_file, "'gone': no such file");
    return std::string(9, 'x');
  };
  const auto message = [&](const std::string& bytes) {
    asked = false;
    const Status status = read_onnx(bytes, options).status();
    EXPECT_EQ(to_string(status.code()), std::string("invalid_file"));
    return status.message();
  };
  const auto expect = [&](const std::string& bytes, const char* part, bool reads) {
    const std::string said = message(bytes);
    EXPECT_NE(said.find(part), std::string::npos) << said;
    EXPECT_EQ(asked, reads) << said;
  };
  expect(external({}), "no location is given", false);
  expect(external({{"location", ""}}), "no location is given", false);
  expect(external({{"location", "w"}, {"offset", "-1"}}), "'offset' is '-1'", false);
  expect(external({{"location", "w"}, {"offset", "0x10"}}), "'offset' is '0x10'", false);
  expect(external({{"location", "w"}, {"length", "9223372036854775808"}}), "'length' is '9223372036854775808'", false);
  expect(external({{"location", "w"}, {"length", ""}}), "'length' is ''", false);
  expect(external({{"location", "w"}}, "12345678"), "more than one way", false);
  expect(external({{"location", "w"}}), "9 bytes of data, but its dims and type ask for 8", true);
  expect(external({{"location", "gone"}}), "initializer 'w': 'gone': no such file", true);
}

TEST(OnnxHostile, EveryCutOfATensorIsAnError) {
  const std::string bytes = raw_tensor("t", kFloat, {2, 1}, bytes_of<float>({1, 2})).bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Status status = read_onnx_tensor(std::string_view(bytes).substr(0, size)).status();
    EXPECT_FALSE(status.ok()) << "cut to " << size << " bytes";
    EXPECT_NE(status.code(), Code::internal_error) << status.message();
  }
  EXPECT_TRUE(read_onnx_tensor(bytes).ok());
}

TEST(OnnxHostile, EveryCutIsAnError) {
  const std::string bytes = model(good());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Status status = read_onnx(std::string_view(bytes).substr(0, size)).status();
    EXPECT_EQ(status.code(), Code::invalid_file) << "cut to " << size << " bytes: " << status.message();
    EXPECT_FALSE(status.message().empty()) << size;
  }
  const std::string half = read_onnx(std::string_view(bytes).substr(0, bytes.size() / 2)).status().message();
  EXPECT_NE(half.find("byte"), std::string::npos) << half;
}

TEST(OnnxHostile, ChangedBytesGiveAGraphOrAMessage) {
  const unsigned seed = 20240611;
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  const std::string whole = model(good());
  int refused = 0;
  constexpr int kModels = 20'000;
  for (int i = 0; i < kModels; ++i) {
    std::string bytes = whole;
    for (auto changes = 1 + random() % 3; changes > 0; --changes)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    const Status status = judge(bytes);
    if (status.ok()) continue;
    ++refused;
    ASSERT_FALSE(status.message().empty());
    ASSERT_NE(status.code(), Code::internal_error) << status.message();
  }
  EXPECT_GT(refused, kModels / 2);
}

TEST(OnnxHostile, LimitsAreKept) {
  const std::string bytes = model(good());
  const auto message_with = [&](const std::function<void(tenfold::graph::OnnxLimits&)>& set) {
    OnnxOptions options;
    set(options.limits);
    return read_onnx(bytes, options).status().message();
  };
  using Limits = tenfold::graph::OnnxLimits;
  EXPECT_NE(message_with([](Limits& l) { l.bytes = 10; }).find("the limit is 10"), std::string::npos);
  EXPECT_NE(message_with([](Limits& l) { l.records = 5; }).find("allowed 5 messages"), std::string::npos);
  EXPECT_NE(message_with([](Limits& l) { l.depth = 3; }).find("allowed 3 deep"), std::string::npos);
  EXPECT_NE(message_with([](Limits& l) { l.ops = 0; }).find("allowed 0"), std::string::npos);
  EXPECT_NE(message_with([](Limits& l) { l.tensors = 2; }).find("allowed 2 tensors"), std::string::npos);
  EXPECT_NE(message_with([](Limits& l) { l.name = 0; }).find("its name has 1 bytes"), std::string::npos);
  EXPECT_NE(message_with([](Limits& l) { l.constant_bytes = 11; }).find("limit of 11 bytes"), std::string::npos);
}

TEST(OnnxHostile, FunctionsAreLookedUpInLinearTime) {
  const double growth = tenfold::test::growth(1000, [](std::size_t count) {
    GraphParts parts = good();
    Message functions;
    for (std::size_t i = 0; i < count; ++i) {
      parts.nodes.push_back(node("Abs", {"x"}, {"x" + std::to_string(i)}));
      functions.message(25, Message().text(1, "Mine" + std::to_string(i)).text(10, "a domain of their own"));
    }
    return [bytes = model(parts) + functions.bytes()] { EXPECT_TRUE(read_onnx(bytes).ok()); };
  });
  EXPECT_LT(growth, tenfold::test::kMostGrowth);
}

TEST(OnnxHostile, GraphsWithinGraphsEnd) {
  Message inner = graph(good());
  for (int i = 0; i < 1000; ++i)
    inner = Message().message(
        1, node("If", {"x"}, {"y"}, {Message().text(1, "then_branch").message(6, inner).number(20, kAttrGraph)}));
  const Status status = judge(Message().number(1, 8).message(7, inner).bytes());
  EXPECT_EQ(status.code(), Code::invalid_file);
  EXPECT_NE(status.message().find("deep"), std::string::npos) << status.message();
}

}  // namespace
