// SPDX-License-Identifier: Apache-2.0
//
// Rule numbers live in three places: the judge's sources, docs/rules.md, and a golden test each. They must be the same.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "tests/golden/golden_file.hpp"

namespace tenfold::golden {
namespace {

const std::filesystem::path kSource = TENFOLD_SOURCE_DIR;

void collect(const std::string& text, const std::regex& pattern, std::set<std::string>& rules) {
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) rules.insert((*at)[1].str());
}

std::set<std::string> in_sources() {
  std::set<std::string> rules;
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "graph" / "check"))
    if (entry.path().extension() == ".cpp")
      collect(read_text(entry.path()), std::regex("\"([a-z]+\\.[A-Z][0-9]+)\""), rules);
  return rules;
}

std::set<std::string> in_docs() {
  std::set<std::string> rules;
  collect(read_text(kSource / "docs" / "rules.md"), std::regex("\\| ([a-z]+\\.[A-Z][0-9]+) \\|"), rules);
  return rules;
}

TEST(Rules, TheDocsListWhatTheSourcesRefuse) {
  ASSERT_GT(in_sources().size(), 30u);
  EXPECT_EQ(in_sources(), in_docs());
}

TEST(Rules, EachHasAGoldenTestOfItsName) {
  std::set<std::string> rules;
  for (const GoldenFile& file : read_golden_files(kSource / "tests" / "golden")) {
    const std::string stem = file.path.stem().string();
    std::set<std::string> expected;
    collect(file.expected, std::regex("\\(([a-z]+\\.[A-Z][0-9]+)\\)\n$"), expected);
    for (const std::string& rule : expected)
      if (stem == rule) rules.insert(rule);
  }
  EXPECT_EQ(rules, in_sources());
}

}  // namespace
}  // namespace tenfold::golden
