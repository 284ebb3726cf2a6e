// SPDX-License-Identifier: Apache-2.0
//
// Which ops run as one kernel, which do not and the reason given, and how views are walked.
#include "compile/partition/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "compile/lower/space.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"

namespace tenfold::compiler {
namespace {

/// Writes a graph's text; values are named by number.
class Text {
 public:
  int input(const std::string& type) { return line("input : " + type); }
  int scalar(const std::string& value, const std::string& dtype = "f32") {
    return line("constant : " + dtype + "[] = [" + value + "]");
  }
  int map(const std::string& function, const std::vector<int>& of, const std::string& type) {
    return op("map", of, "function = \"" + function + "\"", type);
  }
  int reduce(const std::string& reduction, int of, const std::string& axes, const std::string& type,
             bool keeps = true) {
    return op("reduce", {of},
              "reduction = \"" + reduction + "\", axes = [" + axes + "], keep_dims = " + (keeps ? "true" : "false"),
              type);
  }
  int reshape(int of, const std::string& shape, const std::string& dtype = "f32") {
    return op("reshape", {of}, "shape = [" + shape + "]", dtype + "[" + shape + "]");
  }
  int transpose(int of, const std::string& permutation, const std::string& type) {
    return op("transpose", {of}, "permutation = [" + permutation + "]", type);
  }
  int op(const std::string& kind, const std::vector<int>& of, const std::string& attributes, const std::string& type) {
    std::string list;
    for (const int value : of) list += (list.empty() ? "%" : ", %") + std::to_string(value);
    return line("core." + kind + " \"" + kind + std::to_string(count_) + "\" (" + list + ") {" + attributes +
                "} : " + type);
  }
  graph::Graph graph(const std::vector<int>& outputs, bool verified = true) const {
    std::string list;
    for (const int value : outputs) list += (list.empty() ? "%" : ", %") + std::to_string(value);
    Result<graph::Graph> parsed = graph::parse("graph {\n" + lines_ + "  output " + list + "\n}\n");
    EXPECT_TRUE(parsed.ok()) << parsed.status().message() << "\n" << lines_;
    if (verified) {
      const Status status = graph::run_pipeline(parsed.value());
      EXPECT_TRUE(status.ok()) << status.message() << "\n" << lines_;
    }
    return std::move(parsed).value();
  }

 private:
  int line(const std::string& text) {
    lines_ += "  %" + std::to_string(count_) + " = " + text + "\n";
    return count_++;
  }
  std::string lines_;
  int count_ = 0;
};

target::Target avx2() {
  target::Target target;
  target.isa = target.native = target::Isa::avx2;
  target.cores = 2;
  return target;
}

Partition fused(const graph::Graph& graph) { return partition(graph, avx2(), true); }

std::string shown(const graph::Graph& graph, const Partition& parts) {
  std::string text;
  for (const Region& region : parts.regions) {
    text += "region" + std::string(region.status.ok() ? "" : " (" + region.status.message() + ")");
    for (const graph::OpId op : region.ops) text += ", " + graph::describe(graph.ops[op]);
    text += "\n" + (region.status.ok() ? kernel::print(region.parts[0].lowered.spec) : "");
  }
  for (const Unfused& edge : parts.unfused)
    text += graph::describe(graph.ops[edge.from]) + " and " + graph::describe(graph.ops[edge.to]) + ": " + edge.reason +
            "\n";
  return text;
}

/// One kernel that reads and writes each of so many tensors once (and reads scalars that are constants).
void expect_one_pass(const graph::Graph& graph, std::size_t inputs, std::size_t outputs) {
  const Partition parts = fused(graph);
  const std::string text = shown(graph, parts);
  ASSERT_EQ(parts.regions.size(), 1U) << text;
  EXPECT_TRUE(parts.regions[0].status.ok()) << text;
  EXPECT_EQ(parts.regions[0].parts[0].plan.kernels.size(), 1U) << text;
  const std::vector<OperandSource>& read = parts.regions[0].parts[0].lowered.inputs;
  const auto constants = std::count_if(
      read.begin(), read.end(), [&](const OperandSource& input) { return graph.values[input.value].is_constant; });
  EXPECT_EQ(read.size() - static_cast<std::size_t>(constants), inputs) << text;
  EXPECT_EQ(parts.regions[0].parts[0].lowered.spec.outputs.size(), outputs) << text;
  EXPECT_TRUE(parts.unfused.empty()) << text;
}

/// The reason why op `from` and op `to` (by position) are apart; empty when they are not.
std::string reason(const Partition& parts, graph::OpId from, graph::OpId to) {
  for (const Unfused& edge : parts.unfused)
    if (edge.from == from && edge.to == to) return edge.reason;
  return "";
}

constexpr const char* kWhole = "f32[512,512]";

// Over the last axis and over the first of [512,512], so that whole, row and column types differ by the axis only.
struct Axis {
  const char* name;
  const char* axis;
  const char* small;  ///< the shape of what is reduced along it, with keep_dims
  const char* scale;  ///< of what is multiplied along it
  const char* dtype;
};
void PrintTo(const Axis& axis, std::ostream* out) { *out << axis.name; }

class OnePass : public ::testing::TestWithParam<Axis> {
 protected:
  static std::string type(const std::string& shape) { return GetParam().dtype + shape; }
  int whole() { return t.input(type("[512,512]")); }
  int along() { return t.input(type(GetParam().scale)); }
  int scalar(const std::string& value) { return t.scalar(value, GetParam().dtype); }
  int whole(const std::string& function, const std::vector<int>& of) { return t.map(function, of, type("[512,512]")); }
  int small(const std::string& function, const std::vector<int>& of) {
    return t.map(function, of, type(GetParam().small));
  }
  int reduce(const std::string& reduction, int of) {
    return t.reduce(reduction, of, GetParam().axis, type(GetParam().small));
  }
  Text t;
};

TEST_P(OnePass, SoftmaxAsFiveOps) {
  const int x = whole(), shifted = whole("sub", {x, reduce("max", x)}), e = whole("exp", {shifted});
  expect_one_pass(t.graph({whole("div", {e, reduce("sum", e)})}), 1, 1);
}

TEST_P(OnePass, LogSoftmax) {
  const int x = whole(), shifted = whole("sub", {x, reduce("max", x)});
  const int log = small("log", {reduce("sum", whole("exp", {shifted}))});
  expect_one_pass(t.graph({whole("sub", {shifted, log})}), 1, 1);
}

TEST_P(OnePass, LogSumExp) {
  const int x = whole(), greatest = reduce("max", x);
  const int sum = reduce("sum", whole("exp", {whole("sub", {x, greatest})}));
  expect_one_pass(t.graph({small("add", {small("log", {sum}), greatest})}), 1, 1);
}

TEST_P(OnePass, LayerNorm) {
  const int x = whole(), gamma = along(), beta = along();
  const int centred = whole("sub", {x, reduce("mean", x)});
  const int variance = reduce("mean", whole("mul", {centred, centred}));
  const int deviation = small("sqrt", {small("add", {variance, scalar("0.00000762939453125")})});
  const int normal = whole("div", {centred, deviation});
  expect_one_pass(t.graph({whole("add", {whole("mul", {normal, gamma}), beta})}), 3, 1);
}

TEST_P(OnePass, RmsNorm) {
  const int x = whole(), gamma = along();
  const int squares = reduce("mean", whole("square", {x}));
  const int root = small("sqrt", {small("add", {squares, scalar("0.00000762939453125")})});
  expect_one_pass(t.graph({whole("mul", {whole("mul", {x, small("reciprocal", {root})}), gamma})}), 2, 1);
}

TEST_P(OnePass, Variance) {
  const int x = whole(), centred = whole("sub", {x, reduce("mean", x)});
  expect_one_pass(t.graph({reduce("mean", whole("square", {centred}))}), 1, 1);
}

TEST_P(OnePass, AbsMaxScale) {
  const int x = whole(), greatest = reduce("max", whole("abs", {x}));
  expect_one_pass(t.graph({whole("div", {x, greatest}), greatest}), 1, 2);
}

TEST_P(OnePass, AbsMaxQuantise) {
  const int x = whole();
  const int scale = small("mul", {reduce("max", whole("abs", {x})), scalar("0.0078125")});
  const int quotient = whole("round", {whole("div", {x, scale})});
  expect_one_pass(t.graph({t.op("cast", {quotient}, "", "s8[512,512]"), scale}), 1, 2);
}

TEST_P(OnePass, DynamicQuantise) {
  const int x = whole(), zero = scalar("0"), most = scalar("255");
  const int least = small("min", {reduce("min", x), zero}), greatest = small("max", {reduce("max", x), zero});
  const int scale = small("div", {small("sub", {greatest, least}), most});
  const int point = small("round", {small("div", {small("neg", {least}), scale})});
  const int shifted = whole("add", {whole("round", {whole("div", {x, scale})}), point});
  const int quantised = t.op("cast", {shifted}, "", "u8[512,512]");
  const int offset = t.op("cast", {point}, "", std::string("u8") + GetParam().small);
  expect_one_pass(t.graph({quantised, scale, offset}), 1, 3);
}

TEST_P(OnePass, MaxMinAndSum) {
  const int x = whole();
  const int greatest = reduce("max", x), least = reduce("min", x), sum = reduce("sum", x);
  expect_one_pass(t.graph({greatest, least, sum}), 1, 3);
}

TEST_P(OnePass, MultiplyAndSum) {
  const int x = whole(), y = whole();
  expect_one_pass(t.graph({reduce("sum", whole("mul", {x, y}))}), 2, 1);
}

TEST_P(OnePass, MaxOfTwoThenMax) {
  const int x = whole(), y = whole();
  expect_one_pass(t.graph({reduce("max", whole("max", {x, y}))}), 2, 1);
}

TEST_P(OnePass, ASumWithoutKeepDimsThatIsReshaped) {
  const int x = whole();
  const int sum = t.reshape(t.reduce("sum", x, GetParam().axis, type("[512]"), false),
                            std::string(GetParam().axis) == "1" ? "512, 1" : "1, 512", GetParam().dtype);
  expect_one_pass(t.graph({whole("div", {x, sum})}), 1, 1);
}

TEST_P(OnePass, AnElementwiseChainOfFourInputs) {
  const int x = whole(), y = whole(), row = t.input(type(GetParam().small)), one = t.input(type("[1,1]"));
  const int sum = whole("add", {whole("mul", {x, row}), whole("mul", {y, one})});
  expect_one_pass(t.graph({whole("relu", {sum}), whole("tanh", {sum})}), 4, 2);
}

INSTANTIATE_TEST_SUITE_P(Axes, OnePass,
                         ::testing::Values(Axis{"last_f32", "1", "[512,1]", "[512]", "f32"},
                                           Axis{"first_f32", "0", "[1,512]", "[512,1]", "f32"},
                                           Axis{"last_bf16", "1", "[512,1]", "[512]", "bf16"},
                                           Axis{"first_bf16", "0", "[1,512]", "[512,1]", "bf16"}),
                         [](const auto& axis) { return axis.param.name; });

/// The dialects' own ops, as they are decomposed.
TEST(Partition, CompositeOpsAreOnePass) {
  struct Case {
    const char* text;
    std::size_t inputs, outputs;
  };
  const Case cases[] = {
      {"%1 = onednn.SoftMax (%0) {axis = -1} : T[512,512]\n  output %1", 1, 1},
      {"%1 = onednn.SoftMax (%0) {axis = 0} : T[512,512]\n  output %1", 1, 1},
      {"%1 = onednn.LogSoftmax (%0) {axis = -1} : T[512,512]\n  output %1", 1, 1},
      {"%1 = onednn.LogSoftmax (%0) {axis = 0} : T[512,512]\n  output %1", 1, 1},
      {"%1 = onednn.LayerNorm (%0) {keep_stats = false, use_affine = false} : T[512,512]\n  output %1", 1, 1},
  };
  for (const std::string dtype : {"f32", "bf16"})
    for (const Case& c : cases) {
      std::string text = "graph {\n  %0 = input : T[512,512]\n  " + std::string(c.text) + "\n}\n";
      for (std::size_t at = text.find("T["); at != std::string::npos; at = text.find("T[")) text.replace(at, 1, dtype);
      Result<graph::Graph> graph = graph::parse(text);
      ASSERT_TRUE(graph.ok()) << graph.status().message() << text;
      const Status status = graph::run_pipeline(graph.value());
      ASSERT_TRUE(status.ok()) << status.message() << text;
      expect_one_pass(graph.value(), c.inputs, c.outputs);
    }
}

TEST(Partition, DynamicQuantizeLinearIsOnePass) {
  Result<graph::Graph> graph = graph::parse(
      "graph {\n  %0 = input : f32[512,512]\n  %1, %2, %3 = onnx.DynamicQuantizeLinear @11 (%0) : u8[512,512], f32[], "
      "u8[]\n  output %1, %2, %3\n}\n");
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_TRUE(graph::run_pipeline(graph.value()).ok());
  expect_one_pass(graph.value(), 1, 3);
}

TEST(Partition, GrowsThroughAWholeTransformerTail) {
  Text t;
  const int x = t.input("bf16[4,64,512]"), residual = t.input("bf16[4,64,512]");
  const int sum = t.map("add", {x, residual}, "bf16[4,64,512]");
  const int wide = t.op("cast", {sum}, "", "f32[4,64,512]");
  const int mean = t.reduce("mean", wide, "-1", "f32[4,64,1]");
  const int centred = t.map("sub", {wide, mean}, "f32[4,64,512]");
  const int variance = t.reduce("mean", t.map("square", {centred}, "f32[4,64,512]"), "2", "f32[4,64,1]");
  const int normal = t.map("div", {centred, t.map("sqrt", {variance}, "f32[4,64,1]")}, "f32[4,64,512]");
  expect_one_pass(t.graph({sum, t.op("cast", {normal}, "", "bf16[4,64,512]")}), 2, 2);
}

TEST(Partition, WithoutFusionEachOpIsARegion) {
  Text t;
  const int x = t.input(kWhole), e = t.map("exp", {x}, kWhole);
  const graph::Graph graph = t.graph({t.map("div", {e, t.reduce("sum", e, "1", "f32[512,1]")}, kWhole)});
  const Partition parts = partition(graph, avx2(), false);
  EXPECT_EQ(parts.regions.size(), 3U);
  EXPECT_TRUE(parts.unfused.empty());
}

TEST(Partition, ReductionsAlongOtherDimsAreApart) {
  Text t;
  const int x = t.input(kWhole), rows = t.reduce("max", x, "1", "f32[512,1]");
  const graph::Graph graph = t.graph({t.reduce("sum", x, "0", "f32[1,512]"), rows});
  const Partition parts = fused(graph);
  ASSERT_EQ(parts.regions.size(), 2U) << shown(graph, parts);
  EXPECT_EQ(reason(parts, 0, 1), "reductions along other dims") << shown(graph, parts);
}

TEST(Partition, AnIndexIsInOnePassWithWhatIsAroundIt) {
  Text t;
  const int x = t.input(kWhole), bias = t.input("f32[1,512]"), labels = t.input("s64[512,1]");
  const int sum = t.map("add", {x, bias}, kWhole);
  const int index =
      t.op("arg_reduce", {sum}, "mode = \"argmax\", axis = 1, keep_dims = true, select_last = false", "s64[512,1]");
  const int greatest = t.reduce("max", sum, "1", "f32[512,1]");
  expect_one_pass(t.graph({t.map("equal", {index, labels}, "boolean[512,1]"), greatest}), 3, 2);
}

/// Elements of 16 bits are faster in lanes of their own width.
TEST(Partition, AnIndexOfNarrowElementsReadsWhatHasBeenWritten) {
  Text t;
  const int x = t.input("bf16[512,512]"), bias = t.input("bf16[1,512]");
  const int sum = t.map("add", {x, bias}, "bf16[512,512]");
  const graph::Graph graph = t.graph(
      {t.op("arg_reduce", {sum}, "mode = \"argmax\", axis = 1, keep_dims = true, select_last = false", "s64[512,1]")});
  const Partition parts = fused(graph);
  ASSERT_EQ(parts.regions.size(), 2U) << shown(graph, parts);
  EXPECT_EQ(reason(parts, 0, 1), "an arg-reduction of so narrow elements is faster on what has been written");
}

/// Elements that are stored anyway; where more is made of them, their maximum stays in the kernel that it goes into.
TEST(Partition, AnExtremeOfNarrowElementsThatAreStoredReadsThem) {
  Text t;
  const int x = t.input("bf16[512,512]"), bias = t.input("bf16[1,512]");
  const int sum = t.map("add", {x, bias}, "bf16[512,512]"), most = t.reduce("max", sum, "1", "bf16[512,1]");
  const graph::Graph graph = t.graph({sum, most});
  const Partition parts = fused(graph);
  ASSERT_EQ(parts.regions.size(), 2U) << shown(graph, parts);
  EXPECT_EQ(reason(parts, 0, 1), "an extreme of so narrow elements is faster on what has been written");
  expect_one_pass(t.graph({sum, most, t.map("sub", {sum, most}, "bf16[512,512]")}), 2, 3);
}

/// The 32 columns are two factors, which the transpose swaps: memory's order is not that of the index.
TEST(Partition, AnIndexAlongSeveralFactorsIsApart) {
  Text t;
  const int x = t.input("f32[16,4,8]");
  const int turned = t.transpose(t.map("neg", {x}, "f32[16,4,8]"), "0, 2, 1", "f32[16,8,4]");
  const graph::Graph graph =
      t.graph({t.op("arg_reduce", {t.reshape(turned, "16, 32")},
                    "mode = \"argmax\", axis = 1, keep_dims = true, select_last = false", "s64[16,1]")});
  const Partition parts = fused(graph);
  EXPECT_GT(parts.regions.size(), 1U) << shown(graph, parts);
}

TEST(Partition, AReductionOfAReductionIsApart) {
  Text t;
  const int x = t.input("f32[8,64,64]"), rows = t.reduce("sum", x, "2", "f32[8,64,1]");
  const graph::Graph graph = t.graph({t.reduce("max", rows, "1", "f32[8,1,1]")});
  const Partition parts = fused(graph);
  ASSERT_EQ(parts.regions.size(), 2U) << shown(graph, parts);
  EXPECT_EQ(reason(parts, 0, 1), "reductions along other dims") << shown(graph, parts);
}

TEST(Partition, NothingLeavesARegionAndComesBack) {
  Text t;
  const int x = t.input("boolean[64,512]"), a = t.map("not", {x}, "boolean[64,512]");
  // There is no kernel for a sum of booleans.
  const int slow = t.reduce("sum", a, "1", "boolean[64,1]");
  const graph::Graph graph = t.graph({t.map("and", {a, slow}, "boolean[64,512]")});
  const Partition parts = fused(graph);
  ASSERT_EQ(parts.regions.size(), 3U) << shown(graph, parts);
  EXPECT_EQ(parts.regions[1].ops, std::vector<graph::OpId>{1});
  EXPECT_EQ(parts.regions[1].status.code(), Code::unsupported_op);
  EXPECT_EQ(reason(parts, 0, 2), "a value would leave the kernel and come back") << shown(graph, parts);
  EXPECT_NE(reason(parts, 0, 1).find("is no kernel"), std::string::npos) << shown(graph, parts);
}

TEST(Partition, NorThroughAnotherKernel) {
  Text t;
  const int x = t.input(kWhole), e = t.map("exp", {x}, kWhole), rows = t.reduce("sum", e, "1", "f32[512,1]");
  const graph::Graph graph = t.graph({t.map("div", {e, t.reduce("max", rows, "0", "f32[1,1]")}, kWhole)});
  const Partition parts = fused(graph);
  ASSERT_EQ(parts.regions.size(), 3U) << shown(graph, parts);
  EXPECT_EQ(parts.regions[0].ops, (std::vector<graph::OpId>{0, 1})) << shown(graph, parts);
  EXPECT_EQ(reason(parts, 0, 3), "a value would leave the kernel and come back") << shown(graph, parts);
}

TEST(Partition, ASmallValueThatIsExpensiveToComputeIsComputedOnce) {
  Text t;
  const int x = t.input("f32[16,64,56,56]"), variance = t.input("f32[64,1,1]");
  const int root =
      t.map("sqrt", {t.map("add", {variance, t.scalar("0.00000762939453125")}, "f32[64,1,1]")}, "f32[64,1,1]");
  const graph::Graph graph = t.graph({t.map("div", {x, root}, "f32[16,64,56,56]")});
  const Partition parts = fused(graph);
  ASSERT_EQ(parts.regions.size(), 2U) << shown(graph, parts);
  EXPECT_EQ(parts.regions[0].ops.size(), 2U) << shown(graph, parts);
  EXPECT_EQ(reason(parts, 1, 2),
            "to compute values anew for each element, or in each pass, costs more than to read them")
      << shown(graph, parts);
}

/// Each pass over a row computes anew what it needs of the passes before, but for one value that is kept: with more
/// softmaxes in a row in one kernel, each would compute all exponentials before it twice more.
TEST(Partition, WhatEachPassWouldComputeAnewIsReadInstead) {
  const auto softmaxes = [](int count) {
    const std::string all = "f32[1024,1024]", row = "f32[1024,1]";
    Text t;
    int x = t.input(all);
    for (int i = 0; i < count; ++i) {
      const int e = t.map("exp", {t.map("sub", {x, t.reduce("max", x, "1", row)}, all)}, all);
      x = t.map("div", {e, t.reduce("sum", e, "1", row)}, all);
    }
    return fused(t.graph({x})).regions.size();
  };
  EXPECT_EQ(softmaxes(1), 1U);
  EXPECT_EQ(softmaxes(2), 2U);
  EXPECT_GE(softmaxes(5), 3U);
}

/// Of one such value before a norm, all three passes of which read it, nothing is computed twice.
TEST(Partition, WhatIsExpensiveAndKeptForLaterPassesJoinsThem) {
  const std::string all = "f32[1024,1024]", row = "f32[1024,1]";
  Text t;
  const int x = t.map("tanh", {t.input(all)}, all);
  const int mean = t.map("div", {t.reduce("sum", x, "1", row), t.scalar("1024")}, row);
  const int centred = t.map("sub", {x, mean}, all);
  const int variance = t.reduce("sum", t.map("square", {centred}, all), "1", row);
  const graph::Graph graph = t.graph({t.map("div", {centred, t.map("sqrt", {variance}, row)}, all)});
  const Partition parts = fused(graph);
  EXPECT_EQ(parts.regions.size(), 1U) << shown(graph, parts);
}

TEST(Partition, RegionsStandInAnOrderInWhichTheyCanRun) {
  Text t;
  const int x = t.input("f32[64,512]"), y = t.input("f32[32,16]");
  const int a = t.reduce("sum", x, "1", "f32[64,1]");
  const int b = t.reduce("max", y, "0", "f32[1,16]");
  const int c = t.map("sub", {x, a}, "f32[64,512]");
  const int d = t.reduce("max", c, "0", "f32[1,512]");
  const graph::Graph graph = t.graph({b, t.map("exp", {d}, "f32[1,512]"), c});
  const Partition parts = fused(graph);
  std::vector<bool> made(graph.values.size(), false);
  for (const graph::ValueId input : graph.inputs) made[input] = true;
  for (const Region& region : parts.regions) {
    for (const OperandSource& in : region.parts[0].lowered.inputs) EXPECT_TRUE(made[in.value]) << shown(graph, parts);
    for (const OperandSource& out : region.parts[0].lowered.outputs) made[out.value] = true;
  }
}

TEST(Partition, ATransposeIsOtherStrides) {
  Text t;
  const int x = t.input("f32[64,512]"), turned = t.transpose(x, "1, 0", "f32[512,64]");
  const graph::Graph graph = t.graph({t.map("exp", {turned}, "f32[512,64]")}, false);
  const Partition parts = fused(graph);
  ASSERT_EQ(parts.regions.size(), 1U) << shown(graph, parts);
  EXPECT_EQ(kernel::print(parts.regions[0].parts[0].lowered.spec),
            "kernel\nspace kept 512, kept 64\nin x0 f32 [1, 512]\nout y0 f32 [64, 1]\n%0 = load x0\n%1 = exp %0\n"
            "store y0 %1\n");
}

TEST(Partition, AReductionOfATransposeReadsTheOriginal) {
  Text t;
  const int x = t.input("f32[4,8,16]"), turned = t.transpose(x, "2, 0, 1", "f32[16,4,8]");
  const graph::Graph graph = t.graph({t.reduce("sum", turned, "0", "f32[1,4,8]")}, false);
  const Partition parts = fused(graph);
  ASSERT_EQ(parts.regions.size(), 1U) << shown(graph, parts);
  EXPECT_EQ(kernel::print(parts.regions[0].parts[0].lowered.spec),
            "kernel\nspace kept 32, reduced 16\nin x0 f32 [16, 1]\nout y0 f32 [1, 0]\n%0 = load x0\n"
            "%1 = reduce sum %0\nstore y0 %1\n");
}

TEST(Partition, ATensorPlusItsTransposeReadsItInOneOrderOnly) {
  Text t;
  const int x = t.input("f32[512,512]"), turned = t.transpose(x, "1, 0", "f32[512,512]");
  const graph::Graph graph = t.graph({t.map("add", {x, turned}, "f32[512,512]")}, false);
  const Partition parts = fused(graph);
  ASSERT_EQ(parts.regions.size(), 2U) << shown(graph, parts);
  for (const Region& region : parts.regions) EXPECT_TRUE(region.status.ok()) << shown(graph, parts);
  EXPECT_EQ(parts.regions[0].ops, std::vector<graph::OpId>{0}) << "the transpose is written out";
  EXPECT_EQ(reason(parts, 0, 1), "a tensor that would be read in two orders at once") << shown(graph, parts);
}

TEST(Partition, GroupNormIsOnePass) {
  Text t;
  const int x = t.input("f32[2,32,64,64]");
  const int groups = t.reshape(x, "2, 8, 4, 64, 64");
  const int centred = t.map("sub", {groups, t.reduce("mean", groups, "2, 3, 4", "f32[2,8,1,1,1]")}, "f32[2,8,4,64,64]");
  const int variance = t.reduce("mean", t.map("square", {centred}, "f32[2,8,4,64,64]"), "2, 3, 4", "f32[2,8,1,1,1]");
  const int normal = t.map("div", {centred, t.map("sqrt", {variance}, "f32[2,8,1,1,1]")}, "f32[2,8,4,64,64]");
  const int back = t.reshape(normal, "2, 32, 64, 64"), gamma = t.input("f32[32,1,1]");
  expect_one_pass(t.graph({t.map("mul", {back, gamma}, "f32[2,32,64,64]")}), 2, 1);
}

TEST(Partition, AReshapeWithoutCommonFactorsIsWrittenOut) {
  Text t;
  const int x = t.input("f32[6,4]"), e = t.map("exp", {x}, "f32[6,4]");
  const int view = t.reshape(e, "8, 3");
  const graph::Graph graph = t.graph({t.reduce("sum", view, "1", "f32[8,1]")});
  const Partition parts = fused(graph);
  ASSERT_EQ(parts.regions.size(), 3U) << shown(graph, parts);
  EXPECT_EQ(parts.regions[1].ops, std::vector<graph::OpId>{1});
  EXPECT_TRUE(parts.regions[0].status.ok() && parts.regions[2].status.ok()) << shown(graph, parts);
  EXPECT_EQ(kernel::print(parts.regions[1].parts[0].lowered.spec),
            "kernel\nspace kept 24\nin x0 f32 [1]\nout y0 f32 [1]\n%0 = load x0\nstore y0 %0\n");
  EXPECT_EQ(reason(parts, 0, 1), "a reshape whose dims of 4 and 3 share no factors") << shown(graph, parts);
}

TEST(Partition, AViewThatLeavesTheGraphIsWritten) {
  Text t;
  const int x = t.input("f32[4,6]"), e = t.map("exp", {x}, "f32[4,6]");
  const int view = t.reshape(e, "4, 2, 3");
  const graph::Graph graph = t.graph({view});
  const Partition parts = fused(graph);
  ASSERT_EQ(parts.regions.size(), 1U) << shown(graph, parts);
  EXPECT_EQ(parts.regions[0].ops.size(), 2U);
  EXPECT_EQ(parts.regions[0].parts[0].lowered.outputs, (std::vector<OperandSource>{{graph.outputs[0], 0}}));
}

TEST(Partition, AViewOfAnInputThatLeavesTheGraphIsACopy) {
  Text t;
  const int x = t.input("f32[4,6]");
  const graph::Graph graph = t.graph({t.reshape(x, "24")});
  const Partition parts = fused(graph);
  ASSERT_EQ(parts.regions.size(), 1U) << shown(graph, parts);
  EXPECT_EQ(kernel::print(parts.regions[0].parts[0].lowered.spec),
            "kernel\nspace kept 24\nin x0 f32 [1]\nout y0 f32 [1]\n%0 = load x0\nstore y0 %0\n");
}

TEST(Partition, SlicesAreReadWhereTheyLie) {
  Text t;
  const int x = t.input("f32[8,1024]");
  const auto half = [&](const std::string& start) {
    return t.op("slice", {x}, "starts = [0, " + start + "], steps = [1, 1], shape = [8, 512]", "f32[8,512]");
  };
  const int gate = t.map("sigmoid", {half("512")}, "f32[8,512]");
  const graph::Graph graph = t.graph({t.map("mul", {half("0"), gate}, "f32[8,512]")});
  const Partition parts = fused(graph);
  ASSERT_EQ(parts.regions.size(), 1U) << shown(graph, parts);
  const Lowered& lowered = parts.regions[0].parts[0].lowered;
  ASSERT_EQ(lowered.spec.inputs.size(), 2U);
  for (const kernel::Operand& input : lowered.spec.inputs)
    EXPECT_EQ(input.strides, (std::vector<std::int64_t>{1024, 1})) << shown(graph, parts);
  std::vector<std::int64_t> offsets;
  for (const OperandSource& input : lowered.inputs) {
    EXPECT_EQ(input.value, graph.inputs[0]);
    offsets.push_back(input.offset);
  }
  std::sort(offsets.begin(), offsets.end());
  EXPECT_EQ(offsets, (std::vector<std::int64_t>{0, 2048}));
}

TEST(Partition, ASliceOfASliceWithSteps) {
  Text t;
  const int x = t.input("f32[64,40]");
  const int rows = t.op("slice", {x}, "starts = [4, 0], steps = [2, 1], shape = [16, 40]", "f32[16,40]");
  const int both = t.op("slice", {rows}, "starts = [1, 3], steps = [1, 4], shape = [8, 8]", "f32[8,8]");
  const graph::Graph graph = t.graph({t.reduce("sum", both, "1", "f32[8,1]")});
  const Partition parts = fused(graph);
  ASSERT_EQ(parts.regions.size(), 1U) << shown(graph, parts);
  const Lowered& lowered = parts.regions[0].parts[0].lowered;
  EXPECT_EQ(lowered.spec.inputs[0].strides, (std::vector<std::int64_t>{80, 4}));
  EXPECT_EQ(lowered.inputs, (std::vector<OperandSource>{{graph.inputs[0], 4 * (6 * 40 + 3)}}));
}

TEST(Partition, ASliceOfWhatAKernelMakesCutsIt) {
  Text t;
  const int e = t.map("exp", {t.input("f32[8,1024]")}, "f32[8,1024]");
  const int part = t.op("slice", {e}, "starts = [0, 8], steps = [1, 2], shape = [8, 256]", "f32[8,256]");
  const graph::Graph graph = t.graph({t.map("log", {part}, "f32[8,256]")});
  const Partition parts = fused(graph);
  ASSERT_EQ(parts.regions.size(), 2U) << shown(graph, parts);
  EXPECT_EQ(reason(parts, 0, 2), "a slice of what the kernel itself makes") << shown(graph, parts);
}

TEST(Partition, ABackwardSliceIsACopy) {
  Text t;
  const int x = t.input("f32[64]");
  const int back = t.op("slice", {x}, "starts = [63], steps = [-1], shape = [64]", "f32[64]");
  const graph::Graph graph = t.graph({t.map("exp", {back}, "f32[64]")});
  const Partition parts = fused(graph);
  EXPECT_EQ(parts.regions.size(), 2U) << shown(graph, parts);
}

TEST(Partition, ABackwardSliceOfASlice) {
  Text t;
  const int x = t.input("f32[64]");
  const int half = t.op("slice", {x}, "starts = [0], steps = [2], shape = [32]", "f32[32]");
  const graph::Graph graph = t.graph({t.op("slice", {half}, "starts = [31], steps = [-1], shape = [32]", "f32[32]")});
  const Partition parts = fused(graph);
  ASSERT_EQ(parts.regions.size(), 2U) << shown(graph, parts);
  for (const Region& region : parts.regions) EXPECT_TRUE(region.status.ok()) << shown(graph, parts);
}

/// Views one upon another that no strides say are written out, each before the next, however many there are.
TEST(Many, ViewsUponViewsAreWrittenOut) {
  constexpr int kPairs = 3000;
  Text t;
  int x = t.input("f32[6,10]");
  for (int i = 0; i < kPairs; ++i) x = t.reshape(t.transpose(x, "1, 0", "f32[10,6]"), "6, 10");
  const graph::Graph graph = t.graph({t.map("exp", {x}, "f32[6,10]")});
  const Partition parts = fused(graph);
  EXPECT_GT(parts.regions.size(), std::size_t{kPairs} / 2);
  for (const Region& region : parts.regions) ASSERT_TRUE(region.status.ok()) << region.status.message();
}

/// A region that reads through more views than it looks through: the one next to it is written out.
TEST(Many, ViewsOfOneRegionAreBounded) {
  Text t;
  int sum = t.input("f32[4,3]");
  for (int i = 0; i < 100; ++i)
    sum = t.map("add", {sum, t.transpose(t.input("f32[3,4]"), "1, 0", "f32[4,3]")}, "f32[4,3]");
  const Partition parts = fused(t.graph({sum}));
  EXPECT_GT(parts.regions.size(), 1U);
  for (const Region& region : parts.regions) {
    EXPECT_TRUE(region.status.ok()) << region.status.message();
    EXPECT_LE(region.ops.size(), 64U + 96U);
  }
}

/// Each op is tried with a bounded number of others, so that twice the ops take about twice the time: of those that
/// read one tensor, with the nearest.
TEST(Many, OpsThatReadOneTensorAreTriedWithTheNearest) {
  constexpr int kReaders = 2000;
  Text t;
  const int x = t.input("f32[64]");
  std::vector<int> outputs;
  for (int i = 0; i < kReaders; ++i) outputs.push_back(t.map("add", {x, t.scalar(std::to_string(i))}, "f32[64]"));
  const graph::Graph graph = t.graph(outputs);
  const Partition parts = fused(graph);
  std::size_t ops = 0;
  for (const Region& region : parts.regions) ops += region.ops.size();
  EXPECT_EQ(ops, graph.ops.size());
  EXPECT_LT(parts.regions.size(), std::size_t{kReaders} / 4);
  EXPECT_LT(parts.unfused.size(), std::size_t{kReaders} * 32);
}

/// The value comes back through an index: one kernel of both maps would need that before it is there.
TEST(Many, NoRegionNeedsWhatItGivesToOthers) {
  Text t;
  const int x = t.input("f32[8,16]"), y = t.input("f32[16,8]");
  const int first = t.map("exp", {x}, "f32[8,16]");
  // Another space, so another region.
  const int other =
      t.op("arg_reduce", {first}, "mode = \"argmax\", axis = 1, keep_dims = true, select_last = false", "s64[8,1]");
  const int back = t.op("cast", {other}, "", "f32[8,1]");
  const int last = t.map("add", {first, back}, "f32[8,16]");
  const int unrelated = t.map("exp", {y}, "f32[16,8]");
  const graph::Graph graph = t.graph({last, unrelated});
  const Partition parts = fused(graph);
  std::vector<bool> written(graph.values.size(), false);
  for (const graph::ValueId value : graph.inputs) written[value] = true;
  for (const Region& region : parts.regions) {
    for (const graph::OpId op : region.ops) {
      const bool reads_own = std::any_of(region.ops.begin(), region.ops.end(),
                                         [&](graph::OpId id) { return graph.ops[id].outputs == graph.ops[op].inputs; });
      for (const graph::ValueId value : graph.ops[op].inputs)
        EXPECT_TRUE(written[value] || graph.values[value].is_constant || reads_own) << shown(graph, parts);
      for (const graph::ValueId value : graph.ops[op].outputs) written[value] = true;
    }
  }
}

graph::Op op_of(const graph::Graph& graph, std::size_t at) { return graph.ops[at]; }

TEST(Space, AReshapeCutsDimsIntoFactors) {
  Text t;
  const int x = t.input("f32[2,12,5]");
  const graph::Graph graph = t.graph({t.reshape(x, "2, 3, 20")});
  IterationSpace space(graph);
  ASSERT_TRUE(space.add(op_of(graph, 0)).ok());
  // 12 x 5 is 3 x 4 x 5 is 3 x 20.
  std::vector<std::int64_t> extents;
  for (const int factor : space.factors(graph.inputs[0])) extents.push_back(space.extent(factor));
  EXPECT_EQ(extents, (std::vector<std::int64_t>{2, 3, 4, 5}));
  EXPECT_EQ(space.factors(graph.inputs[0]), space.factors(graph.outputs[0]));
  EXPECT_EQ(space.dimensions(graph.inputs[0])[1].size(), 2U);
  EXPECT_EQ(space.dimensions(graph.outputs[0])[2].size(), 2U);
  EXPECT_EQ(space.all().size(), 4U);
}

TEST(Space, DimsOfExtentOneHaveNoFactors) {
  Text t;
  const int x = t.input("f32[1,7,1]"), row = t.input("f32[7,3]");
  const int flat = t.reshape(x, "7, 1");
  const graph::Graph graph = t.graph({t.map("add", {flat, row}, "f32[7,3]")});
  IterationSpace space(graph);
  for (const graph::Op& op : graph.ops) ASSERT_TRUE(space.add(op).ok());
  EXPECT_TRUE(space.dimensions(graph.inputs[0])[0].empty());
  EXPECT_EQ(space.factors(graph.inputs[0]).size(), 1U);
  EXPECT_EQ(space.all().size(), 2U);
}

TEST(Space, ACutGoesThroughAllValuesThatShareTheDim) {
  Text t;
  const int x = t.input("f32[24]"), y = t.input("f32[24]");
  const int sum = t.map("add", {x, y}, "f32[24]");
  const graph::Graph graph = t.graph({t.reshape(sum, "4, 6")});
  IterationSpace space(graph);
  for (const graph::Op& op : graph.ops) ASSERT_TRUE(space.add(op).ok());
  for (const graph::ValueId input : graph.inputs) EXPECT_EQ(space.factors(input), space.factors(graph.outputs[0]));
  EXPECT_EQ(space.factors(graph.inputs[1]).size(), 2U);
}

TEST(Space, SaysWhichDimsShareNoFactors) {
  Text t;
  const graph::Graph graph = t.graph({t.reshape(t.input("f32[6,4]"), "8, 3")});
  IterationSpace space(graph);
  const Status status = space.add(op_of(graph, 0));
  EXPECT_EQ(status.code(), Code::unsupported_shape);
  EXPECT_EQ(status.message(), "a reshape whose dims of 4 and 3 share no factors");
}

}  // namespace
}  // namespace tenfold::compiler
