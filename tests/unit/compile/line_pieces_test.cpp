// SPDX-License-Identifier: Apache-2.0
//
// Few long lines in pieces: which are cut, into what, and what lies between. That the results are right is
// numeric_ordered's to say.
#include "compile/plan/line_pieces.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/compile/cuts.hpp"

namespace tenfold::compiler {
namespace {

std::string sums(std::int64_t lines, std::int64_t elements, const std::string& how = "") {
  const std::string n = std::to_string(elements), strides = " f32 [" + n + ", 1]\n";
  return "kernel\nspace kept " + std::to_string(lines) + ", reduced " + n + "\nin x0" + strides + "out y0" + strides +
         "%0 = load x0\n%1 = cast f64 %0\n%2 = scan " + how + "%1\n%3 = cast f32 %2\nstore y0 %3\n";
}

std::size_t kernels_of(const std::string& text) {
  const Result<KernelCut> cut = cut_lines(spec_of(text));
  EXPECT_TRUE(cut.ok()) << cut.status().message();
  return cut.value().kernels.size();
}

TEST(LinePieces, AreOfFewLongLines) {
  EXPECT_EQ(kernels_of(sums(3, 1024, "reverse ")), 3U);
  EXPECT_EQ(kernels_of(sums(8, 512, "reverse ")), 3U);
  EXPECT_EQ(kernels_of(sums(9, 512, "reverse ")), 0U) << "lanes enough";
  EXPECT_EQ(kernels_of(sums(3, 511, "reverse ")), 0U) << "short";
  EXPECT_EQ(kernels_of(sums(3, 1021, "reverse ")), 0U) << "a prime";
  EXPECT_EQ(kernels_of("kernel\nspace kept 3, reduced 1024\nin x0 f32 [1024, 1]\nout y0 f32 [1, 0]\n%0 = load x0\n"
                       "%1 = reduce max %0\nstore y0 %1\n"),
            0U);
}

/// Where lanes run along a line, pieces are for threads.
TEST(LinePieces, OfLinesInLanesAreLong) {
  EXPECT_EQ(kernels_of(sums(3, 1024)), 0U);
  EXPECT_EQ(kernels_of(sums(3, 16384)), 3U) << "16 of 1024";
  EXPECT_EQ(kernels_of(sums(3, 16400)), 3U) << "10 of 1640";
}

TEST(LinePieces, WhatPiecesLeaveAreCandidates) {
  const Result<KernelCut> cut =
      cut_lines(spec_of("kernel\nspace kept 3, reduced 1021\nin x0 f32 [1021, 1]\nout y0 s64 [1, 0]\n%0 = load x0\n"
                        "%1 = rank argmin 0 %0\nstore y0 %1\n"));
  ASSERT_TRUE(cut.ok());
  const std::vector<CutKernel>& kernels = cut.value().kernels;
  // 16 pieces of 63, and 13 elements.
  ASSERT_EQ(kernels.size(), 5U);
  EXPECT_EQ(kernels[2].reads, Places{operand(0, 4 * 1008)});
  EXPECT_EQ(kernels[2].writes, Places{between(1, 4 * 16)});
  EXPECT_EQ(kernels[3].writes, Places{between(2, 4 * 16)});
  EXPECT_EQ(kernels[4].spec.levels, (std::vector<kernel::Level>{{3, false}, {29, true}}));
}

/// One element has no order that could be scanned.
TEST(LinePieces, MayLeaveOneElement) {
  const Result<KernelCut> cut =
      cut_lines(spec_of("kernel\nspace kept 3, reduced 577\nin x0 f32 [577, 1]\nout y0 f32 [1, 0]\n%0 = load x0\n"
                        "%1 = rank max 0 %0\nstore y0 %1\n"));
  ASSERT_TRUE(cut.ok()) << cut.status().message();
  ASSERT_EQ(cut.value().kernels.size(), 5U);
  for (const CutKernel& kernel : cut.value().kernels)
    EXPECT_TRUE(kernel::check(kernel.spec).ok()) << kernel::print(kernel.spec);
}

TEST(LinePieces, SumsMeetInDouble) {
  const Result<KernelCut> cut = cut_lines(spec_of(sums(3, 1024, "exclusive reverse ")));
  ASSERT_TRUE(cut.ok());
  const std::vector<CutKernel>& kernels = cut.value().kernels;
  ASSERT_EQ(kernels.size(), 3U);
  EXPECT_EQ(cut.value().between, (std::vector<std::int64_t>{3 * 64 * 8, 3 * 64 * 8}));
  EXPECT_EQ(kernel::print(kernels[0].spec),
            "kernel\nspace kept 192, reduced 16\nin x0 f32 [16, 1]\nout y0 f64 [1, 0]\n%0 = load x0\n%1 = cast f64 %0\n"
            "%2 = reduce sum %1\nstore y0 %2\n");
  EXPECT_EQ(kernel::print(kernels[1].spec),
            "kernel\nspace kept 3, reduced 64\nin x0 f64 [64, 1]\nout y0 f64 [64, 1]\n%0 = load x0\n"
            "%1 = scan exclusive reverse %0\nstore y0 %1\n");
  EXPECT_EQ(
      kernel::print(kernels[2].spec),
      "kernel\nspace kept 192, reduced 16\nin x0 f32 [16, 1]\nin x1 f64 [1, 0]\nout y0 f32 [16, 1]\n%0 = load x0\n"
      "%1 = cast f64 %0\n%2 = scan exclusive reverse %1\n%3 = load x1\n%4 = add %2 %3\n%5 = cast f32 %4\n"
      "store y0 %5\n");
  EXPECT_EQ(kernels[2].reads, (Places{operand(0), between(1)}));
}

TEST(LinePieces, TheFirstOfAllAreAmongThoseOfPieces) {
  const Result<KernelCut> cut = cut_lines(
      spec_of("kernel\nspace kept 2, reduced 600\nin x0 bf16 [600, 1]\nout y0 bf16 [2, 0]\nout y1 bf16 [2, 0]\nout y2 "
              "s64 [2, 0]\n"
              "out y3 s64 [2, 0]\n%0 = load x0\n%1 = rank max 0 %0\n%2 = rank max 1 %0\n%3 = rank argmax 0 %0\n"
              "%4 = rank argmax 1 %0\nstore y0 %1\nstore y1 %2\nstore y2 %3\nstore y3 %4\n"));
  ASSERT_TRUE(cut.ok());
  const std::vector<CutKernel>& kernels = cut.value().kernels;
  ASSERT_EQ(kernels.size(), 3U);
  // 600 has no divisor that fills vectors; 30 pieces are the most that have 16 elements and more.
  EXPECT_EQ(cut.value().between, (std::vector<std::int64_t>{30 * 4, 2 * 30 * 2 * 2, 2 * 30 * 2 * 4}));
  EXPECT_EQ(kernels[0].spec.levels, (std::vector<kernel::Level>{{1, false}, {30, true}}));
  EXPECT_EQ(kernels[1].writes, (Places{between(1), between(2), between(1, 2), between(2, 4)}));
  EXPECT_EQ(kernels[2].reads, (Places{between(1), between(2)}));
  EXPECT_EQ(kernels[2].writes, (Places{operand(0), operand(1), operand(2), operand(3)}));
  EXPECT_EQ(kernels[2].spec.levels, (std::vector<kernel::Level>{{2, false}, {60, true}}));
}

}  // namespace
}  // namespace tenfold::compiler
