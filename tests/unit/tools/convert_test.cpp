// SPDX-License-Identifier: Apache-2.0
//
// `tenfold convert` to ONNX models and back: what is written is read again as it was, oneDNN's ops come out as ONNX's
// and give the same numbers, and what has no form in ONNX is refused by name.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/unit/read/onnx_writer.hpp"

namespace {

namespace fs = std::filesystem;
using namespace onnx_writer;

struct Answer {
  int exit_code = -1;
  std::string out;  ///< stdout and stderr
};

class Convert : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::path(testing::TempDir()) / ("tenfold_convert_" + std::to_string(getpid()));
    fs::create_directories(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }

  std::string path(const std::string& name) const { return (dir_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(dir_ / name, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
  }
  std::string read(const std::string& name) const {
    std::ifstream file(dir_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static Answer run(const std::string& arguments) {
    const std::string line = std::string("'") + TENFOLD_COMMAND + "' " + arguments + " 2>&1";
    Answer answer;
    FILE* pipe = popen(line.c_str(), "r");
    if (pipe == nullptr) return answer;
    std::array<char, 4096> buffer{};
    for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
      answer.out.append(buffer.data(), n);
    const int status = pclose(pipe);
    answer.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return answer;
  }
  void convert(const std::string& from, const std::string& to) const {
    const Answer answer = run("convert " + path(from) + " " + path(to));
    EXPECT_EQ(answer.exit_code, 0) << answer.out;
  }
  /// Of a graph file that cannot be written as a model.
  std::string refusal(const std::string& graph) const {
    write("refused.json", graph);
    const Answer answer = run("convert " + path("refused.json") + " " + path("refused.onnx"));
    EXPECT_EQ(answer.exit_code, 4) << answer.out;
    EXPECT_FALSE(fs::exists(dir_ / "refused.onnx"));
    return answer.out;
  }

  fs::path dir_;
};

/// Two inputs with unknown and named dims, constants of several dtypes, an input left out, all types of attributes, and
/// a tensor that both leaves the graph and is used in it.
std::string rich_model() {
  const auto floats = [](std::string_view name, float value) {
    return Message().text(1, name).fixed32(2, value).number(20, kAttrFloat);
  };
  GraphParts parts;
  parts.inputs = {value_info("x", tensor_type(kFloat, {{0, "batch"}, {3}})),
                  value_info("y", tensor_type(kFloat, {{0, "batch"}, {1}}))};
  parts.initializers = {raw_tensor("axes", kInt64, {1}, bytes_of<std::int64_t>({-1})),
                        raw_tensor("high", kFloat, {}, bytes_of<float>({0.1F})),
                        raw_tensor("truth", kBool, {1, 3}, std::string("\0\1\1", 3))};
  parts.nodes = {
      node("Add", {"x", "y"}, {"sum"}).text(3, "add_0"),
      node("Clip", {"sum", "", "high"}, {"clipped"}),
      node("Where", {"truth", "clipped", "x"}, {"chosen"}),
      node("Elu", {"chosen"}, {"elu"}, {floats("alpha", 0.3F)}),
      node("ReduceMax", {"elu", "axes"}, {"most"}, {int_attribute("keepdims", 0)}),
      node("Cast", {"elu"}, {"whole"}, {int_attribute("to", kInt32)}),
      node("Gelu", {"x"}, {"gelu"}, {Message().text(1, "approximate").text(4, "tanh").number(20, kAttrString)})};
  parts.outputs = {value_info("sum", tensor_type(kFloat, {{-2}, {3}})), value_info("most", tensor_type(kFloat, {{-2}})),
                   value_info("whole", tensor_type(kInt32, {{-2}, {3}})),
                   value_info("gelu", tensor_type(kFloat, {{-2}, {3}}))};
  parts.infos = {value_info("elu", tensor_type(kFloat, {{-2}, {3}}))};
  return model(parts, {opset("", 20)});
}

TEST_F(Convert, OnnxToGraphFileAndBackChangesNothing) {
  write("1.onnx", rich_model());
  convert("1.onnx", "1.json");
  convert("1.json", "2.onnx");
  convert("2.onnx", "2.json");
  EXPECT_EQ(read("1.json"), read("2.json"));
  convert("2.json", "3.onnx");
  EXPECT_EQ(read("2.onnx"), read("3.onnx"));
  // Names of dims are what graph files cannot hold, and models can.
  convert("1.onnx", "copy.onnx");
  EXPECT_NE(read("copy.onnx").find("batch"), std::string::npos);
  EXPECT_EQ(read("2.onnx").find("batch"), std::string::npos);
  for (const char* name : {"1.onnx", "1.json", "2.onnx", "copy.onnx"}) {
    const Answer answer = run("run --shape x=2x3 --shape y=2x1 --check " + path(name));
    EXPECT_EQ(answer.exit_code, 0) << name << answer.out;
  }
}

/// Constant nodes become initializers; from then on nothing changes.
TEST_F(Convert, OddModelsSettleAfterOneRound) {
  GraphParts parts;
  parts.inputs = {value_info("x", tensor_type(kFloat, {{2}})), value_info("unused", tensor_type(kFloat, {{2}}))};
  parts.initializers = {raw_tensor("nobody", kFloat, {1}, bytes_of<float>({1}))};
  parts.nodes = {
      node("Constant", {}, {"c"}, {tensor_attribute("value", raw_tensor("", kFloat, {2}, bytes_of<float>({1, 2})))}),
      node("Mul", {"x", "c"}, {"y"})};
  parts.outputs = {value_info("y", tensor_type(kFloat, {{2}}))};
  write("1.onnx", model(parts, {opset("", 13)}));
  convert("1.onnx", "1.json");
  convert("1.json", "2.onnx");
  convert("2.onnx", "2.json");
  convert("2.json", "3.onnx");
  convert("3.onnx", "3.json");
  EXPECT_EQ(read("2.json"), read("3.json"));
  EXPECT_EQ(read("2.onnx"), read("3.onnx"));
  EXPECT_EQ(run("run --check " + path("3.onnx")).exit_code, 0);
}

/// What the report of `run` says of the numbers of all outputs.
std::string numbers(const Answer& answer) {
  const auto json = nlohmann::json::parse(answer.out, nullptr, false);
  nlohmann::json found = nlohmann::json::array();
  if (!json.is_object() || !json.contains("outputs")) return answer.out;
  for (const auto& output : json["outputs"])
    for (const char* key : {"shape", "dtype", "min", "max", "mean", "first"})
      found.push_back(output.value(key, nlohmann::json()));
  return found.dump();
}

TEST_F(Convert, OneDnnsOpsComeOutAsOnnxs) {
  write("1.json", R"({"graph": [
    {"id": 0, "kind": "Multiply", "inputs": [{"id": 0, "dtype": "f32", "shape": [4, 5]}, {"id": 1, "dtype": "f32", "shape": [5]}],
     "outputs": [{"id": 2, "dtype": "f32", "shape": [-9223372036854775808]}]},
    {"id": 1, "kind": "Clamp", "attrs": {"min": {"type": "f32", "value": -0.5}, "max": {"type": "f32", "value": 1}},
     "inputs": [{"id": 2, "dtype": "f32", "shape": [-9223372036854775808]}], "outputs": [{"id": 3, "dtype": "f32", "shape": [-9223372036854775808]}]},
    {"id": 2, "name": "last", "kind": "ReduceL2", "attrs": {"axes": {"type": "s64[]", "value": [-1]}, "keep_dims": {"type": "bool", "value": 1}},
     "inputs": [{"id": 3, "dtype": "f32", "shape": [-9223372036854775808]}], "outputs": [{"id": 4, "dtype": "f32", "shape": [-9223372036854775808]}]},
    {"id": 3, "kind": "Square", "inputs": [{"id": 4, "dtype": "f32", "shape": [-9223372036854775808]}], "outputs": [{"id": 5, "dtype": "f32", "shape": [-9223372036854775808]}]}]})");
  convert("1.json", "1.onnx");
  convert("1.onnx", "2.json");
  const auto graph = nlohmann::json::parse(read("2.json"));
  const auto& last = graph["graph"][2];
  EXPECT_EQ(last["kind"].get<std::string>(), "ReduceL2");
  EXPECT_EQ(last["name"].get<std::string>(), "last");
  EXPECT_EQ(last["dialect"].get<std::string>(), "onnx");
  EXPECT_EQ(last["opset"].get<int>(), 18);
  EXPECT_EQ(graph["graph"][3]["kind"].get<std::string>(), "Mul");
  const std::string before = numbers(run("run --json " + path("1.json")));
  EXPECT_NE(before.find("f32"), std::string::npos) << before;
  EXPECT_EQ(before, numbers(run("run --json " + path("1.onnx"))));
}

TEST_F(Convert, WhatHasNoFormInOnnxIsNamed) {
  const std::string x = R"({"id": 0, "dtype": "f32", "shape": [2, 3, 4]})",
                    y = R"({"id": 9, "dtype": "f32", "shape": [-9223372036854775808]})";
  const auto one = [&](const std::string& op, const std::string& inputs) {
    return R"({"graph": [{"id": 5, "name": "it", )" + op + R"(, "inputs": [)" + inputs + R"(], "outputs": [)" + y +
           "]}]}";
  };
  const auto expect = [](const std::string& out, const std::string& part) {
    EXPECT_NE(out.find(part), std::string::npos) << out;
  };
  expect(refusal(one(R"("kind": "SquaredDifference")", x + "," + R"({"id": 1, "dtype": "f32", "shape": [4]})")),
         "op 5 'it' (SquaredDifference): it has no form in ONNX: no op of ONNX means the same");
  expect(refusal(one(R"("kind": "Multiply")", x + "," + R"({"id": 1, "dtype": "bf16", "shape": [4]})")),
         "(Multiply): it has no form in ONNX: its tensors are of several dtypes, and ONNX's Mul has one");
  expect(refusal(one(R"("kind": "SoftPlus", "attrs": {"beta": {"type": "f32", "value": 2}})", x)), "its beta is not 1");
  expect(refusal(one(R"("kind": "BiasAdd", "attrs": {"data_format": {"type": "string", "value": "NCX"}})",
                     x + "," + R"({"id": 1, "dtype": "f32", "shape": [3]})")),
         "(BiasAdd): it has no form in ONNX: its channels are not the last dim");
  expect(
      refusal(
          R"({"dialect": "onnx", "graph": [)"
          R"({"id": 0, "kind": "Max", "opset": 8, "inputs": [{"id": 0, "dtype": "f32", "shape": [2]}], )"
          R"("outputs": [{"id": 1, "dtype": "f32", "shape": [-9223372036854775808]}]}, )"
          R"({"id": 1, "kind": "Neg", "opset": 13, "inputs": [{"id": 1, "dtype": "f32", "shape": [-9223372036854775808]}], )"
          R"("outputs": [{"id": 2, "dtype": "f32", "shape": [-9223372036854775808]}]}]})"),
      "op 0 (Max): it has no form in ONNX: it is of opset 8, and a model has one opset for all ops, here 13 or more");
}

TEST_F(Convert, TensorsWithoutNamesAreCalledAfterTheirIds) {
  write("1.json", R"({"dialect": "onnx", "opset": 13, "graph": [
    {"id": 0, "kind": "Add", "inputs": [{"id": 7, "dtype": "f32", "shape": [2], "name": "t9"}, {"id": 8, "dtype": "f32", "shape": [2], "name": "t9"}],
     "outputs": [{"id": 9, "dtype": "f32", "shape": [2]}]}]})");
  convert("1.json", "1.onnx");
  convert("1.onnx", "2.json");
  const auto op = nlohmann::json::parse(read("2.json"))["graph"][0];
  EXPECT_EQ(op["inputs"][0]["name"].get<std::string>(), "t9");
  EXPECT_EQ(op["inputs"][1]["name"].get<std::string>(), "t8");
  EXPECT_EQ(op["outputs"][0]["name"].get<std::string>(), "t9_");
}

}  // namespace
