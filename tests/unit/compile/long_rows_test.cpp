// SPDX-License-Identifier: Apache-2.0
//
// Long rows in pieces: which bodies are cut, into what, and what lies between. That the results are right is
// numeric_fused's to say, which cuts short rows of random graphs, and numeric_errors'.
#include "compile/plan/long_rows.hpp"

#include <gtest/gtest.h>

#include <string>

#include "compile/plan/plan.hpp"
#include "tests/unit/compile/cuts.hpp"

namespace tenfold::compiler {
namespace {

std::string softmax(std::int64_t rows, std::int64_t elements) {
  const std::string n = std::to_string(elements);
  return "kernel\nspace kept " + std::to_string(rows) + ", reduced " + n + "\nin x0 f32 [" + n + ", 1]\nout y0 f32 [" +
         n +
         ", 1]\n%0 = load x0\n%1 = reduce max %0\n%2 = sub %0 %1\n%3 = exp %2\n%4 = reduce sum %3\n%5 = div %3 %4\n"
         "store y0 %5\n";
}

TEST(LongRows, SoftmaxReadsItsInputTwice) {
  const Result<KernelCut> made = cut_long_rows(spec_of(softmax(3, 100)), {.piece = 32});
  ASSERT_TRUE(made.ok()) << made.status().message();
  const std::vector<CutKernel>& kernels = made.value().kernels;
  // Pieces of 32 or 48 would leave 4 elements.
  ASSERT_EQ(kernels.size(), 5U);
  EXPECT_EQ(kernel::print(kernels[0].spec),
            "kernel\nspace kept 3, reduced 64\nin x0 f32 [100, 1]\nout y0 f32 [2, 0]\nout y1 f64 [2, 0]\n%0 = load x0\n"
            "%1 = reduce max %0\n%2 = sub %0 %1\n%3 = exp %2\n%4 = reduce sum %3\n%5 = constant f32 0\n%6 = mul %4 %5\n"
            "%7 = is_infinite %1\n%8 = add %1 %6\n%9 = select %7 %1 %8\nstore y0 %9\nstore y1 %4\n");
  EXPECT_EQ(kernels[0].reads, Places{operand(0)});
  EXPECT_EQ(kernels[0].writes, (Places{between(0), between(1)}));
  EXPECT_EQ(kernels[1].spec.levels[1].extent, 36);
  EXPECT_EQ(kernels[1].reads, Places{operand(0, 64 * 4)});
  EXPECT_EQ(kernels[1].writes, (Places{between(0, 4), between(1, 8)}));
  EXPECT_EQ(
      kernel::print(kernels[2].spec),
      "kernel\nspace kept 3, reduced 2\nin x0 f32 [2, 1]\nin x1 f64 [2, 1]\nout y0 f32 [1, 0]\nout y1 f32 [1, 0]\n"
      "%0 = load x0\n%1 = load x1\n%2 = reduce max %0\n%3 = sub %0 %2\n%4 = exp %3\n%5 = cast f64 %4\n"
      "%6 = mul %1 %5\n%7 = is_negative_infinity %0\n%8 = constant f64 0\n%9 = select %7 %8 %6\n"
      "%10 = sub %2 %2\n%11 = cast f64 %10\n%12 = reduce sum %9\n%13 = add %12 %11\n%14 = cast f32 %13\nstore y0 %2\n"
      "store y1 %14\n");
  EXPECT_EQ(kernels[2].reads, (Places{between(0), between(1)}));
  EXPECT_EQ(kernels[2].writes, (Places{between(2), between(3)}));
  EXPECT_EQ(
      kernel::print(kernels[3].spec),
      "kernel\nspace kept 3, reduced 64\nin x0 f32 [100, 1]\nin x1 f32 [1, 0]\nin x2 f32 [1, 0]\n"
      "out y0 f32 [100, 1]\n%0 = load x0\n%1 = load x1 total\n%2 = sub %0 %1\n%3 = constant f32 0\n%4 = min %2 %3\n"
      "%5 = exp %4\n%6 = load x2 total\n%7 = constant f32 9223372036854775808\n%8 = min %6 %7\n%9 = constant f32 1\n"
      "%10 = max %8 %9\n%11 = div %5 %10\nstore y0 %11\n");
  EXPECT_EQ(kernels[4].writes, Places{operand(0, 64 * 4)});
  EXPECT_EQ(made.value().between, (std::vector<std::int64_t>{3 * 2 * 4, 3 * 2 * 8, 3 * 4, 3 * 4}));
}

/// Weights of a whole row are read piece by piece, each for all rows, where they do not stay near by.
TEST(LongRows, WhatRepeatsForEachRowIsReadOnce) {
  const auto levels_of = [](const std::string& elements) {
    const Result<KernelCut> made =
        cut_long_rows(spec_of("kernel\nspace kept 3, reduced " + elements + "\nin x0 f32 [" + elements +
                              ", 1]\nin x1 f32 [0, 1]\nout y0 f32 [1, 0]\nout y1 f32 [" + elements +
                              ", 1]\n%0 = load x0\n%1 = load x1\n%2 = mul %0 %1\n%3 = reduce sum %2\n"
                              "%4 = div %2 %3\nstore y0 %3\nstore y1 %4\n"),
                      {.piece = 4096});
    EXPECT_TRUE(made.ok()) << made.status().message();
    std::vector<std::vector<kernel::Level>> levels;
    for (const CutKernel& kernel : made.value().kernels) levels.push_back(kernel.spec.levels);
    return levels;
  };
  using Levels = std::vector<kernel::Level>;
  EXPECT_EQ(levels_of("524288"), (std::vector<Levels>{{{128, false}, {3, false}, {4096, true}},
                                                      {{3, false}, {128, true}},
                                                      {{128, false}, {3, false}, {4096, true}}}));
  EXPECT_EQ(levels_of("8192")[0], (Levels{{3, false}, {2, false}, {4096, true}}));
}

/// No piece leaves 11 elements nothing, or so many as may be left over.
TEST(LongRows, RowsBelowALeastPieceAreWhole) {
  EXPECT_FALSE(cut_long_rows(spec_of(softmax(3, 11)), {.piece = 2}).ok());
}

TEST(LongRows, MeanAndVarianceReadTheirInputOnce) {
  const Result<KernelCut> made = cut_long_rows(
      spec_of("kernel\nspace kept 2, reduced 96\nin x0 f32 [96, 1]\nout y0 f32 [1, 0]\nout y1 f32 [1, 0]\n"
              "%0 = load x0\n%1 = reduce sum %0\n%2 = count\n%3 = div %1 %2\n%4 = sub %0 %3\n%5 = square %4\n"
              "%6 = reduce sum %5\n%7 = div %6 %2\nstore y0 %3\nstore y1 %7\n"),
      {.piece = 32});
  ASSERT_TRUE(made.ok()) << made.status().message();
  const std::vector<CutKernel>& kernels = made.value().kernels;
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].count, 32);
  EXPECT_EQ(kernel::print(kernels[0].spec),
            "kernel\nspace kept 6, reduced 32\nin x0 f32 [32, 1]\nout y0 f64 [1, 0]\nout y1 f64 [1, 0]\n"
            "out y2 f64 [1, 0]\n%0 = load x0\n%1 = reduce sum %0\n%2 = count\n%3 = div %1 %2\n%4 = sub %0 %3\n"
            "%5 = square %4\n%6 = reduce sum %5\n%7 = count\nstore y0 %1\nstore y1 %6\nstore y2 %7\n");
  EXPECT_EQ(kernels[1].count, 96);
  EXPECT_EQ(kernels[1].writes, (Places{operand(0), operand(1)}));
}

TEST(LongRows, AStageThatNeedsTheOneBeforeReadsAgain) {
  const Result<KernelCut> made = cut_long_rows(
      spec_of(
          "kernel\nspace kept 2, reduced 96\nin x0 bf16 [96, 1]\nout y0 f32 [1, 0]\n%0 = load x0\n%1 = cast f32 %0\n"
          "%2 = reduce max %1\n%3 = div %1 %2\n%4 = abs %3\n%5 = reduce sum %4\n%6 = sqrt %5\nstore y0 %6\n"),
      {.piece = 32});
  ASSERT_TRUE(made.ok()) << made.status().message();
  const std::vector<CutKernel>& kernels = made.value().kernels;
  ASSERT_EQ(kernels.size(), 4U);
  EXPECT_EQ(kernels[0].spec.outputs[0].dtype, DType::f32);
  EXPECT_EQ(kernels[2].reads, (Places{operand(0), between(1)}));
  EXPECT_EQ(kernels[2].spec.outputs[0].dtype, DType::f64);
}

TEST(LongRows, TheInputThatRunsAlongRowsLeads) {
  const Result<KernelCut> made = cut_long_rows(
      spec_of("kernel\nspace kept 2, reduced 96\nin x0 f32 [96, 1]\nin x1 f32 [1, 0]\nout y0 f32 [1, 0]\n"
              "%0 = load x1\n%1 = load x0\n%2 = mul %0 %1\n%3 = reduce sum %2\n%4 = reduce max %1\n%5 = add %3 %4\n"
              "store y0 %5\n"),
      {.piece = 32});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(made.value().kernels[0].reads, (Places{operand(0), operand(1)}));
  EXPECT_EQ(made.value().kernels[0].spec.levels.back().reduced, true);
}

TEST(LongRows, ColumnsHandOnWhatAPieceGaveSideBySide) {
  const Result<KernelCut> made = cut_long_rows(
      spec_of("kernel\nspace reduced 100, kept 24\nin x0 f32 [24, 1]\nout y0 f32 [0, 1]\n%0 = load x0\n"
              "%1 = reduce max %0\n%2 = sub %0 %1\n%3 = exp %2\n%4 = reduce sum %3\n%5 = log %4\n%6 = add %5 %1\n"
              "store y0 %6\n"),
      {.piece = 32});
  ASSERT_TRUE(made.ok()) << made.status().message();
  const std::vector<CutKernel>& kernels = made.value().kernels;
  ASSERT_EQ(kernels.size(), 3U);
  EXPECT_EQ(kernels[0].spec.levels, (std::vector<kernel::Level>{{64, true}, {24, false}}));
  EXPECT_EQ(kernels[0].spec.outputs[1].strides, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(kernels[1].reads, Places{operand(0, 64 * 24 * 4)});
  EXPECT_EQ(kernels[1].writes, (Places{between(0, 24 * 4), between(1, 24 * 8)}));
  EXPECT_EQ(kernels[2].spec.levels, (std::vector<kernel::Level>{{2, true}, {24, false}}));
  EXPECT_EQ(kernels[2].writes, Places{operand(0)});
}

TEST(LongRows, OnlyColumnsOfExponentialsAreCut) {
  const auto columns = [](const std::string& rest) {
    return spec_of("kernel\nspace reduced 8192, kept 1024\nin x0 f32 [1024, 1]\nout y0 f32 [0, 1]\n%0 = load x0\n" +
                   rest);
  };
  EXPECT_EQ(row_cut(columns("%1 = reduce max %0\n%2 = sub %0 %1\n%3 = exp %2\n%4 = reduce sum %3\n"
                            "store y0 %4\n"))
                .piece,
            2048);
  EXPECT_EQ(row_cut(columns("%1 = reduce max %0\n%2 = sub %0 %1\n%3 = reduce sum %2\nstore y0 %3\n")).cuts(), false);
}

const char* const kColumnSoftmax =
    "%0 = load x0\n%1 = reduce max %0\n%2 = sub %0 %1\n%3 = exp %2\n%4 = reduce sum %3\n%5 = div %3 %4\nstore y0 %5\n";

TEST(LongRows, NarrowColumnsHavePiecesThatTakeRowsInTurn) {
  const Result<KernelCut> made = cut_long_rows(
      spec_of("kernel\nspace kept 2, reduced 103, kept 5\nin x0 f32 [515, 5, 1]\nout y0 f32 [515, 5, 1]\n" +
              std::string(kColumnSoftmax)),
      {.in_turn = 10});
  ASSERT_TRUE(made.ok()) << made.status().message();
  const std::vector<CutKernel>& kernels = made.value().kernels;
  ASSERT_EQ(kernels.size(), 4U);
  EXPECT_EQ(kernels[0].spec.levels, (std::vector<kernel::Level>{{2, false}, {10, true}, {50, false}}));
  EXPECT_EQ(kernels[0].spec.inputs[0].strides, (std::vector<std::int64_t>{515, 50, 1}));
  EXPECT_EQ(kernels[0].spec.outputs[0].strides, (std::vector<std::int64_t>{55, 0, 1})) << "eleven pieces of five";
  EXPECT_EQ(kernels[1].spec.levels, (std::vector<kernel::Level>{{2, false}, {3, true}, {5, false}}))
      << "rows left over";
  EXPECT_EQ(kernels[1].reads, Places{operand(0, 500 * 4)});
  EXPECT_EQ(kernels[1].writes, (Places{between(0, 50 * 4), between(1, 50 * 8)}));
  EXPECT_EQ(kernels[2].spec.levels, (std::vector<kernel::Level>{{2, false}, {11, true}, {5, false}}));
  EXPECT_TRUE(kernel::is_elementwise(kernels[3].spec));
  EXPECT_EQ(kernels[3].spec.levels, (std::vector<kernel::Level>{{2, false}, {103, false}, {5, false}}));
}

TEST(LongRows, NarrowColumnsOfManyRowsAreCut) {
  const auto in_turn = [](int blocks, int rows, int columns, const char* dtype = "f32") {
    const std::string row = std::to_string(columns), block = std::to_string(rows * columns), type = dtype;
    const std::string strides = "[" + block + ", " + row + ", 1]";
    return row_cut(spec_of("kernel\nspace kept " + std::to_string(blocks) + ", reduced " + std::to_string(rows) +
                           ", kept " + row + "\nin x0 " + type + " " + strides + "\nout y0 " + type + " " + strides +
                           "\n" + kColumnSoftmax))
        .in_turn;
  };
  EXPECT_EQ(in_turn(2, 1000, 9), 28) << "252 columns";
  EXPECT_EQ(in_turn(2, 125, 9), 15) << "of 8 rows at least";
  EXPECT_EQ(in_turn(2, 113, 9), 13) << "14 would leave one row";
  EXPECT_EQ(in_turn(2, 100, 9), 0) << "small blocks";
  EXPECT_EQ(in_turn(2, 1000, 16), 0) << "whole vector steps";
  EXPECT_EQ(in_turn(2, 1000, 30), 0) << "not narrow";
  EXPECT_EQ(in_turn(2, 100000, 9), 390) << "columns for threads";
  EXPECT_EQ(in_turn(40, 200, 9), 0) << "turned";
  EXPECT_EQ(in_turn(40, 1000, 9), 28) << "blocks too long to be turned";
}

/// A group norm whose channels come last: 4 groups of 3 channels.
const char* const kGroups =
    "%0 = load x0\n%1 = reduce sum %0\n%2 = count\n%3 = div %1 %2\n%4 = sub %0 %3\n%5 = square %4\n"
    "%6 = reduce sum %5\n%7 = div %6 %2\n%8 = sqrt %7\n%9 = div %4 %8\n%10 = load x1\n%11 = mul %9 %10\n"
    "store y0 %11\nstore y1 %7\n";

TEST(LongRows, ElementsOfTheInnerLevelAreColumnsOfTheOuter) {
  const Result<KernelCut> made =
      cut_long_rows(spec_of("kernel\nspace kept 2, reduced 50, kept 4, reduced 3\nin x0 f32 [600, 12, 3, 1]\n"
                            "in x1 f32 [0, 0, 3, 1]\nout y0 f32 [600, 12, 3, 1]\nout y1 f32 [4, 0, 1, 0]\n" +
                            std::string(kGroups)),
                    {.apart = true});
  ASSERT_TRUE(made.ok()) << made.status().message();
  using Levels = std::vector<kernel::Level>;
  using Strides = std::vector<std::int64_t>;
  const std::vector<CutKernel>& kernels = made.value().kernels;
  ASSERT_EQ(kernels.size(), 5U);
  EXPECT_EQ(kernels[0].spec.levels, (Levels{{2, false}, {50, true}, {12, false}}));
  EXPECT_EQ(kernels[0].spec.outputs[0].strides, (Strides{12, 0, 1})) << "a group's side by side";
  EXPECT_EQ(kernels[0].count, 50);
  EXPECT_EQ(kernels[1].spec.levels, (Levels{{8, false}, {3, true}}));
  EXPECT_EQ(kernels[1].count, 150);
  EXPECT_EQ(kernels[1].writes, (Places{between(3), operand(1), between(4)})) << "the variance is asked for";
  for (const std::size_t repeats : {2U, 3U}) {
    EXPECT_EQ(kernels[repeats].spec.levels, (Levels{{8, false}, {3, false}})) << "once for each channel";
    EXPECT_EQ(kernels[repeats].spec.inputs[0].strides, (Strides{1, 0}));
  }
  EXPECT_EQ(kernels[4].spec.levels, (Levels{{2, false}, {50, false}, {12, false}}));
  EXPECT_EQ(kernels[4].spec.inputs[1].strides, (Strides{12, 0, 1}));
  EXPECT_EQ(kernels[4].spec.inputs[3].strides, (Strides{0, 0, 1})) << "the scale, as it was";
  EXPECT_EQ(made.value().between, (std::vector<std::int64_t>{24 * 8, 24 * 8, 24 * 8, 8 * 4, 8 * 4, 24 * 4, 24 * 4}));
}

/// The last kernel of the same, of inputs and outputs of `dtype`.
std::string elements_of_groups(const std::string& dtype, const std::string& tail) {
  const Result<KernelCut> made = cut_long_rows(
      spec_of("kernel\nspace kept 2, reduced 50, kept 4, reduced 3\nin x0 " + dtype + " [600, 12, 3, 1]\nout y0 " +
              dtype +
              " [600, 12, 3, 1]\n%0 = load x0\n%1 = cast f32 %0\n%2 = reduce sum %1\n%3 = count\n%4 = div %2 %3\n"
              "%5 = sub %1 %4\n%6 = square %5\n%7 = reduce sum %6\n%8 = div %7 %3\n%9 = sqrt %8\n%10 = div %5 %9\n" +
              tail),
      {.apart = true});
  EXPECT_TRUE(made.ok()) << made.status().message();
  return made.ok() ? kernel::print(made.value().kernels.back().spec) : "";
}

/// An elementwise kernel has no rows, whose reciprocals it could make itself.
TEST(LongRows, WhatEndsInWordsIsMultipliedByAReciprocal) {
  const std::string of_words = elements_of_groups("bf16", "%11 = cast bf16 %10\nstore y0 %11\n");
  EXPECT_EQ(of_words.find("div"), std::string::npos) << of_words;
  EXPECT_NE(of_words.find("mul"), std::string::npos) << of_words;
  const std::string of_magnitudes = elements_of_groups("f16", "%11 = abs %10\n%12 = cast f16 %11\nstore y0 %12\n");
  EXPECT_NE(of_magnitudes.find("div"), std::string::npos) << "no sum or product";
  const std::string of_f32 = elements_of_groups("f32", "store y0 %10\n");
  EXPECT_NE(of_f32.find("div"), std::string::npos) << "the nearest";
}

TEST(LongRows, ShortRowsOfTwoLevelsApartAreCut) {
  const auto is_cut = [](int outer, int inner, const std::string& body) {
    const std::string row = std::to_string(inner), all = std::to_string(4 * inner);
    return row_cut(spec_of("kernel\nspace reduced " + std::to_string(outer) + ", kept 4, reduced " + row +
                           "\nin x0 f32 [" + all + ", " + row + ", 1]\nout y0 f32 [" + all + ", " + row + ", 1]\n" +
                           body))
        .apart;
  };
  const std::string scaled = "%0 = load x0\n%1 = reduce max %0\n%2 = div %0 %1\nstore y0 %2\n";
  EXPECT_TRUE(is_cut(16, 3, scaled));
  EXPECT_FALSE(is_cut(15, 3, scaled)) << "what pieces give is as much as they read";
  EXPECT_TRUE(is_cut(32, 64, scaled));
  EXPECT_FALSE(is_cut(31, 64, scaled));
  EXPECT_FALSE(is_cut(1000, 65, scaled)) << "long enough";
  EXPECT_FALSE(is_cut(0, 3, scaled));
  EXPECT_FALSE(is_cut(16, 0, scaled));
  EXPECT_TRUE(is_cut(64, 16, kColumnSoftmax));
  EXPECT_FALSE(is_cut(63, 16, kColumnSoftmax)) << "exponentials twice";
  EXPECT_FALSE(is_cut(1000, 17, kColumnSoftmax));
}

TEST(LongRows, WhatCannotBeCombinedIsNotCut) {
  for (const char* body : {"%0 = load x0\n%1 = reduce argmax %0\nstore y0 %1\n",
                           "%0 = load x0\n%1 = count\n%2 = div %0 %1\n%3 = reduce sum %2\n%4 = reduce max %2\n%5 = add "
                           "%3 %4\nstore y0 %5\n"})
    EXPECT_FALSE(cut_long_rows(spec_of("kernel\nspace kept 2, reduced 96\nin x0 f32 [96, 1]\nout y0 f32 [1, 0]\n" +
                                       std::string(body)),
                               {.piece = 32})
                     .ok())
        << body;
  EXPECT_FALSE(cut_long_rows(spec_of(softmax(2, 40)), {.piece = 32}).ok()) << "one piece and a few elements";
}

TEST(LongRows, OnlyLongRowsAreCut) {
  target::Target target;
  target.isa = target.native = target::Isa::avx2;
  for (const auto& [rows, elements, kernels] :
       {std::tuple{1, 1 << 18, 1U}, {1, 1 << 19, 3U}, {64, 1 << 18, 1U}, {64, (1 << 19) + 100, 5U}}) {
    const Result<Plan> plan = make_plan(spec_of(softmax(rows, elements)), target);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_EQ(plan.value().kernels.size(), kernels) << rows << " " << elements;
    EXPECT_EQ(plan.value().in_pieces, kernels > 1);
  }
}

}  // namespace
}  // namespace tenfold::compiler
