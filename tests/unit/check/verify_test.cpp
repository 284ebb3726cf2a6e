// SPDX-License-Identifier: Apache-2.0
//
// What golden files cannot say of verify(): failure changes nothing, sorting is stable, long graphs cost little, and
// the overlap rule is right against counting.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include "graph/check/check.hpp"
#include "graph/text/text.hpp"
#include "tests/unit/growth.hpp"

namespace tenfold::graph {
namespace {

Graph read(const std::string& text) {
  Result<Graph> graph = parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? graph.value() : Graph{};
}

/// %0 -> Abs -> %1 -> ... -> %n, the ops in the order that `order` says.
Graph chain(const std::vector<std::int64_t>& order, bool closed = false) {
  Graph graph;
  for (std::size_t i = 0; i <= order.size(); ++i) {
    Value value;
    value.id = static_cast<std::int64_t>(i);
    value.dtype = DType::f32;
    value.ranked = true;
    graph.values.push_back(value);
  }
  for (const std::int64_t i : order) {
    Op op;
    op.id = i;
    op.kind = "Abs";
    op.inputs = {static_cast<ValueId>(i)};
    op.outputs = {static_cast<ValueId>(i + 1)};
    graph.ops.push_back(op);
  }
  if (closed) graph.ops.back().outputs = {static_cast<ValueId>(order.front())};
  connect(graph);
  return graph;
}

TEST(Verify, ChangesNothingOnFailure) {
  const std::string head = "graph { %0 = input : f32[2] %2 = onednn.Exp (%1) : f32[2] %1 = onednn.Abs (%0) : f32[2] ";
  Graph bad = read(head + "%3 = onednn.Elu (%2) : f32[2] }");
  const Graph before = bad;
  EXPECT_FALSE(verify(bad).ok());
  EXPECT_TRUE(bad == before);
  Graph good = read(head + "}");
  ASSERT_TRUE(verify(good).ok());
  EXPECT_EQ(good.ops[0].kind, "Abs");
  EXPECT_EQ(good.values[good.ops[1].outputs[0]].producer, 1u);
}

TEST(Verify, SortsAnyOrderAndKeepsLegalOnes) {
  const unsigned seed = 11;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 engine(seed);
  std::vector<std::int64_t> order(50);
  std::iota(order.begin(), order.end(), 0);
  const Graph sorted = chain(order);
  Graph again = sorted;
  ASSERT_TRUE(verify(again).ok());
  EXPECT_TRUE(again == sorted);
  for (int round = 0; round < 50; ++round) {
    std::shuffle(order.begin(), order.end(), engine);
    Graph graph = chain(order);
    ASSERT_TRUE(verify(graph).ok());
    EXPECT_TRUE(graph.ops == sorted.ops);
  }
}

/// n ops, the last one first.
std::vector<std::int64_t> reversed(std::size_t n) {
  std::vector<std::int64_t> order(n);
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

TEST(Verify, TakesHundredThousandOpsInItsStride) {
  const double of_chains = test::growth(
      6250, [](std::size_t n) { return [graph = chain(reversed(n))]() mutable { EXPECT_TRUE(verify(graph).ok()); }; });
  EXPECT_LT(of_chains, test::kMostGrowth);
  const double of_loops = test::growth(6250, [](std::size_t n) {
    std::vector<std::int64_t> order = reversed(n);
    std::reverse(order.begin(), order.end());
    return [n, loop = chain(order, true)]() mutable {
      const Status status = verify(loop);
      EXPECT_NE(status.message().find(std::to_string(n - 8) + " more -> op 0 (Abs) (graph.G3)"), std::string::npos)
          << status.message();
    };
  });
  EXPECT_LT(of_loops, test::kMostGrowth);
}

TEST(Verify, AcceptsNoOutputThatOverlapsItself) {
  const unsigned seed = 3;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 engine(seed);
  int accepted = 0;
  for (int round = 0; round < 5000; ++round) {
    Graph graph = read("graph { %0 = input : f32[*] %1 = onednn.Abs (%0) : f32[*] }");
    Value& out = graph.values[1];
    out.ranked = true;
    std::set<std::int64_t> places;
    std::vector<std::int64_t> at{0};
    for (std::size_t i = 0; i < 1 + engine() % 3; ++i) {
      out.shape.push_back(static_cast<std::int64_t>(1 + engine() % 4));
      out.strides.push_back(static_cast<std::int64_t>(engine() % 10));
      std::vector<std::int64_t> next;
      for (const std::int64_t base : at)
        for (std::int64_t k = 0; k < out.shape.back(); ++k) next.push_back(base + k * out.strides.back());
      at = next;
    }
    places.insert(at.begin(), at.end());
    if (!verify(graph).ok()) continue;
    ++accepted;
    ASSERT_EQ(places.size(), at.size()) << print(graph);
  }
  EXPECT_GT(accepted, 500);
}

TEST(Verify, ReportsBadIndicesOfEveryKind) {
  const std::string text = "graph { %0 = input : f32[2] %1 = onednn.Abs (%0) : f32[2] }";
  for (int where = 0; where < 4; ++where) {
    Graph graph = read(text);
    std::vector<ValueId>* const lists[] = {&graph.ops[0].inputs, &graph.ops[0].outputs, &graph.inputs, &graph.outputs};
    (*lists[where])[0] = 17;
    EXPECT_NE(verify(graph).message().find("(graph.G4)"), std::string::npos) << where;
  }
  Graph graph = read(text);
  graph.ops[0].outputs[0] = kNone;
  EXPECT_NE(verify(graph).message().find("(graph.G4)"), std::string::npos);
}

TEST(Verify, MessagesOfLongNamesStillEndInTheRule) {
  Graph graph = read("graph { %0 = input : f32[2] %1 = onednn.Abs (%0) : f32[2] }");
  graph.ops[0].kind = std::string(60000, 'x');
  EXPECT_NE(verify(graph).message().find("(op.O1)"), std::string::npos);
}

}  // namespace
}  // namespace tenfold::graph
