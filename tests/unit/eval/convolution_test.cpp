// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and their backward ops as the reference computes them: hand-computed cases for each attribute, and for
// random ones plain loops over every index, written from the definition, with the gradients' defining property.
#include "graph/eval/convolution.hpp"

#include <gtest/gtest.h>

#include <random>

#include "graph/eval/bound.hpp"
#include "graph/eval/run.hpp"
#include "tests/unit/eval/tensors.hpp"

namespace tenfold::graph {
namespace {

using Values = std::vector<double>;
using Integers = std::vector<std::int64_t>;

struct Attributes {
  Integers strides{1}, begin{0}, end{0}, dilations{1};
  std::int64_t groups = 1;
  bool last = true;  ///< NXC and weights' spatial dims first
  std::vector<NamedAttribute> more{};
};

Op convolution(std::string kind, const Attributes& a) {
  const bool transposed = kind.rfind("ConvTranspose", 0) == 0;
  std::vector<NamedAttribute> attributes{{"strides", a.strides},
                                         {"pads_begin", a.begin},
                                         {"pads_end", a.end},
                                         {"dilations", a.dilations},
                                         {"groups", a.groups}};
  if (!a.last) {
    attributes.push_back({"data_format", std::string("NCX")});
    attributes.push_back({"weights_format", std::string(transposed ? "IOX" : "OIX")});
  }
  attributes.insert(attributes.end(), a.more.begin(), a.more.end());
  return make_op(Dialect::onednn, std::move(kind), std::move(attributes));
}

Tensor evaluated(const Op& op, const std::vector<Tensor>& inputs, DType dtype = DType::f32) {
  std::vector<ConstTensor> in;
  for (const Tensor& tensor : inputs) in.push_back(tensor.in());
  const Result<std::vector<Dims>> shapes = convolution_shapes(op, in);
  EXPECT_TRUE(shapes.ok()) << shapes.status().message();
  Tensor output(dtype, shapes.ok() ? shapes.value()[0] : Dims{0});
  const MutableTensor out[] = {output.out()};
  const Status status = evaluate_op(op, in, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return output;
}

void expect(const Op& op, const std::vector<Tensor>& inputs, const Dims& shape, const Values& expected) {
  const Tensor output = evaluated(op, inputs);
  EXPECT_EQ(output.desc().shape, shape);
  EXPECT_EQ(output.values(), expected);
}

const Tensor kRow(DType::f32, {1, 5, 1}, {1, 2, 3, 4, 5});
const Tensor kDifference(DType::f32, {2, 1, 1}, {-1, 10});

TEST(Convolution, IsACorrelation) {
  expect(convolution("Convolution", {}), {kRow, kDifference}, {1, 4, 1}, {19, 28, 37, 46});
}

TEST(Convolution, Strides) { expect(convolution("Convolution", {{2}}), {kRow, kDifference}, {1, 2, 1}, {19, 37}); }

TEST(Convolution, PadsAreZerosAndNegativeOnesLeaveOut) {
  expect(convolution("Convolution", {{1}, {1}, {1}}), {kRow, kDifference}, {1, 6, 1}, {10, 19, 28, 37, 46, -5});
  expect(convolution("Convolution", {{1}, {-1}, {-1}}), {kRow, kDifference}, {1, 2, 1}, {28, 37});
}

TEST(Convolution, Dilations) {
  expect(convolution("Convolution", {{1}, {0}, {0}, {3}}), {kRow, kDifference}, {1, 2, 1}, {39, 48});
}

TEST(Convolution, AutoPad) {
  const auto padded = [](const char* mode) {
    return convolution("Convolution", {{1}, {7}, {7}, {1}, 1, true, {{"auto_pad", std::string(mode)}}});
  };
  expect(padded("VALID"), {kRow, kDifference}, {1, 4, 1}, {19, 28, 37, 46});
  expect(padded("SAME_UPPER"), {kRow, kDifference}, {1, 5, 1}, {19, 28, 37, 46, -5});
  expect(padded("SAME_LOWER"), {kRow, kDifference}, {1, 5, 1}, {10, 19, 28, 37, 46});
}

TEST(Convolution, ChannelsGroupsAndBias) {
  // Two groups, of one input channel and two output channels each.
  const Tensor source(DType::f32, {1, 1, 2}, {3, 5}), weights(DType::f32, {1, 1, 4}, {1, 2, 10, 20});
  const Tensor bias(DType::f32, {4}, {100, 200, 300, 400});
  expect(convolution("Convolution", {{1}, {0}, {0}, {1}, 2}), {source, weights, bias}, {1, 1, 4}, {103, 206, 350, 500});
}

TEST(Convolution, BothLayoutsAreTheSame) {
  const Tensor source(DType::f32, {1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor weights(DType::f32, {1, 2, 1, 2}, {1, 10, 100, 1000});
  // Channels 1 2 3 4 and 5 6 7 8 of 2 by 2; the row of weights is 1 10 over the first, 100 1000 over the second.
  expect(convolution("Convolution", {{1, 1}, {0, 0}, {0, 0}, {1, 1}, 1, false}), {source, weights}, {1, 1, 2, 1},
         {6521, 8743});
  const Tensor source_last(DType::f32, {1, 2, 2, 2}, {1, 5, 2, 6, 3, 7, 4, 8});
  const Tensor weights_first(DType::f32, {1, 2, 2, 1}, {1, 100, 10, 1000});
  expect(convolution("Convolution", {{1, 1}, {0, 0}, {0, 0}, {1, 1}}), {source_last, weights_first}, {1, 2, 1, 1},
         {6521, 8743});
}

TEST(ConvTranspose, SpreadsEachElement) {
  expect(convolution("ConvTranspose", {{2}}), {Tensor(DType::f32, {1, 3, 1}, {1, 2, 3}), kDifference}, {1, 6, 1},
         {-1, 10, -2, 20, -3, 30});
  expect(convolution("ConvTranspose", {{1}, {1}, {0}}), {Tensor(DType::f32, {1, 3, 1}, {1, 2, 3}), kDifference},
         {1, 3, 1}, {8, 17, 30});
  expect(convolution("ConvTranspose", {{2}, {0}, {0}, {1}, 1, true, {{"output_padding", Integers{1}}}}),
         {Tensor(DType::f32, {1, 1, 1}, {1}), kDifference, Tensor(DType::f32, {1}, {7})}, {1, 3, 1}, {6, 17, 7});
}

TEST(ConvTranspose, GroupsHaveWeightsOfTheirOwn) {
  const Tensor source(DType::f32, {1, 2, 1}, {3, 5}), weights(DType::f32, {2, 2, 1}, {1, 2, 10, 20});
  expect(convolution("ConvTranspose", {{1}, {0}, {0}, {1}, 2, false}), {source, weights}, {1, 4, 1}, {3, 6, 50, 100});
}

TEST(ConvolutionBackward, ShapesMayBeTensors) {
  const Tensor gradient(DType::f32, {1, 2, 1}, {1, 2}), shape(DType::s32, {3}, {1, 5, 1});
  expect(convolution("ConvolutionBackwardData", {{2}}), {gradient, kDifference, shape}, {1, 5, 1}, {-1, 10, -2, 20, 0});
  const Tensor weights(DType::s32, {3}, {2, 1, 1});
  expect(convolution("ConvolutionBackwardWeights", {{2}}), {kRow, gradient, weights}, {2, 1, 1}, {7, 10});
}

/// Any element of a tensor by its batch, channel and position, whatever the layout.
struct Reader {
  const Tensor& tensor;
  bool last;
  double at(std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) const {
    const Dims& s = tensor.desc().shape;
    return tensor.at(last ? ((n * s[1] + y) * s[2] + x) * s[3] + c : ((n * s[1] + c) * s[2] + y) * s[3] + x);
  }
};

Tensor random_tensor(std::mt19937& random, Dims shape) {
  std::uniform_int_distribution<int> any(-4, 4);
  Tensor tensor(DType::f32, std::move(shape));
  for (std::int64_t i = 0; i < numel(tensor.desc().shape).value(); ++i) tensor.set(i, any(random));
  return tensor;
}

double dot(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < numel(a.desc().shape).value(); ++i) sum += a.at(i) * b.at(i);
  return sum;
}

struct Case {
  Attributes attributes;
  std::int64_t inputs, outputs;  ///< channels of a group
};

Case random_case(std::mt19937& random) {
  const auto any = [&](int least, int most) {
    return std::int64_t{std::uniform_int_distribution<int>(least, most)(random)};
  };
  Case c{{{any(1, 3), any(1, 2)}, {any(-1, 2), any(0, 2)}, {any(0, 2), any(-1, 2)}, {any(1, 2), any(1, 3)}},
         any(1, 5),
         any(1, 5)};
  c.attributes.groups = any(1, 3);
  c.attributes.last = any(0, 1) != 0;
  return c;
}

constexpr std::int64_t kBatch = 2, kHeight = 9, kWidth = 8, kTall = 2, kWide = 3;

Dims data_of(const Case& c, std::int64_t channels, std::int64_t height, std::int64_t width) {
  return c.attributes.last ? Dims{kBatch, height, width, channels} : Dims{kBatch, channels, height, width};
}
Dims weights_of(const Case& c) {
  const std::int64_t outputs = c.outputs * c.attributes.groups;
  return c.attributes.last ? Dims{kTall, kWide, c.inputs, outputs} : Dims{outputs, c.inputs, kTall, kWide};
}

/// The definition, index by index.
Values plain(const Case& c, const Tensor& source, const Tensor& weights, const Dims& shape) {
  const Attributes& a = c.attributes;
  const Reader x{source, a.last};
  const std::int64_t outputs = c.outputs * a.groups;
  Tensor result(DType::f32, shape);
  const std::int64_t height = a.last ? shape[1] : shape[2], width = a.last ? shape[2] : shape[3];
  for (std::int64_t n = 0; n < kBatch; ++n)
    for (std::int64_t o = 0; o < outputs; ++o)
      for (std::int64_t i = 0; i < height * width; ++i) {
        double sum = 0;
        const std::int64_t oy = i / width, ox = i % width;
        for (std::int64_t k = 0; k < kTall * kWide * c.inputs; ++k) {
          const std::int64_t ky = k / c.inputs / kWide, kx = k / c.inputs % kWide, channel = k % c.inputs;
          const std::int64_t y = oy * a.strides[0] - a.begin[0] + ky * a.dilations[0];
          const std::int64_t z = ox * a.strides[1] - a.begin[1] + kx * a.dilations[1];
          if (y < 0 || y >= kHeight || z < 0 || z >= kWidth) continue;
          const double w = weights.at(a.last ? ((ky * kWide + kx) * c.inputs + channel) * outputs + o
                                             : ((o * c.inputs + channel) * kTall + ky) * kWide + kx);
          sum += w * x.at(n, o / c.outputs * c.inputs + channel, y, z);
        }
        result.set(a.last ? (n * height * width + i) * outputs + o : (n * outputs + o) * height * width + i, sum);
      }
  return result.values();
}

/// Sums of small integers are exact, so that equalities below are exact too.
TEST(Convolution, EqualsPlainLoopsAndItsGradientsAreItsGradients) {
  constexpr unsigned kSeed = 11;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  for (int i = 0; i < 60; ++i) {
    const Case c = random_case(random);
    const std::int64_t inputs = c.inputs * c.attributes.groups;
    const Tensor source = random_tensor(random, data_of(c, inputs, kHeight, kWidth));
    const Tensor weights = random_tensor(random, weights_of(c));
    const Tensor output = evaluated(convolution("Convolution", c.attributes), {source, weights});
    ASSERT_EQ(output.values(), plain(c, source, weights, output.desc().shape)) << "case " << i;

    // <gradient, f(x, w)> is linear in x and in w; what stands beside each of them are the gradients.
    const Tensor gradient = random_tensor(random, output.desc().shape);
    const double whole = dot(gradient, output);
    Attributes back = c.attributes;
    back.more = {{"dst_shape", source.desc().shape}};
    const Tensor by_source = evaluated(convolution("ConvolutionBackwardData", back), {gradient, weights});
    EXPECT_EQ(dot(by_source, source), whole) << "case " << i;
    back.more = {{"weights_shape", weights.desc().shape}};
    const Tensor by_weights = evaluated(convolution("ConvolutionBackwardWeights", back), {source, gradient});
    EXPECT_EQ(dot(by_weights, weights), whole) << "case " << i;

    // A transposed convolution is the gradient by the source, but for what the strides leave over.
    Attributes spread = c.attributes;
    Integers left;
    for (const std::size_t d : {0, 1}) {
      const std::int64_t extent = d == 0 ? kHeight : kWidth,
                         reach = ((d == 0 ? kTall : kWide) - 1) * spread.dilations[d] + 1;
      left.push_back((extent + spread.begin[d] + spread.end[d] - reach) % spread.strides[d]);
    }
    spread.more = {{"output_padding", left}};
    EXPECT_EQ(evaluated(convolution("ConvTranspose", spread), {gradient, weights}).values(), by_source.values());
    EXPECT_EQ(evaluated(convolution("ConvTransposeBackwardData", c.attributes), {source, weights}).values(),
              output.values());
    EXPECT_EQ(evaluated(convolution("ConvTransposeBackwardWeights", back), {gradient, source}).values(),
              by_weights.values());
  }
}

TEST(Convolution, NarrowFloatsAreRoundedOnce) {
  const Tensor source(DType::bf16, {1, 3, 1}, {256, 1, 0x1p-20}), weights(DType::bf16, {3, 1, 1}, {1, 1, 1});
  EXPECT_EQ(evaluated(convolution("Convolution", {}), {source, weights}, DType::bf16).values(), Values{258});
}

TEST(Convolution, RefusesWhatDoesNotFit) {
  const auto refused = [](const Op& op, const std::vector<Tensor>& inputs) {
    std::vector<ConstTensor> in;
    for (const Tensor& tensor : inputs) in.push_back(tensor.in());
    return !convolution_shapes(op, in).ok();
  };
  const Tensor two(DType::f32, {2, 2, 1}), flat(DType::f32, {2, 2});
  EXPECT_TRUE(refused(convolution("Convolution", {}), {kRow}));
  EXPECT_TRUE(refused(convolution("Convolution", {}), {kRow, flat}));
  EXPECT_TRUE(refused(convolution("Convolution", {}), {flat, flat}));
  EXPECT_TRUE(refused(convolution("Convolution", {}), {kRow, two}));
  EXPECT_TRUE(refused(convolution("Convolution", {{0}}), {kRow, kDifference}));
  EXPECT_TRUE(refused(convolution("Convolution", {{1, 1}, {0, 0}, {0, 0}, {1, 1}, 0}), {kRow, kDifference}));
  EXPECT_TRUE(refused(convolution("Convolution", {{1}, {0}, {0}, {7}}), {kRow, kDifference}));
  EXPECT_TRUE(refused(convolution("Convolution", {}), {kRow, kDifference, Tensor(DType::f32, {2})}));
  EXPECT_TRUE(refused(convolution("ConvTranspose", {{1}, {9}}), {kRow, kDifference}));
  EXPECT_TRUE(refused(convolution("ConvolutionBackwardWeights", {}), {kRow, kRow}));
}

TEST(ConvolutionBound, CountsTapsAndChannels) {
  const Tensor source(DType::f32, {1, 3, 1}, {1, 1, 1}), weights(DType::f32, {2, 1, 1}, {3, -4});
  const ConstTensor inputs[] = {source.in(), weights.in()};
  const Bounds input_bounds[] = {{}, {}};
  const Op op = convolution("Convolution", {});
  const Result<std::vector<Bounds>> bounds = bound_convolution(op, inputs, input_bounds, {});
  ASSERT_TRUE(bounds.ok());
  ASSERT_EQ(bounds.value()[0].size(), 2U);
  EXPECT_NEAR(bounds.value()[0][0], 4 * 0x1p-24 * 7, 1e-12);
}

}  // namespace
}  // namespace tenfold::graph
