// SPDX-License-Identifier: Apache-2.0
//
// Reads every graph file of oneDNN's own test inputs. Their folder is named by TENFOLD_CORPUS, or lies beside the
// checkout; without it the test says that it has not run.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "graph/read/json.hpp"

namespace {

namespace fs = std::filesystem;
using namespace tenfold::graph;
using tenfold::Result;

fs::path corpus() {
  const char* given = std::getenv("TENFOLD_CORPUS");
  return given != nullptr ? fs::path(given) : fs::path(TENFOLD_SOURCE_DIR) / "../shared/corpus/onednn-graph";
}

Result<Graph> read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.good()) << path;
  return read_json(std::string(std::istreambuf_iterator<char>(stream), {}));
}

TEST(Corpus, EveryFileIsRead) {
  if (!fs::is_directory(corpus())) {
    std::printf("NOT RUN: no graph files at %s (set TENFOLD_CORPUS)\n", corpus().c_str());
    GTEST_SKIP();
  }
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(corpus())) {
    if (entry.path().extension() != ".json") continue;
    ++files;
    const Result<Graph> graph = read(entry.path());
    if (!graph.ok()) {
      ADD_FAILURE() << entry.path() << ": " << graph.status().message();
      continue;
    }
    EXPECT_FALSE(graph.value().ops.empty()) << entry.path();
    EXPECT_FALSE(graph.value().inputs.empty()) << entry.path();
    EXPECT_FALSE(graph.value().outputs.empty()) << entry.path();
    for (const Op& op : graph.value().ops) EXPECT_TRUE(op.extras.empty()) << entry.path() << ": " << describe(op);
  }
  std::printf("%zu files\n", files);
  EXPECT_GT(files, 0U) << corpus();
}

TEST(Corpus, TheFileThatContradictsItselfTakesTheProducersShape) {
  const fs::path path = corpus() / "pattern/int8/int8_maxpool_add_mul_fusion.json";
  if (!fs::exists(path)) {
    std::printf("NOT RUN: %s is not there (set TENFOLD_CORPUS)\n", path.c_str());
    GTEST_SKIP();
  }
  const Result<Graph> graph = read(path);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  int found = 0;
  for (const Value& value : graph.value().values) {
    if (value.id != 4257) continue;
    ++found;
    EXPECT_EQ(value.shape, (tenfold::Dims{1, 64, 300, 300}));
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
