// SPDX-License-Identifier: Apache-2.0
//
// Elementwise backward ops as the reference computes them, against derivatives that mpmath took with 40 digits; kinks,
// infinities and NaNs; sums by slopes and biases.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/eval/tensors.hpp"

namespace tenfold::graph {
namespace {

using Numbers = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

Numbers rounded(const Numbers& numbers) {
  Numbers out;
  for (const double number : numbers) out.push_back(static_cast<double>(static_cast<float>(number)));
  return out;
}

Numbers gradient(const std::string& kind, std::vector<NamedAttribute> attributes, const Numbers& x, const Numbers& d) {
  const Op op = make_op(Dialect::onednn, kind + "Backward", std::move(attributes));
  const auto count = static_cast<std::int64_t>(x.size());
  const Tensor first(DType::f32, {count}, x);
  const Tensor second(DType::f32, {count}, d);
  Tensor result(DType::f32, {count});
  const Status status = run_op(op, {first.in(), second.in()}, result);
  EXPECT_TRUE(status.ok()) << status.message();
  return result.values();
}

const Numbers kX{-2.5, -0.5, 0.25, 3.5};
const Numbers kD{1, 2, -1, 0.5};
const NamedAttribute kBySource{"use_dst", false};

TEST(Gradient, IsTheDerivativeTimesDiffDst) {
  const auto expect = [](const std::string& kind, std::vector<NamedAttribute> attributes, const Numbers& expected) {
    EXPECT_TRUE(same_values(gradient(kind, std::move(attributes), kX, kD), rounded(expected))) << kind;
  };
  expect("GELU", {}, {-0.037611085908145208, 0.26500975068767431, -0.69537335488363602, 0.50141088017681231});
  expect("GELU", {{"mode", "gelu_tanh"}},
         {-0.037951576212666182, 0.26526019293071537, -0.69535409515106042, 0.50121132188005821});
  expect("Mish", {}, {-0.10974357275018568, 0.57902135582702438, -0.75417266772059278, 0.50496966249756654});
  expect("Elu", {{"alpha", 0.5}, kBySource}, {0.041042499311949397, 0.60653065971263342, -1, 0.5});
  expect("Sigmoid", {kBySource},
         {0.070103716545108156, 0.47000742440318897, -0.24613408273759834, 0.01422651193986778});
  expect("SoftPlus", {{"beta", 2.0}},
         {0.0066928509242848555, 0.53788284273999024, -0.62245933120185456, 0.49954447440279967});
  expect("Tanh", {kBySource}, {0.026592226683160619, 1.5728954659318548, -0.94001484880637795, 0.0018204423602436530});
  expect("HardSwish", {}, {-1.0 / 3, 2.0 / 3, -7.0 / 12, 0.5});
  expect("HardSigmoid", {{"alpha", 0.25}, {"beta", 0.5}}, {0, 0.5, -0.25, 0});
  expect("Abs", {}, {-1, -2, -1, 0.5});
  expect("ReLU", {kBySource}, {0, 0, -1, 0.5});
  expect("Clamp", {{"min", -1.0}, {"max", 1.0}, kBySource}, {0, 2, -1, 0});
}

TEST(Gradient, ByWhatTheOpGave) {
  const Numbers y{0.25, 0.5, 1, 4};
  EXPECT_TRUE(same_values(gradient("Sqrt", {}, y, kD), {2, 2, -0.5, 0.0625}));
  EXPECT_TRUE(same_values(gradient("Sqrt", {kBySource}, {0.0625, 0.25, 1, 16}, kD), {2, 2, -0.5, 0.0625}));
  EXPECT_TRUE(same_values(gradient("Sigmoid", {}, {0.25, 0.5, 1, 0}, kD), {0.1875, 0.5, -0.0, 0}));
  EXPECT_TRUE(same_values(gradient("Tanh", {}, {0.5, -0.5, 0, 1}, kD), {0.75, 1.5, -1, 0}));
  EXPECT_TRUE(same_values(gradient("Elu", {{"alpha", 0.5}}, {-0.25, 0.5, 1, -0.5}, kD), {0.25, 2, -1, 0}));
}

TEST(Gradient, AtKinksIsThatOfTheFlatSide) {
  EXPECT_TRUE(same_values(gradient("Abs", {}, {0, kNan}, {3, 3}), {0, 0}));
  EXPECT_TRUE(same_values(gradient("ReLU", {kBySource}, {0, kNan}, {3, 3}), {0, 0}));
  EXPECT_TRUE(same_values(gradient("Clamp", {{"min", 0.0}, {"max", 1.0}}, {0, 1}, {3, 3}), {0, 0}));
  EXPECT_TRUE(same_values(gradient("HardSwish", {}, {-3, 3}, {2, 2}), {0, 2}));
  EXPECT_TRUE(same_values(gradient("HardSigmoid", {{"alpha", 0.5}, {"beta", 0.5}}, {-1, 1}, {2, 2}), {0, 0}));
}

TEST(Gradient, AtInfinityIsItsLimit) {
  const Numbers ends{-kInfinity, kInfinity, kNan};
  for (const std::string kind : {"GELU", "Mish"}) {
    const Numbers got = gradient(kind, {}, ends, {2, 2, 2});
    EXPECT_EQ(got[0], 0) << kind;
    EXPECT_EQ(got[1], 2) << kind;
    EXPECT_TRUE(std::isnan(got[2])) << kind;
  }
}

TEST(Gradient, BySlopeAndBiasSumsOverWhatTheyWereRepeatedAlong) {
  const Tensor x(DType::f32, {2, 3, 2}, {1, -1, 2, -2, -3, 3, -4, 4, -5, -6, 7, 0});
  const Tensor d(DType::f32, {2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Tensor slope(DType::f32, {3}, {0.5, 0.25, 2});
  Tensor by_x(DType::f32, {2, 3, 2});
  Tensor by_slope(DType::f32, {3});
  const std::vector<ConstTensor> inputs{x.in(), slope.in(), d.in()};
  const std::vector<MutableTensor> outputs{by_x.out(), by_slope.out()};
  const Status status =
      evaluate_op(make_op(Dialect::onednn, "PReLUBackward", {{"data_format", "NCX"}}), inputs, outputs);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(same_values(by_x.values(), {1, 1, 3, 1, 10, 6, 3.5, 8, 2.25, 2.5, 11, 24}));
  // Channel 0: -1 * 2 + -4 * 7; channel 1: -2 * 4 + -5 * 9 + -6 * 10; channel 2: -3 * 5 + 0 * 12.
  EXPECT_TRUE(same_values(by_slope.values(), {-30, -113, -15}));

  Tensor bias(DType::f32, {3});
  ASSERT_TRUE(run_op(make_op(Dialect::onednn, "BiasAddBackward", {{"data_format", "NCX"}}), {d.in()}, bias).ok());
  EXPECT_TRUE(same_values(bias.values(), {18, 26, 34}));
  Tensor last(DType::f32, {2});
  ASSERT_TRUE(run_op(make_op(Dialect::onednn, "BiasAddBackward"), {d.in()}, last).ok());
  EXPECT_TRUE(same_values(last.values(), {36, 42}));
}

/// A slope of one element gives a number no dim; its gradient has its own shape.
TEST(Gradient, BySlopeOfANumber) {
  const Tensor x(DType::f32, {}, {-3}), d(DType::f32, {}, {2}), slope(DType::f32, {1}, {0.5});
  Tensor y(DType::f32, {}), by_x(DType::f32, {}), by_slope(DType::f32, {1});
  ASSERT_TRUE(run_op(make_op(Dialect::onednn, "PReLU"), {x.in(), slope.in()}, y).ok());
  EXPECT_TRUE(same_values(y.values(), {-1.5}));
  const std::vector<ConstTensor> inputs{x.in(), slope.in(), d.in()};
  const std::vector<MutableTensor> outputs{by_x.out(), by_slope.out()};
  ASSERT_TRUE(evaluate_op(make_op(Dialect::onednn, "PReLUBackward"), inputs, outputs).ok());
  EXPECT_TRUE(same_values(by_x.values(), {1}));
  EXPECT_TRUE(same_values(by_slope.values(), {-6}));
}

}  // namespace
}  // namespace tenfold::graph
