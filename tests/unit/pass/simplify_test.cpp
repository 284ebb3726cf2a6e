// SPDX-License-Identifier: Apache-2.0
//
// What simplify(), fold_constants() and eliminate() make of small graphs, and what they leave alone.
#include <gtest/gtest.h>

#include <string>
#include <vector>

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

TEST(Simplify, OneTimesIsNothing) {
  EXPECT_EQ(kinds(graph_of("%1 = constant : f32[] = [1] %2 = onednn.Multiply (%0, %1) : f32[2,3,4] "
                           "%3 = onednn.Exp (%2) : f32[2,3,4] output %3\n")),
            "map:exp");
}

}  // namespace
}  // namespace tenfold::graph
