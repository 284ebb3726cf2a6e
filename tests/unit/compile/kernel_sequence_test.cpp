// SPDX-License-Identifier: Apache-2.0
//
// Bodies of more inputs than one kernel takes: where they are cut, and what is handed on.
#include "compile/plan/kernel_sequence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compile/plan/plan.hpp"
#include "tests/unit/compile/cuts.hpp"

namespace tenfold::compiler {
namespace {

/// ((x0 + x1) + x2) + ...
std::string fold_text(int count, const std::string& dtype, int elements = 6) {
  std::string text = "kernel\nspace kept " + std::to_string(elements) + "\n", body;
  for (int i = 0; i < count; ++i) text += "in x" + std::to_string(i) + " " + dtype + " [1]\n";
  body = "%0 = load x0\n";
  int value = 0, next = 1;
  for (int i = 1; i < count; ++i) {
    body += "%" + std::to_string(next) + " = load x" + std::to_string(i) + "\n";
    body += "%" + std::to_string(next + 1) + " = add %" + std::to_string(value) + " %" + std::to_string(next) + "\n";
    value = next + 1;
    next += 2;
  }
  return text + "out y0 " + dtype + " [1]\n" + body + "store y0 %" + std::to_string(value) + "\n";
}

TEST(KernelSequence, AFoldIsCutWhereTheInputsRunOut) {
  const Result<KernelCut> sequence = cut_into_sequence(spec_of(fold_text(5, "bf16")), 3);
  ASSERT_TRUE(sequence.ok()) << sequence.status().message();
  ASSERT_EQ(sequence.value().kernels.size(), 2U);
  const CutKernel &first = sequence.value().kernels[0], &second = sequence.value().kernels[1];
  EXPECT_EQ(kernel::print(first.spec),
            "kernel\nspace kept 6\nin x0 bf16 [1]\nin x1 bf16 [1]\nin x2 bf16 [1]\nout y0 f32 [1]\n%0 = load x0\n"
            "%1 = load x1\n%2 = add %0 %1\n%3 = load x2\n%4 = add %2 %3\nstore y0 %4\n");
  EXPECT_EQ(first.reads, (std::vector<Place>{operand(0), operand(1), operand(2)}));
  EXPECT_EQ(first.writes, (std::vector<Place>{between(0)}));
  EXPECT_EQ(kernel::print(second.spec),
            "kernel\nspace kept 6\nin x0 f32 [1]\nin x1 bf16 [1]\nin x2 bf16 [1]\nout y0 bf16 [1]\n%0 = load x0\n"
            "%1 = load x1\n%2 = add %0 %1\n%3 = load x2\n%4 = add %2 %3\nstore y0 %4\n");
  EXPECT_EQ(second.reads, (std::vector<Place>{between(0), operand(3), operand(4)}));
  EXPECT_EQ(second.writes, (std::vector<Place>{operand(0)}));
  EXPECT_EQ(sequence.value().between, (std::vector<std::int64_t>{6 * 4}));
}

TEST(KernelSequence, WhatTwoPartsReadIsLoadedTwice) {
  const Result<KernelCut> sequence = cut_into_sequence(
      spec_of("kernel\nspace kept 6\nin x0 s8 [1]\nin x1 s8 [1]\nin x2 s8 [1]\nout y0 s8 [1]\n%0 = load x0\n"
              "%1 = load x1\n%2 = mul %0 %1\n%3 = load x2\n%4 = sub %2 %3\n%5 = max %4 %0\nstore y0 %5\n"),
      2);
  ASSERT_TRUE(sequence.ok()) << sequence.status().message();
  ASSERT_EQ(sequence.value().kernels.size(), 3U);
  EXPECT_EQ(sequence.value().kernels[1].reads, (std::vector<Place>{between(0), operand(2)}));
  EXPECT_EQ(sequence.value().kernels[2].reads, (std::vector<Place>{between(1), operand(0)}));
}

TEST(KernelSequence, WhereTwoValuesGoOnThereIsNoCut) {
  const Result<KernelCut> sequence = cut_into_sequence(
      spec_of("kernel\nspace kept 6\nin x0 f32 [1]\nin x1 f32 [1]\nin x2 f32 [1]\nin x3 f32 [1]\nout y0 f32 [1]\n"
              "%0 = load x0\n%1 = load x1\n%2 = add %0 %1\n%3 = load x2\n%4 = load x3\n%5 = add %3 %4\n"
              "%6 = mul %2 %5\nstore y0 %6\n"),
      2);
  EXPECT_EQ(sequence.status().code(), Code::unsupported_shape);
  EXPECT_NE(sequence.status().message().find("at most 2 inputs; this one has 4"), std::string::npos);
}

TEST(KernelSequence, PlansTakeAsManyKernelsAsTheInputsNeed) {
  target::Target target;
  target.isa = target.native = target::Isa::avx2;
  struct Case {
    int inputs, elements;
    std::size_t kernels;
  };
  for (const auto& [inputs, elements, kernels] : {Case{2, 6, 1},
                                                  {64, 6, 1},
                                                  {65, 6, 2},
                                                  {127, 6, 2},
                                                  {128, 6, 3},
                                                  {1000, 6, 16},
                                                  {16, 1 << 18, 1},
                                                  {17, 1 << 18, 2},
                                                  {31, 1 << 18, 2},
                                                  {32, 1 << 18, 3},
                                                  {64, 1 << 18, 5}}) {
    const Result<Plan> plan = make_plan(spec_of(fold_text(inputs, "f32", elements)), target);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_EQ(plan.value().kernels.size(), kernels) << inputs;
    std::size_t read = 0;
    for (const PlannedKernel& kernel : plan.value().kernels) {
      EXPECT_LE(kernel.spec.inputs.size(), static_cast<std::size_t>(kernel::kMaxInputs));
      read += static_cast<std::size_t>(
          std::ranges::count_if(kernel.reads, [](const Place& place) { return place.kind == Place::Kind::operand; }));
    }
    EXPECT_EQ(read, static_cast<std::size_t>(inputs)) << "each input is read once";
  }
}

}  // namespace
}  // namespace tenfold::compiler
