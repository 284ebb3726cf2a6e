// SPDX-License-Identifier: Apache-2.0
//
// The back half of the compiler: lowering, plans, the kernel cache, what falls back and why.
#include "compile/compile.hpp"

#include <gtest/gtest.h>

#include <locale>
#include <thread>

#include "compile/cache/kernel_cache.hpp"
#include "compile/lower/arg.hpp"
#include "compile/lower/lower.hpp"
#include "compile/plan/plan.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "jit/emit.hpp"

namespace tenfold::compiler {
namespace {

graph::Graph core_graph(const std::string& text) {
  Result<graph::Graph> graph = graph::parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  const Status status = graph::run_pipeline(graph.value());
  EXPECT_TRUE(status.ok()) << status.message();
  return graph.value();
}

graph::Graph reduction(const std::string& kind, const std::string& type, const std::string& axes,
                       const std::string& out) {
  return core_graph("graph {\n  %0 = input : " + type + "\n  %1 = onednn." + kind + " \"r\" (%0) {axes = [" + axes +
                    "], keep_dims = false} : " + out + "\n  output %1\n}\n");
}

Result<Lowered> lower_first(const graph::Graph& graph) {
  const graph::OpId ops[] = {0};
  return lower(graph, ops, graph.ops[0].outputs);
}

std::string lowered(const graph::Graph& graph) {
  const Result<Lowered> result =
      graph.ops[0].kind == "arg_reduce" ? lower_arg_reduce(graph, graph.ops[0]) : lower_first(graph);
  return result.ok() ? kernel::print(result.value().spec) : result.status().message();
}

target::Target avx2(int cores) {
  target::Target target;
  target.isa = target::Isa::avx2;
  target.native = target::Isa::avx2;
  target.cores = cores;
  return target;
}

/// Numbers as many a locale has them: 4,096.
class Grouped : public std::numpunct<char> {
 protected:
  std::string do_grouping() const override { return "\3"; }
};

TEST(Explain, NumbersAreTheSameInAnyLocale) {
  const graph::Graph graph = reduction("ReduceSum", "f32[4096,20000]", "0", "f32[20000]");
  const auto texts = [&] {
    const Result<Compiled> compiled = compile(graph, avx2(2));
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    const Lowered kernel = lower_first(graph).value();
    const Result<Plan> plan = make_plan(kernel.spec, avx2(2));
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    return explain(compiled.value(), avx2(2)) + kernel::print(kernel.spec) +
           jit::class_key(kernel.spec, plan.value().kernels[0].schedule);
  };
  const std::string expected = texts();
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Grouped));
  const std::string got = texts();
  std::locale::global(before);
  EXPECT_EQ(got, expected);
}

TEST(Lower, MeanOfTrailingAxes) {
  EXPECT_EQ(lowered(reduction("ReduceMean", "f32[4,8,16]", "1, -1", "f32[4]")),
            "kernel\nspace kept 4, reduced 128\nin x0 f32 [128, 1]\nout y0 f32 [1, 0]\n%0 = load x0\n"
            "%1 = reduce sum %0\n%2 = count\n%3 = div %1 %2\nstore y0 %3\n");
}

/// A count that 32 bits do not hold divides in 64.
TEST(Lower, MeanOfMoreIntegersThanTheirTypeCounts) {
  const auto mean_of = [](const std::string& rows) {
    return lowered(core_graph("graph {\n  %0 = input : u32[" + rows +
                              ",2]\n  %1 = core.reduce \"r\" (%0) {reduction = \"mean\", axes = [0], keep_dims = "
                              "false} : u32[2]\n  output %1\n}\n"));
  };
  EXPECT_EQ(mean_of("2147483648"),
            "kernel\nspace reduced 2147483648, kept 2\nin x0 u32 [2, 1]\nout y0 u32 [0, 1]\n%0 = load x0\n"
            "%1 = reduce sum %0\n%2 = cast s64 %1\n%3 = count\n%4 = div %2 %3\n%5 = cast u32 %4\nstore y0 %5\n");
  EXPECT_EQ(mean_of("2147483647"),
            "kernel\nspace reduced 2147483647, kept 2\nin x0 u32 [2, 1]\nout y0 u32 [0, 1]\n%0 = load x0\n"
            "%1 = reduce sum %0\n%2 = count\n%3 = div %1 %2\nstore y0 %3\n");
}

TEST(Lower, L2OfAMiddleAxisInBf16) {
  EXPECT_EQ(lowered(reduction("ReduceL2", "bf16[4,8,16]", "1", "bf16[4,16]")),
            "kernel\nspace kept 4, reduced 8, kept 16\nin x0 bf16 [128, 16, 1]\nout y0 bf16 [16, 0, 1]\n%0 = load x0\n"
            "%1 = square %0\n%2 = reduce sum %1\n%3 = sqrt %2\nstore y0 %3\n");
}

/// The nodes of the only kernel that a graph of 16-bit values is.
std::string body_of(const std::string& ops) {
  const graph::Graph graph = core_graph("graph {\n  %0 = input : bf16[64,8]\n  %1 = input : f32[64,8]\n" + ops + "}\n");
  std::vector<graph::OpId> all;
  for (graph::OpId id = 0; id < graph.ops.size(); ++id) all.push_back(id);
  const Result<Lowered> lowered = lower(graph, all, graph.outputs);
  EXPECT_TRUE(lowered.ok()) << lowered.status().message();
  if (!lowered.ok()) return "";
  const std::string text = kernel::print(lowered.value().spec);
  return text.substr(text.find('%'));
}

TEST(Lower, RoundingWaitsForWhatGoesByOrderAlone) {
  EXPECT_EQ(body_of("%2 = core.map (%0, %0) {function = \"mul\"} : bf16[64,8]\n"
                    "%3 = core.map (%2) {function = \"relu\"} : bf16[64,8]\noutput %3\n"),
            "%0 = load x0\n%1 = mul %0 %0\n%2 = relu %1\nstore y0 %2\n");
  EXPECT_EQ(body_of("%2 = core.cast (%1) : bf16[64,8]\n%3 = core.map (%2) {function = \"abs\"} : bf16[64,8]\n"
                    "%4 = core.map (%3) {function = \"sqrt\"} : bf16[64,8]\noutput %4\n"),
            "%0 = load x0\n%1 = abs %0\n%2 = cast bf16 %1\n%3 = sqrt %2\nstore y0 %3\n");
  EXPECT_EQ(body_of("%2 = core.cast (%1) : bf16[64,8]\n"
                    "%3 = core.map (%0, %2) {function = \"max\"} : bf16[64,8]\noutput %3\n"),
            "%0 = load x0\n%1 = load x1\n%2 = cast bf16 %0\n%3 = max %1 %2\nstore y0 %3\n")
      << "beside 16 bits it is not f32";
}

TEST(Lower, RoundingDoesNotWaitForOthers) {
  const std::string product = "%2 = core.map (%0, %0) {function = \"mul\"} : bf16[64,8]\n";
  EXPECT_EQ(body_of(product + "%3 = core.map (%2) {function = \"floor\"} : bf16[64,8]\noutput %3\n"),
            "%0 = load x0\n%1 = mul %0 %0\n%2 = cast bf16 %1\n%3 = floor %2\nstore y0 %3\n");
  EXPECT_EQ(body_of(product + "%3 = core.map (%2) {function = \"relu\"} : bf16[64,8]\n"
                              "%4 = core.map (%3, %2) {function = \"add\"} : bf16[64,8]\noutput %4\n"),
            "%0 = load x0\n%1 = mul %0 %0\n%2 = cast bf16 %1\n%3 = relu %2\n%4 = add %3 %2\nstore y0 %4\n")
      << "it is rounded for the sum anyway";
}

TEST(Lower, NoAxesIsACopyWhateverTheReduction) {
  EXPECT_EQ(lowered(reduction("ReduceL1", "f32[4,8]", "", "f32[4,8]")),
            "kernel\nspace kept 32\nin x0 f32 [1]\nout y0 f32 [1]\n%0 = load x0\nstore y0 %0\n");
}

graph::Graph arg_and_extreme(const std::string& mode, const std::string& reduction, int axis) {
  return core_graph(
      "graph {\n  %0 = input : f32[4,8,16]\n  %1 = core.arg_reduce \"a\" (%0) {mode = \"" + mode +
      "\", axis = 1, keep_dims = true, select_last = true} : s64[4,1,16]\n  %2 = core.reduce \"r\" (%0) " +
      "{reduction = \"" + reduction + "\", axes = [" + std::to_string(axis) + "], keep_dims = true} : f32" +
      (axis == 1 ? "[4,1,16]" : "[4,8,1]") + "\n  output %1, %2\n}\n");
}

TEST(Lower, ArgMaxOfAMiddleAxis) {
  EXPECT_EQ(lowered(arg_and_extreme("argmax", "max", 1)),
            "kernel\nspace kept 4, reduced 8, kept 16\nin x0 f32 [128, 16, 1]\nout y0 s64 [16, 0, 1]\n%0 = load x0\n"
            "%1 = reduce argmax last %0\nstore y0 %1\n");
}

TEST(Compile, AnArgReductionAndAnExtremeAreOneKernel) {
  const Result<Compiled> pair = compile(arg_and_extreme("argmin", "min", 1), avx2(1));
  ASSERT_TRUE(pair.ok()) << pair.status().message();
  ASSERT_EQ(pair.value().regions.size(), 1U);
  EXPECT_EQ(pair.value().regions[0].ops.size(), 2U);
  ASSERT_EQ(pair.value().regions[0].kernels.size(), 1U);
  EXPECT_EQ(pair.value().regions[0].kernels[0].spec.outputs.size(), 2U);
  // Another extreme is a reduction like any other, in one pass with the index.
  const Result<Compiled> other = compile(arg_and_extreme("argmin", "max", 1), avx2(1));
  ASSERT_TRUE(other.ok()) << other.status().message();
  ASSERT_EQ(other.value().regions.size(), 1U);
  EXPECT_EQ(other.value().regions[0].kernels.size(), 1U);
  const Result<Compiled> two = compile(arg_and_extreme("argmin", "min", 2), avx2(1));
  ASSERT_TRUE(two.ok()) << two.status().message();
  EXPECT_EQ(two.value().regions.size(), 2U);
}

TEST(Plan, ASplitSumHasAPartialAndACombiningKernel) {
  const graph::Graph graph = reduction("ReduceMean", "f32[2097152]", "0", "f32[]");
  const Result<Lowered> lowering = lower_first(graph);
  ASSERT_TRUE(lowering.ok());
  const kernel::KernelSpec& spec = lowering.value().spec;
  const Result<Plan> plan = make_plan(spec, avx2(2));
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_EQ(plan.value().kernels.size(), 2U);
  EXPECT_EQ(plan.value().kernels[0].schedule.split.grain, 262144);
  EXPECT_EQ(kernel::print(plan.value().kernels[0].spec),
            "kernel\nspace reduced 2097152\nin x0 f32 [1]\nout y0 f64 [0]\n%0 = load x0\n%1 = reduce sum %0\n"
            "store y0 %1\n");
  EXPECT_EQ(kernel::print(plan.value().kernels[1].spec),
            "kernel\nspace reduced 8, kept 1\nin x0 f64 [1, 1]\nout y0 f32 [0, 1]\n%0 = load x0\n"
            "%1 = reduce sum %0\n%2 = count\n%3 = div %1 %2\nstore y0 %3\n");
  EXPECT_EQ(plan.value().between, std::vector<std::int64_t>{8 * 8});
}

TEST(Plan, ASplitMaxKeepsItsOwnType) {
  const graph::Graph graph = reduction("ReduceMax", "bf16[65536,32]", "0", "bf16[32]");
  const Result<Lowered> lowering = lower_first(graph);
  ASSERT_TRUE(lowering.ok());
  const kernel::KernelSpec& spec = lowering.value().spec;
  const Result<Plan> plan = make_plan(spec, avx2(2));
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan.value().kernels.size(), 2U);
  EXPECT_EQ(plan.value().kernels[0].spec.outputs[0].dtype, DType::bf16);
  EXPECT_EQ(plan.value().kernels[0].partial_stride_bytes, 64);
}

TEST(Plan, AxesApartAreReducedOneAfterTheOther) {
  const graph::Graph graph = reduction("ReduceL2", "bf16[16,64,80,48]", "1, 3", "bf16[16,80]");
  const Result<Lowered> lowering = lower_first(graph);
  ASSERT_TRUE(lowering.ok());
  const Result<Plan> plan = make_plan(lowering.value().spec, avx2(2));
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_EQ(plan.value().kernels.size(), 2U);
  EXPECT_EQ(kernel::print(plan.value().kernels[0].spec),
            "kernel\nspace kept 16, reduced 64, kept 3840\nin x0 bf16 [245760, 3840, 1]\nout y0 f64 [3840, 0, 1]\n"
            "%0 = load x0\n%1 = square %0\n%2 = reduce sum %1\nstore y0 %2\n");
  EXPECT_EQ(kernel::print(plan.value().kernels[1].spec),
            "kernel\nspace kept 1280, reduced 48\nin x0 f64 [48, 1]\nout y0 bf16 [1, 0]\n%0 = load x0\n"
            "%1 = reduce sum %0\n%2 = sqrt %1\nstore y0 %2\n");
  EXPECT_EQ(plan.value().between, std::vector<std::int64_t>{16 * 80 * 48 * 8});
}

TEST(Compile, TheMeanOverAxesApartDividesByAllThatItReduces) {
  const Result<Compiled> compiled = compile(reduction("ReduceMean", "f32[16,64,80,48]", "1, 3", "f32[16,80]"), avx2(1));
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  ASSERT_EQ(compiled.value().program.steps.size(), 2U);
  for (const runtime::Step& step : compiled.value().program.steps) EXPECT_EQ(step.kernel->count, 64 * 48);
}

TEST(Plan, DoesNotDependOnCoresInWhatDecidesBits) {
  for (const char* type : {"f32[64,128,1024]", "f32[64,128,64]", "f32[8,128,64]"}) {
    const graph::Graph graph = reduction("ReduceSum", type, "0, 2", "f32[128]");
    const Result<Lowered> lowering = lower_first(graph);
    ASSERT_TRUE(lowering.ok());
    const kernel::KernelSpec& spec = lowering.value().spec;
    const Result<Plan> one = make_plan(spec, avx2(1));
    const Result<Plan> many = make_plan(spec, avx2(48));
    ASSERT_TRUE(one.ok() && many.ok());
    ASSERT_EQ(one.value().kernels.size(), many.value().kernels.size());
    for (std::size_t i = 0; i < one.value().kernels.size(); ++i) {
      schedule::Schedule a = one.value().kernels[i].schedule;
      schedule::Schedule b = many.value().kernels[i].schedule;
      a.tile = b.tile = {};
      EXPECT_EQ(a, b);
    }
  }
}

TEST(Compile, AnEmptyOutputNeedsNothing) {
  const Result<Compiled> compiled = compile(reduction("ReduceSum", "f32[0,3]", "1", "f32[0]"), avx2(1));
  ASSERT_TRUE(compiled.ok());
  EXPECT_EQ(compiled.value().regions[0].kind, RegionReport::Kind::nothing);
  EXPECT_TRUE(compiled.value().program.steps.empty());
}

TEST(Compile, SaysWhyAnOpRunsOnTheReference) {
  const graph::Graph elementwise =
      core_graph("graph {\n  %0 = input : f32[4]\n  %1 = onednn.Exp \"e\" (%0) : f32[4]\n  output %1\n}\n");
  const Result<Compiled> compiled = compile(elementwise, avx2(1));
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  EXPECT_EQ(compiled.value().regions[0].kind, RegionReport::Kind::kernel);
  EXPECT_EQ(compiled.value().regions[0].reason, "");
  target::Target reference;
  const Result<Compiled> slow = compile(reduction("ReduceMax", "f32[4,8]", "1", "f32[4]"), reference);
  ASSERT_TRUE(slow.ok());
  EXPECT_EQ(slow.value().regions[0].reason, "this CPU is below avx2, which kernels need");
}

TEST(Compile, MoreLevelsThanKernelsHaveRunOnTheReference) {
  const Result<Compiled> compiled =
      compile(reduction("ReduceSum", "f32[2,2,2,2,2,2,2,2]", "0, 2, 4, 6", "f32[2,2,2,2]"), avx2(1));
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  EXPECT_EQ(compiled.value().regions[0].kind, RegionReport::Kind::reference);
  EXPECT_NE(compiled.value().regions[0].reason.find("8 levels"), std::string::npos);
}

TEST(KernelCache, KernelsGoWithTheirLastUser) {
  const std::size_t before = kernel_cache_stats().kernels;
  {
    const Result<Compiled> first = compile(reduction("ReduceMin", "f16[40,600]", "1", "f16[40]"), avx2(1));
    const Result<Compiled> other_shape = compile(reduction("ReduceMin", "f16[50,610]", "1", "f16[50]"), avx2(1));
    ASSERT_TRUE(first.ok() && other_shape.ok());
    EXPECT_EQ(kernel_cache_stats().kernels, before + 1);
    EXPECT_EQ(first.value().program.steps[0].kernel->code, other_shape.value().program.steps[0].kernel->code);
  }
  EXPECT_EQ(kernel_cache_stats().kernels, before);
}

TEST(KernelCache, RemembersNoKernelForWhichThereIsNoMemory) {
  const graph::Graph graph = reduction("ReduceMin", "f16[40,300]", "1", "f16[40]");
  const Result<Lowered> lowered = lower_first(graph);
  ASSERT_TRUE(lowered.ok()) << lowered.status().message();
  const Result<Plan> plan = make_plan(lowered.value().spec, avx2(1));
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  KernelCache cache(0);
  EXPECT_EQ(cache.get(plan.value().kernels.at(0)).status().code(), Code::out_of_memory);
  EXPECT_EQ(cache.size(), 0U);
}

/// Whether a lock is missing, the thread sanitizer says.
TEST(KernelCache, IsAskedForItsSizeByAnyThread) {
  const graph::Graph graph = reduction("ReduceMin", "f16[40,300]", "1", "f16[40]");
  const Result<Lowered> lowered = lower_first(graph);
  ASSERT_TRUE(lowered.ok()) << lowered.status().message();
  const Result<Plan> plan = make_plan(lowered.value().spec, avx2(1));
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  KernelCache cache(1 << 20);
  std::thread getter([&] {
    for (int round = 0; round < 20; ++round) EXPECT_TRUE(cache.get(plan.value().kernels.at(0)).ok());
  });
  for (int round = 0; round < 1000; ++round) EXPECT_LE(cache.size(), 1U);
  getter.join();
  EXPECT_EQ(cache.size(), 1U);
}

TEST(Explain, ShowsRegionsKernelsAndBytes) {
  const target::Target target = avx2(2);
  const Result<Compiled> compiled = compile(reduction("ReduceMax", "f32[4096,1024]", "1", "f32[4096]"), target);
  ASSERT_TRUE(compiled.ok());
  const std::string text = explain(compiled.value(), target);
  for (const char* part : {"target avx2, 2 cores", "region 0: 1 kernel", "'r' (ReduceMax)",
                           "bytes moved 16793600, least possible 16793600", "schedule avx2 rows level=1 unroll=2",
                           "space kept 4096, reduced 1024"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

}  // namespace
}  // namespace tenfold::compiler
