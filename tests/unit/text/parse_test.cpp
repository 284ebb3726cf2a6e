// SPDX-License-Identifier: Apache-2.0
//
// parse() on text that is no graph: whatever is cut off or changed, it answers, with a place when it refuses.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "graph/text/text.hpp"

namespace tenfold::graph {
namespace {

const std::string kGood = R"(graph (version = "3.0.0", json:k = "1") {
  %0 = input : f32[2,?]{1,4} layout any property variable
  %5 = constant : s32[2] = [0, -1]
  %6 = constant : f32[*] = bytes "00ff"
  %1, %2 = onednn.ReduceMax #4 "r\n" (%0, _, %5) {axes = [1], k = true, "a b" = [1.5], e = f32 []} : f32[*], f16[]
  output %1, %2
}
)";

void expect_placed(const std::string& text) {
  const Result<Graph> graph = parse(text);
  if (graph.ok()) return;
  EXPECT_EQ(graph.status().code(), Code::invalid_file);
  EXPECT_EQ(graph.status().message().rfind("line ", 0), 0u) << graph.status().message();
  EXPECT_NE(graph.status().message().find(", column "), std::string::npos) << graph.status().message();
}

TEST(Parse, EveryPrefixIsRefusedWithAPlace) {
  ASSERT_TRUE(parse(kGood).ok()) << parse(kGood).status().message();
  for (std::size_t n = 0; n + 2 <= kGood.size(); ++n) {
    EXPECT_FALSE(parse(kGood.substr(0, n)).ok()) << n;
    expect_placed(kGood.substr(0, n));
  }
}

TEST(Parse, AnyChangedBytesAreAnswered) {
  const unsigned seed = 20240607;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 engine(seed);
  for (int round = 0; round < 20000; ++round) {
    std::string text = kGood;
    for (int n = 1 + round % 3; n > 0; --n) text[engine() % text.size()] = static_cast<char>(engine() % 256);
    expect_placed(text);
  }
}

TEST(Parse, DerivesOutputsFromEdgesWhenThereAreNone) {
  const Result<Graph> graph =
      parse("graph { %0 = input : f32[] %1 = onednn.Abs (%0) : f32[] %2 = onednn.Exp (%1) : f32[] }");
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(graph.value().outputs, std::vector<ValueId>{2});
}

TEST(Parse, KeepsInputsThatNobodyUses) {
  const Result<Graph> graph = parse("graph { %0 = input : f32[] %1 = input : f32[] %2 = onednn.Abs (%1) : f32[] }");
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(graph.value().inputs, (std::vector<ValueId>{0, 1}));
}

TEST(Parse, ReadsCommentsAsBlanks) { EXPECT_TRUE(parse("; a\ngraph { ; b { \n } ; c").ok()); }

TEST(Parse, NestsNothing) {
  // What would overflow a recursive reader is refused at its second bracket here.
  EXPECT_FALSE(parse("graph { %0 = onednn.Abs () {a = " + std::string(1 << 20, '[')).ok());
}

}  // namespace
}  // namespace tenfold::graph
