// SPDX-License-Identifier: Apache-2.0
//
// Bodies of one pass as plain reductions and a kernel of rows: which are, and as what. That the results are right is
// numeric_fused's to say.
#include "compile/plan/plain_reductions.hpp"

#include <gtest/gtest.h>

#include <string>

#include "compile/plan/plan.hpp"
#include "tests/unit/compile/cuts.hpp"

namespace tenfold::compiler {
namespace {

/// Rows of x0; y0, or both outputs, of one element each.
std::string rows(std::int64_t kept, std::int64_t reduced, const std::string& dtype, const std::string& body) {
  const std::string width = std::to_string(reduced);
  const std::string second = body.find("y1") == std::string::npos ? "" : "out y1 " + dtype + " [1, 0]\n";
  return "kernel\nspace kept " + std::to_string(kept) + ", reduced " + width + "\nin x0 " + dtype + " [" + width +
         ", 1]\nout y0 " + dtype + " [1, 0]\n" + second + body;
}

const std::string kHalfOfMean =
    "%0 = load x0\n%1 = reduce sum %0\n%2 = count\n%3 = div %1 %2\n%4 = constant f32 0.5\n%5 = mul %3 %4\n"
    "store y0 %5\n";
const std::string kMeanAndMax =
    "%0 = load x0\n%1 = reduce sum %0\n%2 = count\n%3 = div %1 %2\n%4 = reduce max %0\nstore y0 %3\nstore y1 %4\n";
const std::string kMaxAndMin = "%0 = load x0\n%1 = reduce max %0\n%2 = reduce min %0\nstore y0 %1\nstore y1 %2\n";

/// The mean of 16-bit floats is handed on as f32, so that it is rounded where the body says so.
TEST(PlainReductions, WhatFollowsIsAKernelOfRows) {
  const KernelCut cut = cut_into_plain(spec_of(
      "kernel\nspace kept 100, reduced 49\nin x0 bf16 [49, 1]\nin x1 f32 [1, 0]\nout y0 f32 [2, 0]\n%0 = load x0\n"
      "%1 = square %0\n%2 = reduce sum %1\n%3 = count\n%4 = div %2 %3\n%5 = sqrt %4\n%6 = cast bf16 %5\n"
      "%7 = cast f32 %6\n%8 = load x1\n%9 = mul %7 %8\nstore y0 %9\n"));
  ASSERT_EQ(cut.kernels.size(), 2U);
  EXPECT_EQ(kernel::print(cut.kernels[0].spec),
            "kernel\nspace kept 100, reduced 49\nin x0 bf16 [49, 1]\nout y0 f32 [1, 0]\n%0 = load x0\n%1 = square %0\n"
            "%2 = reduce sum %1\n%3 = count\n%4 = div %2 %3\n%5 = sqrt %4\nstore y0 %5\n");
  EXPECT_EQ(cut.kernels[0].reads, Places{operand(0)});
  EXPECT_EQ(cut.kernels[0].writes, Places{between(0)});
  EXPECT_EQ(cut.kernels[0].count, 49);
  EXPECT_EQ(kernel::print(cut.kernels[1].spec),
            "kernel\nspace kept 100\nin x0 f32 [1]\nin x1 f32 [1]\nout y0 f32 [2]\n%0 = load x0 total\n"
            "%1 = cast bf16 %0\n%2 = cast f32 %1\n%3 = load x1\n%4 = mul %2 %3\nstore y0 %4\n");
  EXPECT_EQ(cut.kernels[1].reads, (Places{between(0), operand(1)}));
  EXPECT_EQ(cut.kernels[1].writes, Places{operand(0)});
  EXPECT_EQ(cut.kernels[1].count, 49);
  EXPECT_EQ(cut.between, std::vector<std::int64_t>{400});
}

TEST(PlainReductions, WhatIsOnlyStoredGoesToItsOutput) {
  const KernelCut cut = cut_into_plain(spec_of(rows(1000, 49, "f32", kMeanAndMax)));
  ASSERT_EQ(cut.kernels.size(), 2U);
  EXPECT_EQ(cut.kernels[0].writes, Places{operand(0)});
  EXPECT_EQ(cut.kernels[1].writes, Places{operand(1)});
  EXPECT_TRUE(cut.between.empty());
}

/// A variance as the mean of squares less the square of the mean: both means are handed on.
TEST(PlainReductions, SeveralResultsMeetInTheKernelOfRows) {
  const KernelCut cut = cut_into_plain(
      spec_of(rows(1000, 16, "f32",
                   "%0 = load x0\n%1 = reduce sum %0\n%2 = count\n%3 = div %1 %2\n%4 = square %0\n%5 = reduce sum %4\n"
                   "%6 = div %5 %2\n%7 = square %3\n%8 = sub %6 %7\nstore y0 %8\n")));
  ASSERT_EQ(cut.kernels.size(), 3U);
  EXPECT_EQ(kernel::print(cut.kernels[2].spec),
            "kernel\nspace kept 1000\nin x0 f32 [1]\nin x1 f32 [1]\nout y0 f32 [1]\n%0 = load x0 total\n"
            "%1 = load x1 total\n%2 = square %1\n%3 = sub %0 %2\nstore y0 %3\n");
  EXPECT_EQ(cut.kernels[2].reads, (Places{between(1), between(0)}));
}

/// Extremes need no widening, but what follows them is of the dtype that the body has.
TEST(PlainReductions, ExtremesOfWidenedElementsGoOnWidened) {
  const KernelCut cut = cut_into_plain(spec_of(
      "kernel\nspace kept 100, reduced 49\nin x0 bf16 [49, 1]\nout y0 f32 [1, 0]\n%0 = load x0\n%1 = cast f32 %0\n"
      "%2 = reduce max %1\n%3 = tanh %2\nstore y0 %3\n"));
  ASSERT_EQ(cut.kernels.size(), 2U);
  EXPECT_EQ(kernel::print(cut.kernels[0].spec),
            "kernel\nspace kept 100, reduced 49\nin x0 bf16 [49, 1]\nout y0 bf16 [1, 0]\n%0 = load x0\n"
            "%1 = reduce max %0\nstore y0 %1\n");
  EXPECT_EQ(kernel::print(cut.kernels[1].spec),
            "kernel\nspace kept 100\nin x0 bf16 [1]\nout y0 f32 [1]\n%0 = load x0 total\n%1 = cast f32 %0\n"
            "%2 = tanh %1\nstore y0 %2\n");
}

TEST(PlainReductions, OtherBodiesAreNotCut) {
  for (const std::string body :
       {// the sum rounded, and its mean
        "%0 = load x0\n%1 = reduce sum %0\n%2 = count\n%3 = div %1 %2\nstore y0 %1\nstore y1 %3\n",
        // a second pass
        "%0 = load x0\n%1 = reduce sum %0\n%2 = sub %0 %1\n%3 = reduce max %2\nstore y0 %3\n",
        // elements that are computed
        "%0 = load x0\n%1 = exp %0\n%2 = reduce sum %1\n%3 = sqrt %2\n%4 = neg %3\nstore y0 %4\n",
        // min of what is no plain element
        "%0 = load x0\n%1 = abs %0\n%2 = reduce min %1\n%3 = neg %2\nstore y0 %3\n",
        // an index
        "%0 = load x0\n%1 = reduce argmax %0\n%2 = reduce sum %0\nstore y0 %2\n"})
    EXPECT_TRUE(cut_into_plain(spec_of(rows(1000, 16, "f32", body))).kernels.empty()) << body;
  EXPECT_TRUE(cut_into_plain(spec_of("kernel\nspace kept 1000, reduced 16\nin x0 f32 [16, 1]\nout y0 f32 [16, 1]\n"
                                     "%0 = load x0\n%1 = reduce sum %0\n%2 = sub %0 %1\nstore y0 %2\n"))
                  .kernels.empty())
      << "elements are stored";
}

struct Shape {
  std::int64_t kept, reduced;
  const char* dtype;
  std::size_t kernels;
};

void expect_kernels(const std::string& body, const std::vector<Shape>& shapes) {
  for (const Shape& shape : shapes) {
    const auto [kept, reduced, dtype, kernels] = shape;
    const kernel::KernelSpec spec = spec_of(rows(kept, reduced, dtype, body));
    EXPECT_EQ(cut_into_plain(spec).kernels.size(), kernels) << kept << "x" << reduced << " " << dtype;
  }
}

TEST(PlainReductions, OneIsCutUnlessItIsSmall) {
  expect_kernels(kHalfOfMean, {{16, 16, "f32", 2},
                               {16, 15, "f32", 0},
                               {8, 255, "f32", 0},
                               {8, 256, "f32", 2},
                               {1, 1 << 20, "f32", 2},
                               {1 << 20, 49, "f32", 2},
                               {4096, 1024, "f32", 0},
                               {4096, 1024, "bf16", 2}});
}

TEST(PlainReductions, SeveralAreCutWhereRowsAreShortOrElementsNarrow) {
  expect_kernels(kMeanAndMax, {{8192, 49, "f32", 2},
                               {4096, 128, "f32", 2},
                               {4096, 129, "f32", 0},
                               {512, 784, "f32", 0},
                               {512, 784, "bf16", 2},
                               {8192, 1024, "bf16", 0}});
  expect_kernels(kMaxAndMin, {{512, 512, "f16", 2},  // packed
                              {24, 512, "f16", 2},   // rows
                              {24, 511, "f16", 0},
                              {8192, 1024, "u8", 2},
                              {8193, 1024, "u8", 0}});
}

/// One kernel would turn them round, which takes longer than reading what is near again.
TEST(PlainReductions, ThoseOfCellsAreCutWhereTheyAreNear) {
  const auto kernels = [](int rows, const std::string& dtype, int reductions) {
    std::string text = "kernel\nspace kept " + std::to_string(rows) + ", reduced 20, kept 4\nin x0 " + dtype +
                       " [80, 4, 1]\n",
                stores;
    for (int i = 0; i < reductions; ++i) text += "out y" + std::to_string(i) + " " + dtype + " [4, 0, 1]\n";
    text += "%0 = load x0\n";
    constexpr const char* kMonoids[] = {"max", "min", "sum", "prod"};
    for (int i = 0; i < reductions; ++i) {
      text += "%" + std::to_string(i + 1) + " = reduce " + kMonoids[i] + " %0\n";
      stores += "store y" + std::to_string(i) + " %" + std::to_string(i + 1) + "\n";
    }
    return cut_into_plain(spec_of(text + stores)).kernels.size();
  };
  EXPECT_EQ(kernels(26214, "f32", 2), 2U);
  EXPECT_EQ(kernels(26215, "f32", 2), 0U) << "from memory";
  EXPECT_EQ(kernels(3276, "f32", 3), 3U);
  EXPECT_EQ(kernels(3277, "f32", 3), 0U) << "not so near";
  EXPECT_EQ(kernels(3277, "bf16", 3), 3U);
  EXPECT_EQ(kernels(3276, "f32", 4), 0U) << "too many";
}

/// The kernels of the plan know the places of the whole: pieces of a split reduction lie in a buffer of their own.
TEST(PlainReductions, TheirPlansArePartsOfThePlan) {
  target::Target target;
  target.isa = target.native = target::Isa::avx2;
  const Result<Plan> plan = make_plan(spec_of(rows(1, 1 << 20, "f32", kHalfOfMean)), target);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const std::vector<PlannedKernel>& kernels = plan.value().kernels;
  ASSERT_EQ(kernels.size(), 3U);
  EXPECT_EQ(plan.value().between, (std::vector<std::int64_t>{4, 8 * 8}));
  EXPECT_EQ(kernels[0].reads, Places{operand(0)});
  EXPECT_EQ(kernels[0].writes, Places{between(1)});
  EXPECT_EQ(kernels[0].partial_stride_bytes, 8);
  EXPECT_EQ(kernels[1].reads, Places{between(1)});
  EXPECT_EQ(kernels[1].writes, Places{between(0)});
  EXPECT_EQ(kernels[1].partial_stride_bytes, 0);
  EXPECT_EQ(kernels[2].reads, Places{between(0)});
  EXPECT_EQ(kernels[2].writes, Places{operand(0)});
  EXPECT_EQ(kernels[2].schedule.nest, schedule::Nest::flat);
  for (const PlannedKernel& kernel : kernels) EXPECT_EQ(kernel.count, 1 << 20);
}

TEST(PlainReductions, ExtremesOfWhatIsStoredAreSlowInStages) {
  const auto is_slow = [](const std::string& of, const std::string& body) {
    return has_slow_extremes(spec_of("kernel\nspace kept 100, reduced 490\nin x0 " + of + " [490, 1]\nout y0 " + of +
                                     " [490, 1]\nout y1 " + of + " [1, 0]\n%0 = load x0\n%1 = square %0\n" + body));
  };
  const std::string most = "%2 = cast bf16 %1\n%3 = reduce max %2\nstore y0 %1\nstore y1 %3\n";
  EXPECT_TRUE(is_slow("bf16", most));
  EXPECT_FALSE(is_slow("bf16", "%2 = cast bf16 %1\n%3 = reduce sum %2\nstore y0 %1\nstore y1 %3\n")) << "a sum";
  EXPECT_FALSE(is_slow("bf16", "%2 = cast bf16 %1\n%3 = reduce max %2\nstore y0 %0\nstore y1 %3\n")) << "not stored";
  EXPECT_FALSE(is_slow("bf16", "%2 = cast bf16 %1\n%3 = reduce max %2\n%4 = sub %2 %3\nstore y0 %4\nstore y1 %3\n"))
      << "two passes";
  EXPECT_FALSE(is_slow("f32", "%2 = reduce max %1\nstore y0 %1\nstore y1 %2\n")) << "not narrow";
}

}  // namespace
}  // namespace tenfold::compiler
