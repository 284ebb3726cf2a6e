// SPDX-License-Identifier: Apache-2.0
//
// ONNX's own node tests, where they are, as graph files and as models again: from the second round on nothing changes,
// and for most models from the first.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "graph/pass/pass.hpp"
#include "graph/read/onnx.hpp"
#include "graph/write/json.hpp"
#include "graph/write/onnx.hpp"
#include "tenfold/graph_builder.hpp"
#include "tools/graph_file.hpp"

namespace tenfold::tools {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> corpora() {
  std::vector<fs::path> found;
  const char* given = std::getenv("TENFOLD_CORPUS_ONNX");
  const fs::path beside = fs::path(TENFOLD_SOURCE_DIR) / "../shared/corpus/onnx-node";
  for (const fs::path& folder :
       {given != nullptr ? fs::path(given) : beside, fs::path("/usr/share/libonnx-testdata/data/node")})
    if (fs::is_directory(folder)) found.push_back(folder);
  return found;
}

/// A graph file's text as a model, and that as a graph file's text.
Result<std::string> round_trip(const std::string& text) {
  const Result<Graph> graph = Graph::from_json(text);
  if (!graph.ok()) return graph.status();
  graph::Graph copy = graph.value().ir();
  if (Status s = graph::to_onnx(copy); !s.ok()) return s;
  const Result<std::string> model = graph::write_onnx(copy);
  if (!model.ok()) return model.status();
  const Result<Graph> again = Graph::from_onnx(model.value());
  if (!again.ok()) return again.status();
  return write_json(again.value().ir());
}

/// A tensor record of f32.
std::string record(int id, const std::string& shape) {
  return "{\"id\": " + std::to_string(id) + R"(, "dtype": "f32", "shape": )" + shape + "}";
}

TEST(OnnxRoundTrip, OutputsThatNobodyReadsAreNoneOfTheModels) {
  if (!graph::can_read_onnx()) {
    std::printf("NOT RUN: built without ONNX\n");
    GTEST_SKIP();
  }
  const std::string head = R"({"graph": [{"dialect": "onnx", "opset": 17, "id": 0, "kind": )";
  const std::string texts[] = {head + R"("LayerNormalization", "inputs": [)" + record(0, "[2, 3]") + ", " +
                                   record(1, "[3]") + R"(], "outputs": [)" + record(2, "[2, 3]") + ", null, " +
                                   record(4, "[2, 1]") + "]}]}",
                               head + R"("Split", "inputs": [)" + record(0, "[2, 3]") + R"(], "outputs": [)" +
                                   record(1, "[1, 3]") + ", null]}]}"};
  for (const std::string& text : texts) {
    const Result<std::string> once = round_trip(text);
    ASSERT_TRUE(once.ok()) << once.status().message();
    const Result<std::string> twice = round_trip(once.value());
    ASSERT_TRUE(twice.ok()) << twice.status().message();
    EXPECT_EQ(once.value(), twice.value());
    const Result<Graph> before = Graph::from_json(text), after = Graph::from_json(twice.value());
    EXPECT_EQ(before.value().ir().outputs.size(), after.value().ir().outputs.size());
  }
}

TEST(OnnxRoundTrip, NodeTestsSettle) {
  const std::vector<fs::path> folders = corpora();
  if (folders.empty() || !graph::can_read_onnx()) {
    std::printf("NOT RUN: no ONNX node tests (set TENFOLD_CORPUS_ONNX, or install libonnx-testdata)\n");
    GTEST_SKIP();
  }
  std::size_t models = 0, at_once = 0;
  for (const fs::path& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (!is_onnx_path(entry.path())) continue;
      const Result<Graph> graph = read_graph_file(entry.path(), "");
      if (!graph.ok()) continue;
      const Result<std::string> first = write_json(graph.value().ir());
      if (!first.ok()) continue;
      ++models;
      const Result<std::string> second = round_trip(first.value());
      ASSERT_TRUE(second.ok()) << entry.path() << ": " << second.status().message();
      const Result<std::string> third = round_trip(second.value());
      ASSERT_TRUE(third.ok()) << entry.path() << ": " << third.status().message();
      EXPECT_EQ(second.value(), third.value()) << entry.path();
      at_once += first.value() == second.value() ? 1 : 0;
    }
  }
  std::printf("%zu models, %zu the same at once\n", models, at_once);
  EXPECT_GT(models, 0U);
  EXPECT_GE(10 * at_once, 9 * models) << "only Constant nodes and tensors that nobody uses may make a difference";
}

}  // namespace
}  // namespace tenfold::tools
