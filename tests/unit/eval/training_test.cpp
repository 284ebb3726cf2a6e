// SPDX-License-Identifier: Apache-2.0
//
// Ops of training as the reference computes them: batch norms with the batch's own stats, their gradients, and dropout.
#include <gtest/gtest.h>

#include <cmath>

#include "graph/eval/bound.hpp"
#include "graph/eval/run.hpp"
#include "tests/unit/eval/tensors.hpp"

namespace tenfold::graph {
namespace {

using Values = std::vector<double>;

void evaluate(const Op& op, const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) {
  std::vector<ConstTensor> in;
  for (const Tensor& tensor : inputs) in.push_back(tensor.in());
  std::vector<MutableTensor> out;
  for (Tensor& tensor : outputs) out.push_back(tensor.out());
  const Status status = evaluate_op(op, in, out);
  ASSERT_TRUE(status.ok()) << status.message();
}

Op batch_norm(std::string kind, std::vector<NamedAttribute> more = {}) {
  more.push_back({"epsilon", 0.25});
  return make_op(Dialect::onednn, std::move(kind), std::move(more));
}

TEST(BatchNormForwardTraining, TakesTheBatchesStats) {
  // Channel 0 is 1 1 4 4: mean 2.5, variance 2.25, so that s = sqrt(2.5); channel 1 is 3 everywhere.
  const Tensor source(DType::f64, {2, 2, 2}, {1, 3, 1, 3, 4, 3, 4, 3});
  const Tensor mean(DType::f64, {2}, {10, 20}), variance(DType::f64, {2}, {30, 40});
  const Tensor gamma(DType::f64, {2}, {2, 5}), beta(DType::f64, {2}, {100, 7});
  const double part = 3 / std::sqrt(2.5);
  for (const bool has_momentum : {false, true}) {
    std::vector<Tensor> out{
        {DType::f64, {2, 2, 2}}, {DType::f64, {2}}, {DType::f64, {2}}, {DType::f64, {2}}, {DType::f64, {2}}};
    std::vector<NamedAttribute> more;
    if (has_momentum) more.push_back({"momentum", 0.75});
    evaluate(batch_norm("BatchNormForwardTraining", more), {source, mean, variance, gamma, beta}, out);
    const Values expected{100 - part, 7, 100 - part, 7, 100 + part, 7, 100 + part, 7};
    for (std::int64_t i = 0; i < 8; ++i) EXPECT_DOUBLE_EQ(out[0].at(i), expected[static_cast<std::size_t>(i)]);
    EXPECT_EQ(out[3].values(), (Values{2.5, 3}));
    EXPECT_EQ(out[4].values(), (Values{2.25, 0}));
    const double old = has_momentum ? 0.75 : 0.5;
    EXPECT_EQ(out[1].values(), (Values{old * 10 + (1 - old) * 2.5, old * 20 + (1 - old) * 3}));
    EXPECT_EQ(out[2].values(), (Values{old * 30 + (1 - old) * 2.25, old * 40}));
  }
}

TEST(BatchNormForwardTraining, ChannelsMayBeSecond) {
  const Tensor source(DType::f32, {2, 1, 2}, {1, 1, 4, 4}), stat(DType::f32, {1}, {0});
  std::vector<Tensor> out{
      {DType::f32, {2, 1, 2}}, {DType::f32, {1}}, {DType::f32, {1}}, {DType::f32, {1}}, {DType::f32, {1}}};
  evaluate(batch_norm("BatchNormForwardTraining", {{"data_format", std::string("NCX")}}), {source, stat, stat}, out);
  EXPECT_EQ(out[4].values(), Values{2.25});
  EXPECT_FLOAT_EQ(static_cast<float>(out[0].at(3)), static_cast<float>(1.5 / std::sqrt(2.5)));
}

/// The sum of gradient times the forward op's result, by what its stats are of `source`.
double weighted(const Tensor& source, const Tensor& gradient, const Tensor& gamma, const Tensor& beta) {
  const Tensor stat(DType::f64, {2});
  std::vector<Tensor> out{
      {DType::f64, source.desc().shape}, {DType::f64, {2}}, {DType::f64, {2}}, {DType::f64, {2}}, {DType::f64, {2}}};
  evaluate(batch_norm("BatchNormForwardTraining"), {source, stat, stat, gamma, beta}, out);
  double sum = 0;
  for (std::int64_t i = 0; i < 8; ++i) sum += gradient.at(i) * out[0].at(i);
  return sum;
}

TEST(BatchNormTrainingBackward, IsTheDerivative) {
  Tensor source(DType::f64, {2, 2, 2}, {1, 3, 2, -3, 4.5, 0.25, 4, 7});
  const Tensor gradient(DType::f64, {2, 2, 2}, {1, -1, 2, 0.5, 0.75, -3, 4, 0.125});
  Tensor gamma(DType::f64, {2}, {2, 5}), beta(DType::f64, {2}, {100, 7});
  const Tensor stat(DType::f64, {2});
  std::vector<Tensor> forward{
      {DType::f64, {2, 2, 2}}, {DType::f64, {2}}, {DType::f64, {2}}, {DType::f64, {2}}, {DType::f64, {2}}};
  evaluate(batch_norm("BatchNormForwardTraining"), {source, stat, stat, gamma, beta}, forward);
  std::vector<Tensor> out{{DType::f64, {2, 2, 2}}, {DType::f64, {2}}, {DType::f64, {2}}};
  evaluate(batch_norm("BatchNormTrainingBackward"), {source, gradient, forward[3], forward[4], gamma}, out);

  constexpr double kStep = 0x1p-16;
  const auto slope = [&](Tensor& tensor, std::int64_t i) {
    const double centre = tensor.at(i);
    tensor.set(i, centre + kStep);
    const double above = weighted(source, gradient, gamma, beta);
    tensor.set(i, centre - kStep);
    const double below = weighted(source, gradient, gamma, beta);
    tensor.set(i, centre);
    return (above - below) / (2 * kStep);
  };
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_NEAR(out[0].at(i), slope(source, i), 1e-7) << i;
  for (std::int64_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(out[1].at(i), slope(gamma, i), 1e-7) << i;
    EXPECT_NEAR(out[2].at(i), slope(beta, i), 1e-7) << i;
  }
}

TEST(BatchNorm, RefusesWhatDoesNotFit) {
  const auto refused = [](const char* kind, const std::vector<Tensor>& inputs) {
    std::vector<ConstTensor> in;
    for (const Tensor& tensor : inputs) in.push_back(tensor.in());
    Tensor output(DType::f32, {2, 3});
    const MutableTensor out[] = {output.out()};
    return !evaluate_op(batch_norm(kind), in, out).ok();
  };
  const Tensor source(DType::f32, {2, 3}), three(DType::f32, {3}), two(DType::f32, {2});
  EXPECT_FALSE(refused("BatchNormForwardTraining", {source, three, three}));
  EXPECT_TRUE(refused("BatchNormForwardTraining", {source, three}));
  EXPECT_TRUE(refused("BatchNormForwardTraining", {source, three, two}));
  EXPECT_TRUE(refused("BatchNormTrainingBackward", {source, three, three, three}));
  EXPECT_TRUE(refused("BatchNormTrainingBackward", {source, source, three}));
}

constexpr std::int64_t kMany = 4000;

struct Dropped {
  Values result, mask;
};
Dropped drop(std::int64_t seed, std::int64_t offset, double probability) {
  const Tensor source(DType::f32, {kMany}, Values(kMany, 3)), p(DType::f32, {}, {probability});
  const Tensor seeds(DType::s64, {}, {static_cast<double>(seed)}),
      offsets(DType::s64, {}, {static_cast<double>(offset)});
  std::vector<Tensor> out{{DType::f32, {kMany}}, {DType::u8, {kMany}}};
  evaluate(make_op(Dialect::onednn, "Dropout"), {source, seeds, offsets, p}, out);
  return {out[0].values(), out[1].values()};
}

TEST(Dropout, KeepsOrScales) {
  const Dropped dropped = drop(42, 7, 0.25);
  double kept = 0;
  for (std::size_t i = 0; i < kMany; ++i) {
    EXPECT_EQ(dropped.result[i], dropped.mask[i] != 0 ? 4 : 0);
    kept += dropped.mask[i];
  }
  // Six standard deviations of a binomial distribution.
  EXPECT_NEAR(kept / kMany, 0.75, 6 * std::sqrt(0.25 * 0.75 / kMany));
}

TEST(Dropout, IsAFunctionOfSeedAndOffset) {
  const Dropped once = drop(42, 7, 0.5);
  EXPECT_EQ(once.mask, drop(42, 7, 0.5).mask);
  EXPECT_NE(once.mask, drop(43, 7, 0.5).mask);
  EXPECT_NE(once.mask, drop(42, 8, 0.5).mask);
}

TEST(Dropout, AllOrNothing) {
  EXPECT_EQ(drop(1, 2, 0).result, Values(kMany, 3));
  EXPECT_EQ(drop(1, 2, 1).result, Values(kMany, 0));
}

/// The known answer of Philox 4x32-10 for a counter and a key of zeros begins 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
TEST(Dropout, DrawsPhilox) {
  const Tensor source(DType::f64, {4}, {1, 1, 1, 1}), zero(DType::s64, {}, {0});
  const Values words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  for (std::size_t i = 0; i < words.size(); ++i)
    for (const bool above : {false, true}) {
      const Tensor p(DType::f64, {}, {(words[i] + (above ? 1 : 0)) / 0x1p32});
      std::vector<Tensor> out{{DType::f64, {4}}, {DType::u8, {4}}};
      evaluate(make_op(Dialect::onednn, "Dropout"), {source, zero, zero, p}, out);
      EXPECT_EQ(out[1].at(static_cast<std::int64_t>(i)), above ? 0 : 1);
    }
}

}  // namespace
}  // namespace tenfold::graph
