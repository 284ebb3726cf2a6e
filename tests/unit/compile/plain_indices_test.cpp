// SPDX-License-Identifier: Apache-2.0
//
// Which arg-reductions are kernels of their own, and what is left of the body then. That the results are right is
// numeric_index's and numeric_fused's to say.
#include "compile/plan/plain_indices.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/compile/cuts.hpp"

namespace tenfold::compiler {
namespace {

std::string rows(std::int64_t kept, std::int64_t reduced, const std::string& dtype, const std::string& body) {
  const std::string width = std::to_string(reduced);
  return "kernel\nspace kept " + std::to_string(kept) + ", reduced " + width + "\nin x0 " + dtype + " [" + width +
         ", 1]\nin x1 s64 [1, 0]\n" + body;
}

KernelCut cut(const std::string& text) { return cut_off_indices(spec_of(text), {}); }

const std::string kIsExpected =
    "out y0 boolean [1, 0]\n%0 = load x0\n%1 = reduce argmax last %0\n%2 = load x1\n%3 = equal %1 %2\nstore y0 %3\n";
const std::string kIndexAndSum =
    "out y0 s64 [1, 0]\nout y1 f32 [1, 0]\n%0 = load x0\n%1 = reduce argmax %0\n%2 = cast f32 %0\n"
    "%3 = reduce sum %2\nstore y0 %1\nstore y1 %3\n";

TEST(PlainIndices, WhatFollowsIsAKernelOfRows) {
  const KernelCut made = cut(rows(100, 49, "f32", kIsExpected));
  ASSERT_EQ(made.kernels.size(), 2U);
  EXPECT_EQ(kernel::print(made.kernels[0].spec),
            "kernel\nspace kept 100, reduced 49\nin x0 f32 [49, 1]\nout y0 s64 [1, 0]\n%0 = load x0\n"
            "%1 = reduce argmax last %0\nstore y0 %1\n");
  EXPECT_EQ(made.kernels[0].reads, Places{operand(0)});
  EXPECT_EQ(made.kernels[0].writes, Places{between(0)});
  EXPECT_EQ(kernel::print(made.kernels[1].spec),
            "kernel\nspace kept 100\nin x0 s64 [1]\nin x1 s64 [1]\nout y0 boolean [1]\n%0 = load x0 total\n"
            "%1 = load x1\n%2 = equal %0 %1\nstore y0 %2\n");
  EXPECT_EQ(made.kernels[1].reads, (Places{between(0), operand(1)}));
  EXPECT_EQ(made.between, std::vector<std::int64_t>{800});
}

TEST(PlainIndices, WhatIsOnlyStoredGoesToItsOutput) {
  const KernelCut made = cut(rows(100, 49, "bf16", kIndexAndSum));
  ASSERT_EQ(made.kernels.size(), 2U);
  EXPECT_EQ(made.kernels[0].writes, Places{operand(0)});
  EXPECT_EQ(kernel::print(made.kernels[1].spec),
            "kernel\nspace kept 100, reduced 49\nin x0 bf16 [49, 1]\nout y0 f32 [1, 0]\n%0 = load x0\n"
            "%1 = cast f32 %0\n%2 = reduce sum %1\nstore y0 %2\n");
  EXPECT_EQ(made.kernels[1].writes, Places{operand(1)});
  EXPECT_TRUE(made.between.empty());
}

/// Narrow elements, where the caches hold them; two indices; not few long rows, which are cut for threads where they
/// are alone.
TEST(PlainIndices, AreCutOffWhereThatPays) {
  const auto cuts = [](const std::string& text) { return !cut(text).kernels.empty(); };
  const std::string two =
      "out y0 s64 [1, 0]\nout y1 s64 [1, 0]\n%0 = load x0\n%1 = reduce argmax %0\n%2 = reduce argmin %0\n"
      "store y0 %1\nstore y1 %2\n";
  EXPECT_TRUE(cuts(rows(100, 49, "bf16", kIndexAndSum)));
  EXPECT_FALSE(cuts(rows(100, 49, "f32", kIndexAndSum)));
  EXPECT_FALSE(cuts(rows(100'000, 490, "bf16", kIndexAndSum))) << "would be read twice from memory";
  EXPECT_TRUE(cuts(rows(100, 49, "f32", two)));
  EXPECT_TRUE(cuts(rows(100'000, 490, "f32", kIsExpected)));
  EXPECT_TRUE(cuts(rows(4, 490, "f32", kIsExpected)));
  EXPECT_FALSE(cuts(rows(4, 300'000, "f32", kIsExpected))) << "threads share it alone";
}

/// One kernel gives an index and its extreme. Two are faster of narrow elements, but for blocks that are turned, and of
/// packed rows.
TEST(PlainIndices, AreCutOffTheirExtremes) {
  const auto cuts = [](const std::string& space, const std::string& in, const std::string& kept,
                       const std::string& dtype) {
    return !cut("kernel\nspace " + space + "\nin x0 " + dtype + " " + in + "\nout y0 s64 " + kept + "\nout y1 " +
                dtype + " " + kept +
                "\n%0 = load x0\n%1 = reduce argmax %0\n%2 = reduce max %0\nstore y0 %1\nstore y1 %2\n")
                .kernels.empty();
  };
  EXPECT_TRUE(cuts("kept 100, reduced 490", "[490, 1]", "[1, 0]", "bf16"));
  EXPECT_FALSE(cuts("kept 100000, reduced 490", "[490, 1]", "[1, 0]", "bf16"));
  EXPECT_FALSE(cuts("kept 4, reduced 490", "[490, 1]", "[1, 0]", "bf16"));
  EXPECT_FALSE(cuts("kept 2000, reduced 20, kept 4", "[80, 4, 1]", "[4, 0, 1]", "bf16")) << "turned";
  EXPECT_TRUE(cuts("kept 1000, reduced 49", "[49, 1]", "[1, 0]", "f32"));
  EXPECT_FALSE(cuts("kept 1000, reduced 200", "[200, 1]", "[1, 0]", "f32"));
  EXPECT_FALSE(cuts("kept 1000, reduced 49", "[49, 1]", "[1, 0]", "f64"));
  EXPECT_TRUE(cut("kernel\nspace kept 100, reduced 490\nin x0 bf16 [490, 1]\nout y0 s64 [1, 0]\n%0 = load x0\n"
                  "%1 = reduce argmax %0\nstore y0 %1\n")
                  .kernels.empty())
      << "alone";
}

TEST(PlainIndices, OfComputedElementsAreNot) {
  EXPECT_TRUE(
      cut(rows(100, 49, "bf16", "out y0 s64 [1, 0]\n%0 = load x0\n%1 = neg %0\n%2 = reduce argmax %1\nstore y0 %2\n"))
          .kernels.empty());
  EXPECT_TRUE(cut(rows(100, 49, "bf16", "out y0 bf16 [1, 0]\n%0 = load x0\n%1 = reduce max %0\nstore y0 %1\n"))
                  .kernels.empty());
}

/// What is stored for each element needs the index, and nothing is reduced beside it: one kernel computes both.
TEST(PlainIndices, ElementsAreNotStoredApart) {
  EXPECT_TRUE(cut("kernel\nspace kept 100, reduced 49\nin x0 f32 [49, 1]\nout y0 f32 [49, 1]\n%0 = load x0\n"
                  "%1 = reduce argmax %0\n%2 = cast f32 %1\n%3 = add %0 %2\nstore y0 %3\n")
                  .kernels.empty());
}

TEST(PlainIndices, ThreadsShareFewRowsAndFewColumnsAlone) {
  const auto shared = [](const std::string& space, const std::string& in, const std::string& out,
                         const std::string& of = "%0") {
    return is_shared_alone(spec_of("kernel\nspace " + space + "\nin x0 f32 " + in + "\nout y0 s64 " + out +
                                   "\n%0 = load x0\n%1 = neg %0\n%2 = reduce argmax " + of +
                                   "\n%3 = add %2 %2\nstore y0 %3\n"));
  };
  EXPECT_TRUE(shared("kept 7, reduced 100000", "[100000, 1]", "[1, 0]"));
  EXPECT_FALSE(shared("kept 8, reduced 100000", "[100000, 1]", "[1, 0]"));
  EXPECT_FALSE(shared("kept 7, reduced 1000", "[1000, 1]", "[1, 0]"));
  EXPECT_TRUE(shared("reduced 131072, kept 8", "[8, 1]", "[0, 1]"));
  EXPECT_FALSE(shared("reduced 1000, kept 1024", "[1024, 1]", "[0, 1]"));
  EXPECT_FALSE(shared("reduced 131072, kept 8", "[8, 1]", "[0, 1]", "%1")) << "of computed elements";
}

TEST(PlainIndices, OfComputedElementsInNarrowColumnsAreSlow) {
  const auto is_slow = [](const std::string& kept) {
    return has_slow_index(spec_of("kernel\nspace reduced 10000, kept " + kept + "\nin x0 f32 [" + kept +
                                  ", 1]\nout y0 s64 [0, 1]\n%0 = load x0\n%1 = neg %0\n%2 = reduce argmax %1\n"
                                  "store y0 %2\n"));
  };
  EXPECT_TRUE(is_slow("8"));
  EXPECT_FALSE(is_slow("16"));
}

TEST(PlainIndices, NarrowComputedElementsAreFasterWritten) {
  const auto is_slow = [](const std::string& space, const std::string& dtype) {
    return has_slow_index(spec_of("kernel\n" + space + "%0 = load x0\n%1 = neg %0\n%2 = cast " + dtype +
                                  " %1\n%3 = reduce argmax %2\nstore y0 %3\n"));
  };
  const std::string of_rows = "space kept 100, reduced 490\nin x0 bf16 [490, 1]\nout y0 s64 [1, 0]\n",
                    of_columns = "space reduced 100, kept 490\nin x0 bf16 [490, 1]\nout y0 s64 [0, 1]\n",
                    from_memory = "space kept 100000, reduced 490\nin x0 bf16 [490, 1]\nout y0 s64 [1, 0]\n";
  EXPECT_TRUE(is_slow(of_rows, "bf16"));
  EXPECT_FALSE(is_slow(of_rows, "f32"));
  EXPECT_FALSE(is_slow(of_columns, "bf16"));
  EXPECT_FALSE(is_slow(from_memory, "bf16"));
}

}  // namespace
}  // namespace tenfold::compiler
