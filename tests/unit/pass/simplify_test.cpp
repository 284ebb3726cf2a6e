// SPDX-License-Identifier: Apache-2.0
//
// What simplify(), fold_constants() and eliminate() make of small graphs, and what they leave alone.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"

namespace tenfold::graph {
namespace {

/// The kinds of the ops that remain, "map:abs" for maps and "reduce[0,1]" for reductions.
std::string kinds(const std::string& text) {
  Result<Graph> graph = parse(text);
  if (!graph.ok()) return graph.status().message();
  const Status status = run_pipeline(graph.value());
  if (!status.ok()) return status.message();
  std::string list;
  for (const Op& op : graph.value().ops) {
    list += (list.empty() ? "" : " ") + op.kind;
    if (op.kind == "map") list += ":" + attribute_or<std::string>(op, "function", "");
    if (op.kind != "reduce") continue;
    std::string axes;
    for (const std::int64_t axis : attribute_or<Dims>(op, "axes", {}))
      axes += (axes.empty() ? "" : ",") + std::to_string(axis);
    list += "[" + axes + "]";
  }
  return list;
}

std::string graph_of(const std::string& lines) { return "graph {\n  %0 = input : f32[2,3,4]\n" + lines + "}\n"; }

TEST(Simplify, AnIndexThatIsWantedAsS32IsGivenSo) {
  const std::string arg = "%1 = onnx.ArgMax \"a\" (%0) {axis = 1, keepdims = 0} : s64[2,4] ";
  const std::string cast = "%2 = onnx.Cast (%1) {to = 6} : s32[2,4] ";
  EXPECT_EQ(kinds(graph_of(arg + cast + "output %2\n")), "arg_reduce");
  EXPECT_EQ(kinds(graph_of(arg + cast + "output %2, %1\n")), "arg_reduce cast");
  EXPECT_EQ(kinds(graph_of(arg + "%2 = onnx.Cast (%1) {to = 5} : s16[2,4] output %2\n")), "arg_reduce cast");
  EXPECT_EQ(kinds("graph {\n  %0 = input : s8[2,2147483648]\n  %1 = onnx.ArgMax (%0) {axis = 0, keepdims = 0} : "
                  "s64[2147483648]\n  %2 = onnx.Cast (%1) {to = 6} : s32[2147483648]\n  output %2\n}\n"),
            "arg_reduce cast");
}

TEST(Simplify, CastsThereAndBackGo) {
  EXPECT_EQ(kinds(graph_of("%1 = core.cast (%0) : f64[2,3,4] %2 = core.cast (%1) : f32[2,3,4] "
                           "%3 = onednn.Abs (%2) : f32[2,3,4] output %3\n")),
            "map:abs");
}

TEST(Simplify, CastsThatRoundStay) {
  EXPECT_EQ(kinds(graph_of("%1 = core.cast (%0) : bf16[2,3,4] %2 = core.cast (%1) : f32[2,3,4] "
                           "%3 = onednn.Abs (%2) : f32[2,3,4] output %3\n")),
            "cast cast map:abs");
}

TEST(Simplify, IdempotentFunctionsRunOnce) {
  EXPECT_EQ(kinds(graph_of("%1 = onednn.Abs (%0) : f32[2,3,4] %2 = onednn.Abs (%1) : f32[2,3,4] "
                           "%3 = onednn.Exp (%2) : f32[2,3,4] %4 = onednn.Exp (%3) : f32[2,3,4] output %4\n")),
            "map:abs map:exp map:exp");
}

TEST(Simplify, AnOpWhoseResultLeavesTheGraphStays) {
  EXPECT_EQ(kinds(graph_of("%1 = onednn.Abs (%0) : f32[2,3,4] %2 = onednn.Abs (%1) : f32[2,3,4] output %2\n")),
            "map:abs map:abs");
}

TEST(Simplify, ReshapesJoin) {
  EXPECT_EQ(kinds(graph_of("%1 = core.reshape (%0) {shape = [6,4]} : f32[6,4] "
                           "%2 = core.reshape (%1) {shape = [24]} : f32[24] %3 = onednn.Abs (%2) : f32[24] "
                           "output %3\n")),
            "reshape map:abs");
  EXPECT_EQ(kinds(graph_of("%1 = core.reshape (%0) {shape = [6,4]} : f32[6,4] "
                           "%2 = core.reshape (%1) {shape = [2,3,4]} : f32[2,3,4] %3 = onednn.Abs (%2) : f32[2,3,4] "
                           "output %3\n")),
            "map:abs");
}

TEST(Simplify, ExtremesOfExtremesAreOne) {
  for (const char* keep : {"true", "false"}) {
    const std::string flag = std::string("keep_dims = ") + keep;
    const std::string first = keep == std::string("true") ? "f32[2,1,4]" : "f32[2,4]";
    const std::string second = keep == std::string("true") ? "f32[2,1,1]" : "f32[2]";
    const std::string axis = keep == std::string("true") ? "2" : "1";
    const auto both = [&](const std::string& kind) {
      return kinds(graph_of("%1 = onednn." + kind + " (%0) {axes = [1], " + flag + "} : " + first + " %2 = onednn." +
                            kind + " (%1) {axes = [" + axis + "], " + flag + "} : " + second + " output %2\n"));
    };
    EXPECT_EQ(both("ReduceMax"), "reduce[1,2]");
    EXPECT_EQ(both("ReduceSum"), "reduce[1] reduce[" + axis + "]") << "sums of f32 would round less often";
  }
}

TEST(Simplify, TheExtremeOfOneElementIsAView) {
  EXPECT_EQ(kinds("graph {\n  %0 = input : f32[2,1,4]\n  %1 = onednn.ReduceMin (%0) {axes = [1], keep_dims = false} : "
                  "f32[2,4] %2 = onednn.Abs (%1) : f32[2,4] output %2\n}\n"),
            "reshape map:abs");
}

TEST(Eliminate, EqualOpsAreOne) {
  EXPECT_EQ(kinds(graph_of("%1 = onednn.Exp (%0) : f32[2,3,4] %2 = onednn.Exp (%0) : f32[2,3,4] "
                           "%3 = onednn.Add (%1, %2) : f32[2,3,4] output %3\n")),
            "map:exp map:add");
  EXPECT_EQ(kinds(graph_of("%1 = onednn.Elu (%0) {alpha = 1.0} : f32[2,3,4] "
                           "%2 = onednn.Elu (%0) {alpha = 2.0} : f32[2,3,4] "
                           "%3 = onednn.Add (%1, %2) : f32[2,3,4] output %3\n")),
            "map:elu map:elu map:add");
}

TEST(FoldConstants, OpsOfConstantsAreConstants) {
  EXPECT_EQ(kinds(graph_of("%1 = constant : f32[2] = [4, 9] %2 = onednn.Sqrt (%1) : f32[2] "
                           "%3 = core.reshape (%2) {shape = [2,1,1]} : f32[2,1,1] "
                           "%4 = onednn.Multiply (%0, %3) : f32[2,3,4] output %4\n")),
            "map:mul");
}

/// Bytes of constants after fold_constants(), and how many ops are left.
struct Folded {
  std::size_t bytes = 0, ops = 0;
};

Folded folded(Graph& graph) {
  const Status status = fold_constants(graph);
  EXPECT_TRUE(status.ok()) << status.message();
  Folded found;
  for (const Value& value : graph.values) found.bytes += value.data.size();
  found.ops = graph.ops.size();
  return found;
}

/// Squares of constants of 64 KiB, each that of the one before or all of the first, each but the last of a chain added
/// to the input.
Graph squares(int count, bool chain) {
  Graph graph;
  const auto add = [&](std::string_view function, std::vector<ValueId> inputs) {
    Value value;
    value.id = static_cast<std::int64_t>(graph.values.size());
    value.dtype = DType::f32;
    value.ranked = true;
    value.shape = {16384};
    graph.values.push_back(value);
    if (function.empty()) return static_cast<ValueId>(value.id);
    Op op;
    op.id = static_cast<std::int64_t>(graph.ops.size());
    op.dialect = Dialect::core;
    op.kind = "map";
    set_attribute(op, "function", std::string(function));
    op.inputs = std::move(inputs);
    op.outputs = {static_cast<ValueId>(value.id)};
    graph.ops.push_back(op);
    return op.outputs[0];
  };
  const ValueId x = add("", {}), first = add("", {});
  graph.values[first].data = std::vector<std::byte>(65536);
  graph.values[first].is_constant = true;
  std::vector<ValueId> leaving;
  ValueId last = first;
  for (int i = 0; i < count; ++i) {
    last = add("square", {chain ? last : first});
    if (!chain || i + 1 == count) leaving.push_back(add("add", {x, last}));
  }
  connect(graph, leaving);
  return graph;
}

TEST(FoldConstants, WhatNoOpReadsAnyMoreIsLetGo) {
  Graph graph = squares(64, true);
  const Folded found = folded(graph);
  EXPECT_EQ(found.ops, 1U);
  EXPECT_EQ(found.bytes, 2 * 65536U) << "the first and the last of the chain";
  EXPECT_TRUE(eliminate(graph).ok());
  EXPECT_TRUE(verify(graph).ok());
}

TEST(FoldConstants, ResultsStayWithin64MiBInAll) {
  Graph graph = squares(1100, false);
  const Folded found = folded(graph);
  EXPECT_EQ(found.bytes, 65536U + (std::size_t{64} << 20));
  EXPECT_EQ(found.ops, 1100U + 1100U - 1024U) << "the other squares stay ops";
  EXPECT_TRUE(eliminate(graph).ok());
  EXPECT_TRUE(verify(graph).ok());
}

TEST(Simplify, OneTimesIsNothing) {
  EXPECT_EQ(kinds(graph_of("%1 = constant : f32[] = [1] %2 = onednn.Multiply (%0, %1) : f32[2,3,4] "
                           "%3 = onednn.Exp (%2) : f32[2,3,4] output %3\n")),
            "map:exp");
}

}  // namespace
}  // namespace tenfold::graph
