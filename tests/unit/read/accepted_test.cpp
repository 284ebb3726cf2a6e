// SPDX-License-Identifier: Apache-2.0
//
// The counterpart of hostile_test.cpp: every file of tests/data/graphs passes the whole pipeline, so that strictness
// does not grow into refusing what is legal.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "graph/pass/pass.hpp"
#include "graph/read/json.hpp"

namespace {

namespace fs = std::filesystem;

TEST(AcceptedGraphs, PassThePipeline) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(TENFOLD_SOURCE_DIR) / "tests/data/graphs")) {
    if (entry.path().extension() != ".json") continue;
    SCOPED_TRACE(entry.path().filename().string());
    ++count;
    std::ifstream stream(entry.path(), std::ios::binary);
    auto graph = tenfold::graph::read_json(std::string(std::istreambuf_iterator<char>(stream), {}));
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const tenfold::Status status = tenfold::graph::run_pipeline(graph.value());
    EXPECT_TRUE(status.ok()) << status.message();
  }
  EXPECT_GE(count, 12U);
}

}  // namespace
