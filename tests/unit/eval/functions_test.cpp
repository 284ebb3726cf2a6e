// SPDX-License-Identifier: Apache-2.0
//
// Scalar functions against values worked out elsewhere, and at the edges where naive formulas break.
#include "graph/eval/functions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "tensors.hpp"

namespace tenfold::graph {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double call(const char* name, double x, Parameters p = {}) { return find_function(name)->real(std::span(&x, 1), p); }
double call2(const char* name, double a, double b) {
  const double x[] = {a, b};
  return find_function(name)->real(std::span<const double>(x), {});
}

TEST(Functions, NamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (const FunctionRow& row : all_functions()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(find_function(row.name), &row);
    EXPECT_LE(row.arity.least, row.arity.most);
    EXPECT_TRUE(row.real != nullptr || row.integer != nullptr) << row.name;
  }
  EXPECT_EQ(find_function("gamma"), nullptr);
}

TEST(Functions, MaximumAndMinimumPropagateNanAndOrderZeros) {
  EXPECT_TRUE(same(ieee_maximum(-0.0, 0.0), 0.0));
  EXPECT_TRUE(same(ieee_maximum(0.0, -0.0), 0.0));
  EXPECT_TRUE(same(ieee_minimum(-0.0, 0.0), -0.0));
  EXPECT_TRUE(same(ieee_minimum(0.0, -0.0), -0.0));
  EXPECT_TRUE(same(ieee_minimum(-0.0, -0.0), -0.0));
  EXPECT_TRUE(std::isnan(ieee_maximum(kNan, kInf)));
  EXPECT_TRUE(std::isnan(ieee_maximum(kInf, kNan)));
  EXPECT_TRUE(std::isnan(ieee_minimum(kNan, -kInf)));
  EXPECT_EQ(ieee_maximum(-kInf, 3), 3);
}

TEST(Functions, KnownValues) {
  EXPECT_DOUBLE_EQ(call("gelu_erf", 1), 0.84134474606854293);
  EXPECT_DOUBLE_EQ(call("gelu_erf", -1), -0.15865525393145705);
  EXPECT_DOUBLE_EQ(call("gelu_tanh", 1), 0.84119199060827670);
  EXPECT_DOUBLE_EQ(call("sigmoid", 1), 0.73105857863000488);
  EXPECT_DOUBLE_EQ(call("mish", 1), 0.86509838826731034);
  EXPECT_DOUBLE_EQ(call("softplus", 1), 1.3132616875182228);
  EXPECT_DOUBLE_EQ(call("softplus", 1, {.beta = 2}), 1.0634640055214861);
  EXPECT_DOUBLE_EQ(call("elu", -1, {.alpha = 2}), -1.2642411176571153);
  EXPECT_DOUBLE_EQ(call("hardswish", 1), 2.0 / 3);
  EXPECT_DOUBLE_EQ(call("hardsigmoid", 1, {.alpha = 0.2, .beta = 0.5}), 0.7);
  EXPECT_EQ(call("hardsigmoid", 10, {.alpha = 0.2, .beta = 0.5}), 1);
  EXPECT_EQ(call("leakyrelu", -2, {.alpha = 0.25}), -0.5);
  EXPECT_EQ(call("thresholded_relu", 3, {.alpha = 2}), 3);
  EXPECT_EQ(call("thresholded_relu", 2, {.alpha = 2}), 0);
  EXPECT_EQ(call("pow", 3, {.beta = 2}), 9);
  EXPECT_EQ(call("clamp", 7, {.min = -1, .max = 5}), 5);
  EXPECT_EQ(call("clamp", -7, {.min = -1, .max = 5}), -1);
  EXPECT_EQ(call("reciprocal", -4), -0.25);
  EXPECT_EQ(call("square", -3), 9);
  EXPECT_EQ(call2("squared_difference", 2, 5), 9);
  EXPECT_EQ(call2("prelu", -2, 0.5), -1);
  EXPECT_EQ(call2("prelu", 2, 0.5), 2);
  EXPECT_EQ(call2("sub", 2, 5), -3);
  EXPECT_EQ(call2("div", 1, 4), 0.25);
  EXPECT_EQ(call2("greater_equal", 2, 2), 1);
  EXPECT_EQ(call2("greater_equal", kNan, 2), 0);
}

TEST(Functions, RoundGoesHalfToEven) {
  const double in[] = {0.5, 1.5, 2.5, -0.5, -1.5, 2.4999, -2.6, 0x1p52 + 1, -0.0, 0.49999999999999994};
  const double out[] = {0, 2, 2, -0.0, -2, 2, -3, 0x1p52 + 1, -0.0, 0};
  for (std::size_t i = 0; i < std::size(in); ++i) EXPECT_TRUE(same(call("round", in[i]), out[i])) << in[i];
  EXPECT_EQ(call("round", kInf), kInf);
  EXPECT_TRUE(std::isnan(call("round", kNan)));
}

TEST(Functions, FarFromZeroNothingOverflowsOrCancels) {
  EXPECT_EQ(call("softplus", 1000), 1000);
  EXPECT_EQ(call("softplus", -800), 0);
  EXPECT_DOUBLE_EQ(call("softplus", -50), std::exp(-50.0));
  EXPECT_EQ(call("mish", 1000), 1000);
  EXPECT_DOUBLE_EQ(call("mish", -50), -50 * std::exp(-50.0));
  EXPECT_EQ(call("sigmoid", 1000), 1);
  EXPECT_DOUBLE_EQ(call("sigmoid", -700), std::exp(-700.0));
  EXPECT_EQ(call("gelu_erf", 40), 40);
  EXPECT_DOUBLE_EQ(call("gelu_erf", -10), -10 * 0.5 * std::erfc(10 / std::sqrt(2.0)));
  EXPECT_LT(call("gelu_tanh", -5), 0);
  EXPECT_GT(call("gelu_tanh", -5), -1e-6);
}

TEST(Functions, NanComesOutOfAllThatTakeIt) {
  for (const FunctionRow& row : all_functions()) {
    const std::set<std::string_view> judges = {
        "and", "equal", "greater", "greater_equal", "isinf", "isnan", "less", "less_equal", "not", "or", "xor"};
    if (row.real == nullptr || judges.contains(row.name)) continue;
    const double pair[] = {kNan, 1};
    const std::span<const double> x(pair, row.arity.least);
    EXPECT_TRUE(std::isnan(row.real(x, {.alpha = 1, .beta = 1, .min = -1, .max = 1}))) << row.name;
  }
}

TEST(Functions, IntegersWrapInsteadOfOverflowing) {
  const Integer most = static_cast<Integer>(std::numeric_limits<std::uint64_t>::max());
  const Integer pair[] = {most, most};
  EXPECT_TRUE(find_function("mul")->integer(std::span<const Integer>(pair), {}) == 1 - (Integer{1} << 65))
      << "2^128 - 2^65 + 1, modulo 2^128";
  const Integer three[] = {3, 5};
  EXPECT_EQ(static_cast<int>(find_function("sub")->integer(std::span<const Integer>(three), {})), -2);
  EXPECT_EQ(static_cast<int>(find_function("max")->integer(std::span<const Integer>(three), {})), 5);
  EXPECT_EQ(static_cast<int>(find_function("greater_equal")->integer(std::span<const Integer>(three), {})), 0);
}

}  // namespace
}  // namespace tenfold::graph
