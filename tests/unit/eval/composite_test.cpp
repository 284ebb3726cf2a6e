// SPDX-License-Identifier: Apache-2.0
//
// Softmax, norms and their backward ops as the reference computes them, against values computed with 40 digits by
// mpmath; their special rows; and what they refuse.
#include "graph/eval/composite.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/unit/eval/tensors.hpp"

namespace tenfold::graph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

using Numbers = std::vector<double>;

/// Evaluates with outputs of f32 and the given shapes; each expected number rounds to what was computed.
void expect(const Op& op, const std::vector<Tensor>& inputs, const std::vector<std::pair<Dims, Numbers>>& expected) {
  SCOPED_TRACE(op.kind);
  std::vector<ConstTensor> in;
  for (const Tensor& tensor : inputs) in.push_back(tensor.in());
  std::vector<Tensor> results;
  for (const auto& [shape, numbers] : expected) results.emplace_back(DType::f32, shape);
  std::vector<MutableTensor> out;
  for (Tensor& tensor : results) out.push_back(tensor.out());
  const Status status = evaluate_op(op, in, out);
  ASSERT_TRUE(status.ok()) << status.message();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    Numbers rounded;
    for (const double number : expected[i].second) rounded.push_back(static_cast<double>(static_cast<float>(number)));
    EXPECT_TRUE(same_values(results[i].values(), rounded)) << "output " << i;
  }
}

Op onednn(std::string kind, std::vector<NamedAttribute> attributes = {}) {
  return make_op(Dialect::onednn, std::move(kind), std::move(attributes));
}

Op onnx(std::string kind, int opset, std::vector<NamedAttribute> attributes = {}) {
  Op op = make_op(Dialect::onnx, std::move(kind), std::move(attributes));
  op.opset = opset;
  return op;
}

NamedAttribute axis(std::int64_t value) { return {"axis", value}; }
const NamedAttribute kEpsilon{"epsilon", 0.25};

Tensor f32(Dims shape, const Numbers& numbers) { return {DType::f32, std::move(shape), numbers}; }

TEST(Softmax, OfARow) {
  const Tensor x = f32({4}, {1, 2.5, -3, 0.125});
  const Numbers softmax{0.1690083697702301, 0.75744296359489443, 0.0030954962698851926, 0.070453170364990284};
  const Numbers logarithm{-1.7778070400177654, -0.27780704001776544, -5.7778070400177654, -2.6528070400177654};
  expect(onednn("SoftMax", {axis(0)}), {x}, {{{4}, softmax}, {{1}, {2.7778070400177654}}});
  expect(onednn("LogSoftmax"), {x}, {{{4}, logarithm}});
  expect(onnx("Softmax", 13), {x}, {{{4}, softmax}});
  expect(onnx("LogSoftmax", 11, {axis(0)}), {x}, {{{4}, logarithm}});
}

TEST(Softmax, OfLargeNumbersDoesNotOverflow) {
  const Tensor x = f32({3}, {1000, 1000.5, 999});
  expect(onednn("SoftMax", {axis(0)}), {x},
         {{{3}, {0.33149896042409151, 0.54654938726617964, 0.12195165230972886}}, {{1}, {1001.1041306053367}}});
}

TEST(Softmax, OfAMiddleAxisAndOfStridedTensors) {
  const Numbers columns{0.11419519938459448,   0.047314155221824037, 0.84379473448133947,
                        0.0023556330807966801, 0.042010066134066051, 0.95033021169737928};
  expect(onednn("SoftMax", {axis(-2)}), {f32({3, 2}, {1, 2, 3, -1, 0, 5})},
         {{{3, 2}, columns}, {{1, 2}, {3.1698460195562856, 5.0509457635229985}}});
  Tensor strided(DType::f32, {3, 2}, {}, {1, 5});
  for (std::int64_t i = 0; i < 6; ++i)
    strided.set(i, std::vector<double>{1, 2, 3, -1, 0, 5}[static_cast<std::size_t>(i)]);
  expect(onnx("Softmax", 13, {axis(0)}), {strided}, {{{3, 2}, columns}});
}

TEST(Softmax, BeforeVersion13TakesAllDimsFromTheAxisOn) {
  const Tensor x = f32({1, 2, 2}, {1, 3, -1, 2});
  const Numbers flattened{0.088946817297404296, 0.65723302283185547, 0.012037642711939451, 0.24178251715880078};
  expect(onnx("Softmax", 11), {x}, {{{1, 2, 2}, flattened}});
  expect(onnx("Softmax", 1), {x}, {{{1, 2, 2}, flattened}});
  const Numbers by_row{0.11920292202211755, 0.88079707797788243, 0.047425873177566781, 0.95257412682243322};
  expect(onnx("Softmax", 13), {x}, {{{1, 2, 2}, by_row}});
}

TEST(Softmax, SpecialRows) {
  const Tensor low = f32({2}, {-kInfinity, -kInfinity});
  const Op zeroes = onednn("SoftMax", {axis(0), {"mode", std::string("inf_as_zero")}});
  expect(onednn("SoftMax", {axis(0)}), {low}, {{{2}, {kNan, kNan}}, {{1}, {kNan}}});
  expect(zeroes, {low}, {{{2}, {0, 0}}, {{1}, {-kInfinity}}});
  expect(onnx("Softmax", 13), {low}, {{{2}, {kNan, kNan}}});
  const Tensor one_low = f32({2}, {-kInfinity, 3});
  expect(zeroes, {one_low}, {{{2}, {0, 1}}, {{1}, {3}}});
  expect(onednn("LogSoftmax"), {one_low}, {{{2}, {-kInfinity, 0}}});
  const Tensor high = f32({2}, {kInfinity, 3});
  expect(zeroes, {high}, {{{2}, {kNan, kNan}}});
  expect(zeroes, {f32({2}, {kNan, -kInfinity})}, {{{2}, {kNan, kNan}}});
  expect(onednn("SoftMax"), {f32({2, 0}, {})}, {{{2, 0}, {}}, {{2, 1}, {-kInfinity, -kInfinity}}});
}

TEST(Softmax, Backward) {
  const Tensor gradient = f32({3}, {0.5, -1, 2});
  expect(onednn("SoftMaxBackward", {axis(0)}), {gradient, f32({3}, {0.25, 0.5, 0.25})},
         {{{3}, {0.09375, -0.5625, 0.46875}}});
  expect(onednn("LogSoftmaxBackward"), {gradient, f32({3}, {-1, -0.5, -2})},
         {{{3}, {-0.051819161757163482, -1.9097959895689501, 1.796997075145081}}});
}

TEST(Hardmax, TakesTheFirstOfEquals) {
  expect(onnx("Hardmax", 13), {f32({2, 3}, {1, 3, 3, -1, kNan, 5})}, {{{2, 3}, {0, 1, 0, 0, 1, 0}}});
  expect(onnx("Hardmax", 11, {axis(0)}), {f32({2, 3}, {1, 3, 3, -1, 2, 5})}, {{{2, 3}, {0, 0, 0, 0, 0, 1}}});
}

const Numbers kRow{1, 2, 4, 8};
const Numbers kNormal{-1.0083683467310324, -0.64168894791974791, 0.09166984970282113, 1.5583874449479592};

TEST(Norm, OfALayer) {
  const Tensor x = f32({1, 4}, kRow);
  const Tensor gamma = f32({4}, {2, -1, 0.5, 3});
  const Tensor beta = f32({4}, {1, 0, -2, 4});
  const Numbers affine{-1.0167366934620648, 0.64168894791974791, -1.9541650751485894, 8.6751623348438776};
  expect(onednn("LayerNorm", {{"use_affine", false}, kEpsilon}), {x},
         {{{1, 4}, kNormal}, {{1}, {3.75}}, {{1}, {7.1875}}});
  expect(onednn("LayerNorm", {kEpsilon}), {x, gamma, beta}, {{{1, 4}, affine}});
  expect(onnx("LayerNormalization", 17, {kEpsilon}), {x, gamma, beta},
         {{{1, 4}, affine}, {{1, 1}, {3.75}}, {{1, 1}, {0.36667939881128452}}});
  expect(onnx("LayerNormalization", 17, {kEpsilon}), {x, f32({}, {1})}, {{{1, 4}, kNormal}});
  for (const Dims& shape : {Dims{}, Dims{1}, Dims{1, 1}})
    expect(onnx("LayerNormalization", 17, {kEpsilon}), {x, f32({4}, {1, 1, 1, 1}), f32(shape, {0})},
           {{{1, 4}, kNormal}});
}

TEST(Norm, OfMeanSquares) {
  const Tensor x = f32({2, 2}, kRow);
  const Numbers whole{0.21566554640687683, 0.43133109281375366, 0.86266218562750733, 1.7253243712550147};
  expect(onednn("RMSNorm", {{"begin_norm_axis", std::int64_t{0}}, kEpsilon}), {x}, {{{2, 2}, whole}});
  Numbers twice = whole;
  for (double& number : twice) number *= 2;
  expect(onnx("RMSNormalization", 23, {axis(-2), kEpsilon}), {x, f32({2, 2}, {2, 2, 2, 2})}, {{{2, 2}, twice}});
}

TEST(Norm, OfGroupsAndChannels) {
  const Tensor x = f32({1, 4, 2}, {1, 2, 4, 8, 0, -1, 3, 5});
  const Tensor scale = f32({4}, {1, 2, 3, 4});
  const Tensor bias = f32({4}, {0, 1, 0, -1});
  const Numbers by_channel{-1.0083683467310324, -0.64168894791974791, 1.1833396994056423, 4.1167748898959184,
                           -2.1545545393788236, -3.3857285618810085,  1.0519567041703082, 4.3350874308428013};
  const NamedAttribute groups{"groups", std::int64_t{2}};
  const NamedAttribute num_groups{"num_groups", std::int64_t{2}};
  const NamedAttribute ncx{"data_format", std::string("NCX")};
  expect(onednn("GroupNorm", {groups, kEpsilon, ncx}), {x, scale, bias},
         {{{1, 4, 2}, by_channel}, {{1, 2}, {3.75, 1.75}}, {{1, 2}, {7.1875, 5.6875}}});
  expect(onnx("GroupNormalization", 21, {num_groups, kEpsilon}), {x, scale, bias}, {{{1, 4, 2}, by_channel}});
  expect(onnx("GroupNormalization", 18, {num_groups, kEpsilon}), {x, scale, bias}, {{{1, 4, 2}, by_channel}});
  const Numbers by_group{-2.0167366934620648, -1.2833778958394958, 0.18333969940564226,  3.1167748898959184,
                         0.71818484645960787, 1.1285761872936695,  -0.51298917604257705, -1.3337718577107003};
  expect(onnx("GroupNormalization", 18, {num_groups, kEpsilon}), {x, f32({2}, {2, -1}), f32({2}, {0, 0})},
         {{{1, 4, 2}, by_group}});
  // The same with channels last: element (position, channel).
  const Tensor last = f32({1, 2, 4}, {1, 4, 0, 3, 2, 8, -1, 5});
  Numbers turned;
  for (const std::size_t i : {0, 2, 4, 6, 1, 3, 5, 7}) turned.push_back(by_channel[i]);
  expect(onednn("GroupNorm", {groups, kEpsilon}), {last, scale, bias}, {{{1, 2, 4}, turned}});
  Numbers instances = by_group;
  for (std::size_t i = 0; i < 4; ++i) instances[i] += 1;
  expect(onnx("InstanceNormalization", 6, {kEpsilon}),
         {f32({1, 2, 4}, {1, 2, 4, 8, 0, -1, 3, 5}), f32({2}, {2, -1}), f32({2}, {1, 0})}, {{{1, 2, 4}, instances}});
}

TEST(Norm, OfBatchesTakesStatsThatAreGiven) {
  const Tensor x = f32({1, 2, 2}, kRow);
  const std::vector<Tensor> inputs{x, f32({2}, {2, 3}), f32({2}, {-1, 0.5}), f32({2}, {1.5, 3}), f32({2}, {4, 0.75})};
  const Numbers expected{-1.4850712500726659, -0.51492874992733405, 3.5, 15.5};
  expect(onnx("BatchNormalization", 15, {kEpsilon}), inputs, {{{1, 2, 2}, expected}});
  expect(onednn("BatchNormInference", {kEpsilon, {"data_format", std::string("NCX")}}), inputs,
         {{{1, 2, 2}, expected}});
  std::vector<Tensor> by_element{x};
  for (const Numbers& numbers :
       {Numbers{2, 2, 3, 3}, Numbers{-1, -1, 0.5, 0.5}, Numbers{1.5, 1.5, 3, 3}, Numbers{4, 4, 0.75, 0.75}})
    by_element.push_back(f32({2, 2}, numbers));
  expect(onnx("BatchNormalization", 7, {kEpsilon, {"spatial", std::int64_t{0}}}), by_element, {{{1, 2, 2}, expected}});
}

TEST(Norm, OfAnAxisByItsLength) {
  const Tensor x = f32({2, 4}, {1, 2, 4, 8, 0, -0.0, 0, 0});
  const Numbers l1{1.0 / 15, 2.0 / 15, 4.0 / 15, 8.0 / 15, 0, -0.0, 0, 0};
  const Numbers l2{0.10846522890932809, 0.21693045781865617, 0.43386091563731234, 0.86772183127462469, 0, -0.0, 0, 0};
  expect(onnx("LpNormalization", 1, {{"p", std::int64_t{1}}}), {x}, {{{2, 4}, l1}});
  expect(onnx("LpNormalization", 22), {x}, {{{2, 4}, l2}});
}

TEST(Norm, OfMeanAndVarianceAddsEpsilonToTheDeviation) {
  const Numbers expected{-1.0257552886817365, -0.65275336552474138, 0.093250480789248769, 1.5852581734172291};
  expect(onnx("MeanVarianceNormalization", 13), {f32({1, 1, 2, 2}, kRow)}, {{{1, 1, 2, 2}, expected}});
  expect(onnx("MeanVarianceNormalization", 9, {{"axes", std::vector<std::int64_t>{-1}}}), {f32({4}, kRow)},
         {{{4}, expected}});
}

TEST(Norm, Backward) {
  const std::vector<Tensor> inputs{f32({2, 4}, {1, 2, 4, 8, 0, -1, 3, 5}),
                                   f32({2, 4}, {0.5, -1, 2, 1, 1, 1, -2, 0.25}),
                                   f32({2}, {3.75, 1.75}),
                                   f32({2}, {7.1875, 5.6875}),
                                   f32({4}, {2, -1, 0.5, 3}),
                                   f32({4}, {0, 0, 0, 0})};
  const Numbers source{0.10476554251750986,  0,
                       -0.20953108503501972, 0.10476554251750986,
                       0.7570640261175716,   -0.46655015589556481,
                       -0.49678951785175883, 0.20627564762975203};
  const Numbers gamma{-1.2223690198251241, -0.4868872393739216, -0.84263865267951184, 1.8918304093756343};
  std::vector<ConstTensor> in;
  for (const Tensor& tensor : inputs) in.push_back(tensor.in());
  Tensor diff_src(DType::f64, {2, 4}), diff_gamma(DType::f64, {4}), diff_beta(DType::f64, {4});
  const MutableTensor out[] = {diff_src.out(), diff_gamma.out(), diff_beta.out()};
  ASSERT_TRUE(evaluate_op(onednn("LayerNormBackward", {kEpsilon}), in, out).ok());
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(diff_src.values()[i], source[i], 1e-15);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(diff_gamma.values()[i], gamma[i], 1e-15);
  EXPECT_EQ(diff_beta.values(), (Numbers{1.5, 0, 0, 1.25}));
}

TEST(Norm, SpecialRows) {
  // One infinity makes a mean infinite, and all of its row NaN; a mean square leaves 0.
  const Tensor x = f32({2, 2}, {1, kInfinity, 2, 4});
  expect(onnx("LayerNormalization", 17, {{"epsilon", 0.0}}), {x, f32({2}, {1, 1})}, {{{2, 2}, {kNan, kNan, -1, 1}}});
  expect(onednn("RMSNorm", {{"epsilon", 0.0}}), {f32({1, 2}, {-1, kInfinity})}, {{{1, 2}, {-0.0, kNan}}});
  // A constant row has no variance; epsilon keeps it from 0 / 0.
  expect(onednn("LayerNorm", {{"use_affine", false}, {"keep_stats", false}}), {f32({1, 3}, {1e30, 1e30, 1e30})},
         {{{1, 3}, {0, 0, 0}}});
}

TEST(GlobalPool, ReducesAllButTwoDims) {
  const Tensor x = f32({1, 2, 2, 2}, {1, 2, 4, 8, 0, -1, 3, 5});
  expect(onnx("GlobalMaxPool", 1), {x}, {{{1, 2, 1, 1}, {8, 5}}});
  expect(onnx("GlobalAveragePool", 22), {x}, {{{1, 2, 1, 1}, {3.75, 1.75}}});
}

TEST(Composite, RefusesWhatDoesNotFit) {
  const Tensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor two = f32({2}, {1, 1});
  Tensor y(DType::f32, {2, 3});
  const auto refuses = [&](const Op& op, const std::vector<ConstTensor>& inputs) {
    const MutableTensor out[] = {y.out()};
    return !evaluate_op(op, inputs, out).ok();
  };
  EXPECT_TRUE(refuses(onednn("SoftMax", {axis(2)}), {x.in()}));
  EXPECT_TRUE(refuses(onednn("SoftMax"), {x.in(), x.in()}));
  EXPECT_TRUE(refuses(onednn("SoftMaxBackward"), {x.in(), two.in()}));
  EXPECT_TRUE(refuses(onednn("LayerNorm", {{"begin_norm_axis", std::int64_t{-3}}}), {x.in()}));
  EXPECT_TRUE(refuses(onednn("LayerNorm"), {x.in(), two.in(), two.in()}));
  EXPECT_TRUE(refuses(onednn("GroupNorm", {{"groups", std::int64_t{2}}}), {x.in()}));
  EXPECT_TRUE(refuses(onednn("GroupNorm", {{"groups", std::int64_t{0}}}), {x.in()}));
  EXPECT_TRUE(refuses(onnx("BatchNormalization", 15), {x.in(), two.in(), two.in(), two.in(), two.in()}));
  EXPECT_TRUE(refuses(onnx("BatchNormalization", 15), {x.in()}));
  EXPECT_TRUE(refuses(onednn("LayerNormBackward"), {x.in(), x.in(), x.in(), two.in()}));
  EXPECT_TRUE(refuses(onnx("MeanVarianceNormalization", 13), {x.in()}));
  Tensor narrow(DType::f32, {2, 2});
  const ConstTensor in[] = {x.in()};
  const MutableTensor out[] = {narrow.out()};
  EXPECT_FALSE(evaluate_op(onednn("SoftMax"), in, out).ok());
  const MutableTensor too_many[] = {y.out(), y.out()};
  EXPECT_FALSE(evaluate_op(onednn("LogSoftmax"), in, too_many).ok());
}

}  // namespace
}  // namespace tenfold::graph
