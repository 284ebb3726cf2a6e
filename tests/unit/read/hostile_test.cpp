// SPDX-License-Identifier: Apache-2.0
//
// Every file NAME.json of tests/data/hostile must be refused, by the reader or by the pipeline, with a message that
// holds each line of NAME.expected. Add a pair of files to add a case.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "graph/pass/pass.hpp"
#include "graph/read/json.hpp"

namespace {

namespace fs = std::filesystem;
using tenfold::Code;
using tenfold::Result;
using tenfold::Status;

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.good()) << path;
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream stream(path);
  EXPECT_TRUE(stream.good()) << path << " is missing";
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

std::vector<std::string> hostile_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(TENFOLD_SOURCE_DIR) / "tests/data/hostile"))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

class Hostile : public testing::TestWithParam<std::string> {};

TEST_P(Hostile, IsRefusedWithTheExpectedMessage) {
  const fs::path stem = fs::path(TENFOLD_SOURCE_DIR) / "tests/data/hostile" / GetParam();
  const std::string text = read_file(stem.string() + ".json");
  const std::vector<std::string> expected = lines_of(stem.string() + ".expected");
  ASSERT_FALSE(expected.empty());

  Result<tenfold::graph::Graph> graph = tenfold::graph::read_json(text);
  Status status = graph.status();
  if (graph.ok()) status = tenfold::graph::run_pipeline(graph.value());
  ASSERT_FALSE(status.ok()) << "accepted";
  EXPECT_NE(status.code(), Code::internal_error) << status.message();
  for (const std::string& line : expected)
    EXPECT_NE(status.message().find(line), std::string::npos)
        << "message:  " << status.message() << "\nexpected: " << line;
}

INSTANTIATE_TEST_SUITE_P(Files, Hostile, testing::ValuesIn(hostile_names()),
                         [](const auto& parameters) { return parameters.param; });

TEST(HostileFolder, HoldsAtLeastSixtyCases) { EXPECT_GE(hostile_names().size(), 60U); }

}  // namespace
