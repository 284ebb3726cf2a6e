// SPDX-License-Identifier: Apache-2.0
//
// Hostile sizes that are too big to be committed as files, and damage at every byte of a good file: always an answer,
// soon, and never an internal error.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>

#include "graph/read/json.hpp"
#include "tests/unit/growth.hpp"

namespace {

using namespace tenfold::graph;
using tenfold::Code;
using tenfold::Result;

std::string repeat(const std::string& text, std::size_t count) {
  std::string result;
  result.reserve(text.size() * count);
  for (std::size_t i = 0; i < count; ++i) result += text;
  return result;
}

void expect_refused(const std::string& text, const std::string& expected, const ReadLimits& limits = {}) {
  const auto start = std::chrono::steady_clock::now();
  const Result<Graph> graph = read_json(text, limits);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.status().code(), Code::invalid_file) << graph.status().message();
  EXPECT_NE(graph.status().message().find(expected), std::string::npos)
      << "message:  " << graph.status().message().substr(0, 1000) << "\nexpected: " << expected;
  EXPECT_LT(graph.status().message().size(), 1000U);
  EXPECT_LT(seconds.count(), 10.0);
}

const std::string kOp =
    R"({"id": 0, "kind": "Abs", "inputs": [{"id": 0, "dtype": "f32", "shape": [1]}], "outputs": []})";

TEST(Limits, Depth) {
  expect_refused(R"({"graph": )" + repeat("[", 1'000'000), "nested deeper than the allowed 64 levels");
  expect_refused(R"({"a": )" + repeat(R"({"b":)", 1'000'000), "nested deeper than the allowed 64 levels");
  const std::string fits = R"({"graph": [], "x": )" + repeat("[", 63) + repeat("]", 63) + "}";
  EXPECT_TRUE(read_json(fits).ok());
  expect_refused(R"({"graph": [], "x": )" + repeat("[", 64) + repeat("]", 64) + "}",
                 "nested deeper than the allowed 64");
}

TEST(Limits, FileSize) {
  ReadLimits limits;
  limits.bytes = 20;
  EXPECT_TRUE(read_json(R"({"graph": [        ]})" + std::string(""), ReadLimits{}).ok());
  expect_refused(R"({"graph": [        ]})", "the file's 21 bytes exceed the limit of 20", limits);
}

TEST(Limits, Strings) {
  const std::string longest(65536, 'x');
  const auto with_name = [](const std::string& name) {
    return R"({"graph": [{"id": 0, "name": ")" + name + R"(", "kind": "Abs", "inputs": [], "outputs": []}]})";
  };
  EXPECT_TRUE(read_json(with_name(longest)).ok());
  expect_refused(with_name(longest + "x"), "at /graph/0/name: a string of 65537 bytes exceeds the limit of 65536");
  expect_refused(R"({"version": ")" + longest + R"(x", "graph": []})", "at /version: a string of 65537 bytes exceeds");
  expect_refused("{\"" + longest + "x\": 1}", "a key of 65537 bytes exceeds the limit of 65536");
  expect_refused(R"({"graph": [{"id": ")" + longest + "\"}]}", "at /graph/0");
  const std::string endless(30'000'000, 'x');
  expect_refused("{\"" + endless, "line 1, column 2, at the root: a string exceeds the limit of 65536 bytes");
  expect_refused(with_name(endless), "at /graph/0/name: a string exceeds the limit of 65536 bytes");
  EXPECT_TRUE(read_json(with_name(repeat("\\u0041", 65536))).ok()) << "the limit is on the decoded string";
}

TEST(Limits, Lists) {
  const std::string numbers = repeat("1,", 1'000'000);
  expect_refused(R"({"x": [)" + numbers + "1]}", "the array has more than the allowed 1000000 elements");
  ReadLimits limits;
  limits.list = 2;
  EXPECT_TRUE(read_json(R"({"graph": [], "x": 1})", limits).ok());
  expect_refused(R"({"graph": [], "x": 1, "y": 1})", "the object has more than the allowed 2 members", limits);
}

TEST(Limits, ValuesOfOneOp) {
  std::string text = R"({"graph": [{"x": [)";
  for (int i = 0; i < 3; ++i) text += (i > 0 ? ",[" : "[") + repeat("1,", 900'000) + "1]";
  expect_refused(text, "at /graph/0/x/2/");
  expect_refused(text, "more than the allowed 2000000 values in one op");
}

TEST(Limits, OpsAndTensors) {
  ReadLimits limits;
  limits.ops = 2;
  EXPECT_TRUE(read_json(R"({"graph": [)" + kOp + "," + kOp + "]}", limits).ok());
  expect_refused(R"({"graph": [)" + kOp + "," + kOp + "," + kOp + "]}", "at /graph/2: more than the allowed 2 ops",
                 limits);
  limits.tensors = 0;
  expect_refused(R"({"graph": [)" + kOp + "]}", "at /graph/0/inputs/0: more than the allowed 0 tensors", limits);
}

TEST(Limits, ConstantBytes) {
  const auto with_data = [](int id) {
    return R"({"id": 0, "kind": "Abs", "inputs": [{"id": )" + std::to_string(id) +
           R"(, "dtype": "f32", "shape": [2], "data": [1, 2]}], "outputs": []})";
  };
  ReadLimits limits;
  limits.constant_bytes = 15;
  EXPECT_TRUE(read_json(R"({"graph": [)" + with_data(0) + "]}", limits).ok());
  expect_refused(R"({"graph": [)" + with_data(0) + "," + with_data(1) + "]}", "exceed the limit of 15 bytes", limits);
}

std::string record(std::size_t id, std::size_t dim) {
  return R"({"id": )" + std::to_string(id) + R"(, "dtype": "f32", "shape": [)" + std::to_string(dim) + "]}";
}

std::string op(std::size_t id, const std::string& inputs, const std::string& outputs) {
  return R"({"id": )" + std::to_string(id) + R"(, "kind": "Abs", "inputs": [)" + inputs + R"(], "outputs": [)" +
         outputs + "]}";
}

std::string joined(std::size_t count, const std::function<std::string(std::size_t)>& part) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i > 0 ? "," : "") + part(i);
  return text;
}

/// How reading the files that `file` makes grows; each must give this message, or none.
double growth_of_reading(std::size_t n, const std::function<std::string(std::size_t)>& file,
                         const std::string& message) {
  return tenfold::test::growth(n, [&](std::size_t count) {
    return [&message, text = R"({"graph": [)" + file(count) + "]}"] {
      const Result<Graph> graph = read_json(text);
      EXPECT_EQ(graph.ok(), message.empty()) << graph.status().message();
      EXPECT_NE(graph.status().message().find(message), std::string::npos) << graph.status().message();
    };
  });
}

TEST(Limits, ManyOpsAreReadInLinearTime) {
  const auto chain = [](std::size_t n) {
    return joined(n, [](std::size_t i) { return op(i, record(i, 8), record(i + 1, 8)); });
  };
  EXPECT_LT(growth_of_reading(1250, chain, ""), tenfold::test::kMostGrowth);
}

TEST(Limits, InputsThatContradictOthersAreReadInLinearTime) {
  const auto on_each_line = [](std::size_t n) {
    return joined(n, [](std::size_t i) { return "\n" + op(i, record(0, i + 1), ""); });
  };
  EXPECT_LT(growth_of_reading(500, on_each_line, "line 3, column 37, at /graph/1/inputs/0: tensor 0 has the shape [2]"),
            tenfold::test::kMostGrowth);
  const auto forgiven = [&](std::size_t n) { return on_each_line(n) + "," + op(n, "", record(0, 7)); };
  EXPECT_LT(growth_of_reading(500, forgiven, ""), tenfold::test::kMostGrowth);
  const auto many_of_one_op = [](std::size_t n) {
    const auto inputs = [n](std::size_t dim) {
      return record(n, 1) + "," + joined(n, [dim](std::size_t i) { return record(i, dim); });
    };
    return op(0, inputs(1), "") + "," + op(1, inputs(2), "");
  };
  EXPECT_LT(
      growth_of_reading(500, many_of_one_op, "at /graph/1/inputs/1: tensor 0 has the shape [2] here, but [1] in op 0"),
      tenfold::test::kMostGrowth);
}

std::string sample() {
  std::string text;
  for (const char* name : {"chain.json", "reduce_axes_constant.json", "unknown_keys.json", "constant_table.json"}) {
    std::ifstream stream(std::string(TENFOLD_SOURCE_DIR) + "/tests/data/graphs/" + name, std::ios::binary);
    const std::string one(std::istreambuf_iterator<char>(stream), {});
    EXPECT_FALSE(one.empty()) << name;
    // Their ops, one after another, as one file; ids clash, which is part of the damage.
    text += (text.empty() ? "" : ",") +
            one.substr(one.find("\"graph\": [") + 10, one.rfind(']') - one.find("\"graph\": [") - 10);
  }
  return text;
}

TEST(Damage, EveryTruncationIsAnError) {
  std::ifstream stream(std::string(TENFOLD_SOURCE_DIR) + "/tests/data/graphs/unknown_keys.json", std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  ASSERT_TRUE(read_json(text).ok());
  const std::size_t last_brace = text.rfind('}');
  for (std::size_t size = 0; size <= last_brace; ++size) {
    const Result<Graph> graph = read_json(text.substr(0, size));
    ASSERT_FALSE(graph.ok()) << "accepted " << size << " of " << text.size() << " bytes";
    EXPECT_EQ(graph.status().code(), Code::invalid_file) << size << ": " << graph.status().message();
    EXPECT_TRUE(graph.status().message().starts_with("line ")) << graph.status().message();
  }
}

TEST(Damage, RandomBytesNeverCrash) {
  const char* given = std::getenv("TENFOLD_SEED");
  const auto seed = given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : std::random_device{}();
  std::printf("seed %u (TENFOLD_SEED repeats it)\n", seed);
  std::mt19937 random(seed);
  const std::string good = "{\"graph\": [" + sample() + "]}";
  static const std::string kSpice = "{}[]\",:0123456789-+.eEtfnu\\ \n\xff\x80\xc3";
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string text = good;
    const int edits = 1 + static_cast<int>(random() % 4);
    for (int edit = 0; edit < edits; ++edit) {
      const std::size_t at = random() % text.size();
      const char c = kSpice[random() % kSpice.size()];
      switch (random() % 3) {
        case 0: text[at] = c; break;
        case 1: text.insert(at, 1, c); break;
        default: text.erase(at, 1 + random() % 20); break;
      }
    }
    const Result<Graph> graph = read_json(text);
    if (graph.ok()) continue;
    ++refused;
    EXPECT_NE(graph.status().code(), Code::internal_error) << graph.status().message() << "\n" << text;
    EXPECT_TRUE(graph.status().message().starts_with("line ")) << graph.status().message();
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
