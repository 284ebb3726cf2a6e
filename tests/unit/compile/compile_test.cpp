// SPDX-License-Identifier: Apache-2.0
//
// The back half of the compiler: lowering, plans, the kernel cache, what falls back and why.
#include "compile/compile.hpp"

#include <gtest/gtest.h>

#include "compile/lower.hpp"
#include "compile/plan.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"

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

std::string lowered(const graph::Graph& graph) {
  const Result<kernel::KernelSpec> spec = lower(graph, graph.ops[0]);
  return spec.ok() ? kernel::print(spec.value()) : spec.status().message();
}

target::Target avx2(int cores) {
  target::Target target;
  target.isa = target::Isa::avx2;
  target.native = target::Isa::avx2;
  target.cores = cores;
  return target;
}

TEST(Lower, MeanOfTrailingAxes) {
  EXPECT_EQ(lowered(reduction("ReduceMean", "f32[4,8,16]", "1, -1", "f32[4]")),
            "kernel\nspace kept 4, reduced 128\nin x0 f32 [128, 1]\nout y0 f32 [1, 0]\n%0 = load x0\n"
            "%1 = reduce sum %0\n%2 = count\n%3 = div %1 %2\nstore y0 %3\n");
}

TEST(Lower, L2OfAMiddleAxisInBf16) {
  EXPECT_EQ(lowered(reduction("ReduceL2", "bf16[4,8,16]", "1", "bf16[4,16]")),
            "kernel\nspace kept 4, reduced 8, kept 16\nin x0 bf16 [128, 16, 1]\nout y0 bf16 [16, 0, 1]\n%0 = load x0\n"
            "%1 = square %0\n%2 = reduce sum %1\n%3 = sqrt %2\nstore y0 %3\n");
}

TEST(Lower, NoAxesIsACopyWhateverTheReduction) {
  EXPECT_EQ(lowered(reduction("ReduceL1", "f32[4,8]", "", "f32[4,8]")),
            "kernel\nspace kept 32\nin x0 f32 [1]\nout y0 f32 [1]\n%0 = load x0\n%1 = reduce max %0\nstore y0 %1\n");
}

TEST(Plan, ASplitSumHasAPartialAndACombiningKernel) {
  const graph::Graph graph = reduction("ReduceMean", "f32[2097152]", "0", "f32[]");
  const Result<kernel::KernelSpec> spec = lower(graph, graph.ops[0]);
  ASSERT_TRUE(spec.ok());
  const Result<Plan> plan = make_plan(spec.value(), avx2(2));
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_EQ(plan.value().kernels.size(), 2U);
  EXPECT_EQ(plan.value().kernels[0].schedule.split.grain, 262144);
  EXPECT_EQ(kernel::print(plan.value().kernels[0].spec),
            "kernel\nspace reduced 2097152\nin x0 f32 [1]\nout y0 f64 [0]\n%0 = load x0\n%1 = reduce sum %0\n"
            "store y0 %1\n");
  EXPECT_EQ(kernel::print(plan.value().kernels[1].spec),
            "kernel\nspace reduced 8, kept 1\nin x0 f64 [1, 1]\nout y0 f32 [0, 1]\n%0 = load x0\n"
            "%1 = reduce sum %0\n%2 = count\n%3 = div %1 %2\nstore y0 %3\n");
  EXPECT_EQ(plan.value().partial_bytes, 8 * 8);
}

TEST(Plan, ASplitMaxKeepsItsOwnType) {
  const graph::Graph graph = reduction("ReduceMax", "bf16[65536,32]", "0", "bf16[32]");
  const Result<kernel::KernelSpec> spec = lower(graph, graph.ops[0]);
  ASSERT_TRUE(spec.ok());
  const Result<Plan> plan = make_plan(spec.value(), avx2(2));
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan.value().kernels.size(), 2U);
  EXPECT_EQ(plan.value().kernels[0].spec.outputs[0].dtype, DType::bf16);
  EXPECT_EQ(plan.value().partial_stride_bytes, 64);
}

TEST(Plan, DoesNotDependOnCoresInWhatDecidesBits) {
  const graph::Graph graph = reduction("ReduceSum", "f32[64,128,1024]", "0, 2", "f32[128]");
  const Result<kernel::KernelSpec> spec = lower(graph, graph.ops[0]);
  ASSERT_TRUE(spec.ok());
  const Result<Plan> one = make_plan(spec.value(), avx2(1));
  const Result<Plan> many = make_plan(spec.value(), avx2(48));
  ASSERT_TRUE(one.ok() && many.ok());
  ASSERT_EQ(one.value().kernels.size(), many.value().kernels.size());
  for (std::size_t i = 0; i < one.value().kernels.size(); ++i) {
    schedule::Schedule a = one.value().kernels[i].schedule;
    schedule::Schedule b = many.value().kernels[i].schedule;
    a.tile = b.tile = {};
    EXPECT_EQ(a, b);
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
  EXPECT_EQ(compiled.value().regions[0].kind, RegionReport::Kind::reference);
  EXPECT_NE(compiled.value().regions[0].reason.find("kernels of this version run reductions"), std::string::npos);
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
    const Result<Compiled> first = compile(reduction("ReduceMin", "f16[40,80]", "1", "f16[40]"), avx2(1));
    const Result<Compiled> other_shape = compile(reduction("ReduceMin", "f16[50,90]", "1", "f16[50]"), avx2(1));
    ASSERT_TRUE(first.ok() && other_shape.ok());
    EXPECT_EQ(kernel_cache_stats().kernels, before + 1);
    EXPECT_EQ(first.value().program.steps[0].kernel->code, other_shape.value().program.steps[0].kernel->code);
  }
  EXPECT_EQ(kernel_cache_stats().kernels, before);
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
