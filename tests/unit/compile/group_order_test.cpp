// SPDX-License-Identifier: Apache-2.0
//
// Which ops read from which, through views, and which groups of them may become one.
#include "compile/partition/group_order.hpp"

#include <gtest/gtest.h>

#include <string>

#include "compile/partition/dataflow.hpp"
#include "graph/text/text.hpp"

namespace tenfold::compiler {
namespace {

using Groups = std::vector<GroupId>;

graph::Graph parsed(const std::string& lines) {
  Result<graph::Graph> graph = graph::parse("graph {\n" + lines + "}\n");
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(graph).value();
}

/// Op 0 is read by 1 and 2, these by 3.
graph::Graph diamond() {
  return parsed(
      "  %0 = input : f32[8]\n"
      "  %1 = core.map (%0) {function = \"abs\"} : f32[8]\n"
      "  %2 = core.map (%1) {function = \"neg\"} : f32[8]\n"
      "  %3 = core.map (%1) {function = \"exp\"} : f32[8]\n"
      "  %4 = core.map (%2, %3) {function = \"add\"} : f32[8]\n"
      "  output %4\n");
}

/// abs, a reshape that exp reads it through, and neg; exp's and neg's results leave.
graph::Graph with_view() {
  return parsed(
      "  %0 = input : f32[8]\n"
      "  %1 = core.map (%0) {function = \"abs\"} : f32[8]\n"
      "  %2 = core.reshape (%1) {shape = [2, 4]} : f32[2,4]\n"
      "  %3 = core.map (%2) {function = \"exp\"} : f32[2,4]\n"
      "  %4 = core.map (%1) {function = \"neg\"} : f32[8]\n"
      "  output %3, %4\n");
}

TEST(GroupOrder, GroupsOnAPathBetweenTwoKeepThemApart) {
  const graph::Graph graph = diamond();
  const Dataflow flow(graph);
  GroupOrder order(flow);
  for (graph::OpId op = 0; op < 4; ++op) order.add(op);
  EXPECT_EQ(order.between(GroupId{0}, GroupId{3}), Between::groups) << "1 and 2 lie between";
  EXPECT_EQ(order.between(GroupId{1}, GroupId{2}), Between::nothing) << "neither reads from the other";
  EXPECT_EQ(order.between(GroupId{0}, GroupId{1}), Between::nothing);
  order.merge(GroupId{0}, GroupId{1});
  EXPECT_EQ(order.group_of(1), GroupId{0});
  EXPECT_TRUE(order.ops(GroupId{1}).empty());
  EXPECT_EQ(order.between(GroupId{0}, GroupId{3}), Between::groups) << "2 does still";
  EXPECT_EQ(order.between(GroupId{3}, GroupId{0}), Between::groups) << "whichever comes first";
  order.merge(GroupId{0}, GroupId{2});
  EXPECT_EQ(order.between(GroupId{0}, GroupId{3}), Between::nothing);
  EXPECT_EQ(order.in_order(), (Groups{GroupId{0}, GroupId{3}}));
}

TEST(GroupOrder, AGroupThatTookALaterOneComesBehindWhatThatReads) {
  const graph::Graph graph = diamond();
  const Dataflow flow(graph);
  GroupOrder order(flow);
  for (graph::OpId op = 0; op < 4; ++op) order.add(op);
  order.merge(GroupId{1}, GroupId{3});
  EXPECT_EQ(order.in_order(), (Groups{GroupId{0}, GroupId{2}, GroupId{1}}));
  EXPECT_EQ(order.between(GroupId{0}, GroupId{1}), Between::groups);
}

/// As many ops in a row as there are, the last of which reads the first one as well.
graph::Graph chain_with_long_edge(int ops) {
  std::string lines = "  %0 = input : f32[8]\n";
  for (int op = 1; op < ops; ++op)
    lines +=
        "  %" + std::to_string(op) + " = core.map (%" + std::to_string(op - 1) + ") {function = \"abs\"} : f32[8]\n";
  const std::string last = std::to_string(ops);
  return parsed(lines + "  %" + last + " = core.map (%1, %" + std::to_string(ops - 1) +
                ") {function = \"add\"} : f32[8]\n  output %" + last + "\n");
}

TEST(GroupOrder, ASearchOverThousandsOfGroupsGivesUp) {
  const graph::Graph graph = chain_with_long_edge(6000);
  const Dataflow flow(graph);
  GroupOrder order(flow);
  for (graph::OpId op = 0; op < graph.ops.size(); ++op) order.add(op);
  EXPECT_EQ(order.between(GroupId{0}, GroupId{5999}), Between::unknown);
  EXPECT_EQ(order.between(GroupId{3000}, GroupId{5999}), Between::groups);
  EXPECT_EQ(order.between(GroupId{5998}, GroupId{5999}), Between::nothing);
}

TEST(Dataflow, LooksThroughViews) {
  const graph::Graph graph = with_view();
  const graph::ValueId abs = graph.ops[0].outputs[0], view = graph.ops[1].outputs[0];
  Dataflow flow(graph);
  EXPECT_TRUE(flow.is_seen_through(1));
  EXPECT_EQ(flow.source_of(view), abs);
  EXPECT_EQ(flow.producer_of(view), 0U);
  EXPECT_EQ(flow.with_views({2}), (Ops{1, 2}));
  EXPECT_EQ(flow.readers({0}), (Ops{2, 3}));
  EXPECT_EQ(flow.nearest_readers(abs, 3), (std::vector<graph::OpId>{2}));
  EXPECT_TRUE(flow.leaves(abs, {0, 2}));
  EXPECT_FALSE(flow.leaves(abs, {0, 2, 3}));
  EXPECT_FALSE(flow.has_written_out());
}

TEST(Dataflow, WhatIsWrittenOutIsAnOpLikeOthers) {
  const graph::Graph graph = with_view();
  Dataflow flow(graph);
  flow.write_out(1);
  EXPECT_TRUE(flow.has_written_out());
  EXPECT_FALSE(flow.is_seen_through(1));
  EXPECT_EQ(flow.producer_of(graph.ops[1].outputs[0]), 1U);
  EXPECT_EQ(flow.with_views({2}), (Ops{2}));
  EXPECT_EQ(flow.readers({0}), (Ops{1, 3}));
}

TEST(Dataflow, ViewsThatLeaveOrAreEmptyAreNotLookedThrough) {
  const graph::Graph graph = parsed(
      "  %0 = input : f32[8]\n"
      "  %1 = input : f32[0]\n"
      "  %2 = core.reshape (%0) {shape = [2, 4]} : f32[2,4]\n"
      "  %3 = core.reshape (%1) {shape = [0, 4]} : f32[0,4]\n"
      "  %4 = core.map (%3) {function = \"abs\"} : f32[0,4]\n"
      "  output %2, %4\n");
  const Dataflow flow(graph);
  EXPECT_FALSE(flow.is_seen_through(0)) << "it leaves";
  EXPECT_FALSE(flow.is_seen_through(1)) << "it has no elements";
  EXPECT_TRUE(has_empty(graph, graph.ops[2]));
  EXPECT_FALSE(has_empty(graph, graph.ops[0]));
}

}  // namespace
}  // namespace tenfold::compiler
