// SPDX-License-Identifier: Apache-2.0
//
// Runs every golden file on graphs: the commands verify, infer, roundtrip, and pass NAME, for the passes of the table.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "graph/check/check.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "tests/golden/golden_file.hpp"

namespace tenfold::golden {
namespace {

using graph::Graph;
using Steps = std::vector<Status (*)(Graph&)>;

Status pipeline(Graph& graph) { return graph::run_pipeline(graph); }

const std::map<std::string, Steps>& commands() {
  static const std::map<std::string, Steps> kCommands = {
      {"roundtrip", {}},
      {"verify", {graph::verify}},
      {"infer", {graph::verify, graph::infer}},
      {"pass fold-shapes", {graph::verify, graph::infer, graph::fold_shapes, graph::verify}},
      {"pass canonicalize", {graph::verify, graph::infer, graph::canonicalize, graph::verify}},
      {"pass fold-axes", {graph::verify, graph::infer, graph::canonicalize, graph::fold_axes, graph::verify}},
      {"pass decompose", {graph::verify, graph::infer, graph::canonicalize, graph::decompose, graph::verify}},
      {"pass simplify", {graph::verify, graph::infer, graph::simplify, graph::eliminate, graph::verify}},
      {"pass fold-constants", {graph::verify, graph::infer, graph::fold_constants, graph::eliminate, graph::verify}},
      {"pass eliminate", {graph::verify, graph::infer, graph::eliminate, graph::verify}},
      {"pass pipeline", {pipeline}},
      {"pass to-onnx", {graph::verify, graph::infer, graph::to_onnx}},
  };
  return kCommands;
}

std::string failure(const Status& status) {
  return std::string(to_string(status.code())) + ": " + status.message() + "\n";
}

std::string run(const std::string& input, const Steps& steps) {
  Result<Graph> graph = graph::parse(input);
  if (!graph.ok()) return failure(graph.status());
  for (const auto step : steps)
    if (const Status status = step(graph.value()); !status.ok()) return failure(status);
  std::string text = graph::print(graph.value());
  // Whatever a command gives can be read again and is then the same.
  const Result<Graph> again = graph::parse(text);
  EXPECT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again.ok() ? graph::print(again.value()) : "", text);
  return text;
}

class GoldenGraph : public testing::TestWithParam<GoldenFile> {};

TEST_P(GoldenGraph, PrintsWhatTheFileSays) {
  const GoldenFile& file = GetParam();
  const auto command = commands().find(file.command);
  ASSERT_NE(command, commands().end()) << file.path << ": unknown command '" << file.command << "'";
  const std::string actual = run(file.input, command->second);
  if (blessing()) return actual == file.expected ? void() : bless(file, actual);
  EXPECT_EQ(actual, file.expected) << file.path << " (TENFOLD_BLESS=1 rewrites it)";
}

std::string name_of(const testing::TestParamInfo<GoldenFile>& info) {
  std::string name = info.param.path.parent_path().filename().string() + "_" + info.param.path.stem().string();
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenGraph,
                         testing::ValuesIn(read_golden_files(std::string(TENFOLD_SOURCE_DIR) + "/tests/golden")),
                         name_of);

}  // namespace
}  // namespace tenfold::golden
