// SPDX-License-Identifier: Apache-2.0
//
// Pools and interpolations as the reference computes them: hand-computed cases for each attribute, and of the backward
// ops that are linear the property that makes them gradients.
#include "graph/eval/pool.hpp"

#include <gtest/gtest.h>

#include <random>

#include "graph/eval/bound.hpp"
#include "graph/eval/interpolate.hpp"
#include "graph/eval/run.hpp"
#include "tests/unit/eval/tensors.hpp"

namespace tenfold::graph {
namespace {

using Values = std::vector<double>;
using Integers = std::vector<std::int64_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Attributes {
  Integers kernel{2}, strides{1}, begin{0}, end{0};
  std::vector<NamedAttribute> more{};
};

Op pool(std::string kind, const Attributes& a) {
  std::vector<NamedAttribute> attributes{
      {"kernel", a.kernel}, {"strides", a.strides}, {"pads_begin", a.begin}, {"pads_end", a.end}};
  attributes.insert(attributes.end(), a.more.begin(), a.more.end());
  return make_op(Dialect::onednn, std::move(kind), std::move(attributes));
}
const NamedAttribute kChannelsSecond{"data_format", std::string("NCX")};
const NamedAttribute kCeil{"rounding_type", std::string("ceil")};
const NamedAttribute kExclude{"exclude_pad", true};
const NamedAttribute kInclude{"exclude_pad", false};

void expect(const Op& op, const std::vector<Tensor>& inputs, Tensor output, const Values& expected) {
  std::vector<ConstTensor> in;
  for (const Tensor& tensor : inputs) in.push_back(tensor.in());
  const MutableTensor out[] = {output.out()};
  const Status status = evaluate_op(op, in, out);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(same_values(output.values(), expected)) << ::testing::PrintToString(output.values());
}

const Tensor kRow(DType::f32, {1, 5, 1}, {1, 4, 2, 8, 3});

TEST(MaxPool, WindowsStridesAndPads) {
  expect(pool("MaxPool", {}), {kRow}, {DType::f32, {1, 4, 1}}, {4, 4, 8, 8});
  expect(pool("MaxPool", {{2}, {2}}), {kRow}, {DType::f32, {1, 2, 1}}, {4, 8});
  expect(pool("MaxPool", {{2}, {2}, {0}, {0}, {kCeil}}), {kRow}, {DType::f32, {1, 3, 1}}, {4, 8, 3});
  expect(pool("MaxPool", {{2}, {1}, {0}, {0}, {{"dilations", Integers{3}}}}), {kRow}, {DType::f32, {1, 2, 1}}, {8, 4});
  expect(pool("MaxPool", {{2}, {1}, {1}, {-1}}), {kRow}, {DType::f32, {1, 4, 1}}, {1, 4, 4, 8});
  expect(pool("MaxPool", {{2}, {2}, {}, {}, {{"auto_pad", std::string("SAME_LOWER")}}}), {kRow},
         {DType::f32, {1, 3, 1}}, {1, 4, 8});
}

TEST(MaxPool, PadsAreNoZeros) {
  const Tensor negative(DType::f32, {1, 2, 1}, {-3, -5});
  expect(pool("MaxPool", {{2}, {1}, {1}, {1}}), {negative}, {DType::f32, {1, 3, 1}}, {-3, -3, -5});
  expect(pool("MaxPool", {{1}, {1}, {1}, {0}}), {negative}, {DType::f32, {1, 3, 1}}, {-kInfinity, -3, -5});
}

TEST(MaxPool, NansAndZeros) {
  const Tensor special(DType::f32, {1, 5, 1}, {std::nan(""), 1, -0.0, 0.0, -0.0});
  expect(pool("MaxPool", {}), {special}, {DType::f32, {1, 4, 1}}, {std::nan(""), 1, 0.0, 0.0});
}

TEST(MaxPool, BothLayouts) {
  const Tensor source(DType::bf16, {1, 2, 2, 2}, {1, 2, 3, 4, 8, 7, 6, 5});
  expect(pool("MaxPool", {{2, 1}, {1, 1}, {0, 0}, {0, 0}, {kChannelsSecond}}), {source}, {DType::bf16, {1, 2, 1, 2}},
         {3, 4, 8, 7});
  expect(pool("MaxPool", {{2, 1}, {1, 1}, {0, 0}, {0, 0}}), {source}, {DType::bf16, {1, 1, 2, 2}}, {8, 7, 6, 5});
}

TEST(MaxPoolBackward, GoesToTheFirstOfEquals) {
  const Tensor source(DType::f32, {1, 4, 1}, {2, 7, 7, 1}), gradient(DType::f32, {1, 3, 1}, {1, 10, 100});
  expect(pool("MaxPoolBackward", {}), {source, gradient}, {DType::f32, {1, 4, 1}}, {0, 11, 100, 0});
  // How the forward op rounded, the gradient tells.
  const Tensor three(DType::f32, {1, 3, 1}, {1, 10, 100});
  expect(pool("MaxPoolBackward", {{2}, {2}}), {kRow, three}, {DType::f32, {1, 5, 1}}, {0, 1, 0, 10, 100});
}

TEST(AvgPool, PadsCountOrNot) {
  expect(pool("AvgPool", {{2}, {2}, {1}, {0}, {kInclude}}), {kRow}, {DType::f32, {1, 3, 1}}, {0.5, 3, 5.5});
  expect(pool("AvgPool", {{2}, {2}, {1}, {0}, {kExclude}}), {kRow}, {DType::f32, {1, 3, 1}}, {1, 3, 5.5});
}

TEST(AvgPool, OfTwoDims) {
  const Tensor source(DType::f32, {1, 1, 2, 3}, {1, 2, 3, 5, 6, 7});
  expect(pool("AvgPool", {{2, 2}, {1, 1}, {0, 0}, {0, 0}, {kChannelsSecond, kInclude}}), {source},
         {DType::f32, {1, 1, 1, 2}}, {3.5, 4.5});
  expect(pool("AvgPool", {{2, 2}, {2, 2}, {1, 1}, {1, 0}, {kChannelsSecond, kExclude}}), {source},
         {DType::f32, {1, 1, 2, 2}}, {1, 2.5, 5, 6.5});
}

TEST(AvgPoolBackward, SpreadsEachGradient) {
  const NamedAttribute shape{"src_shape", Integers{1, 5, 1}};
  const Tensor gradient(DType::f32, {1, 3, 1}, {2, 4, 8});
  expect(pool("AvgPoolBackward", {{2}, {2}, {1}, {0}, {kInclude, shape}}), {gradient}, {DType::f32, {1, 5, 1}},
         {1, 2, 2, 4, 4});
  expect(pool("AvgPoolBackward", {{2}, {2}, {1}, {0}, {kExclude, shape}}), {gradient}, {DType::f32, {1, 5, 1}},
         {2, 2, 2, 4, 4});
  const Tensor given(DType::s32, {3}, {1, 5, 1});
  expect(pool("AvgPoolBackward", {{2}, {2}, {1}, {0}, {kExclude}}), {gradient, given}, {DType::f32, {1, 5, 1}},
         {2, 2, 2, 4, 4});
}

TEST(Pools, RefuseWhatDoesNotFit) {
  const auto refused = [](const Op& op, const std::vector<Tensor>& inputs) {
    std::vector<ConstTensor> in;
    for (const Tensor& tensor : inputs) in.push_back(tensor.in());
    return !pool_shapes(op, in).ok();
  };
  const Tensor flat(DType::f32, {2, 2});
  EXPECT_TRUE(refused(pool("MaxPool", {}), {flat}));
  EXPECT_TRUE(refused(pool("MaxPool", {{6}}), {kRow}));
  EXPECT_TRUE(refused(pool("MaxPool", {{0}}), {kRow}));
  EXPECT_TRUE(refused(pool("MaxPool", {{2, 2}, {1, 1}, {0, 0}, {0, 0}}), {kRow}));
  EXPECT_TRUE(refused(pool("MaxPool", {{2}, {0}}), {kRow}));
  EXPECT_TRUE(refused(pool("MaxPoolBackward", {}), {kRow}));
  EXPECT_TRUE(refused(pool("MaxPoolBackward", {}), {kRow, kRow}));
  EXPECT_TRUE(refused(pool("AvgPoolBackward", {{2}, {2}, {0}, {0}, {kExclude}}), {kRow}));
}

TEST(PoolBound, OfMaximaIsTheGreatestOfTheWindow) {
  const Tensor source(DType::f64, {1, 3, 1}, {1, 2, 3});
  const ConstTensor in[] = {source.in()};
  Tensor result(DType::f64, {1, 2, 1});
  const MutableTensor out[] = {result.out()};
  const Bounds errors[] = {{0.25, 0.5, 0}};
  const Result<std::vector<Bounds>> bounds = bound_max_pool(pool("MaxPool", {}), in, errors, out);
  ASSERT_TRUE(bounds.ok());
  EXPECT_NEAR(bounds.value()[0][0], 0.5, 1e-9);
  EXPECT_NEAR(bounds.value()[0][1], 0.5, 1e-9);
  const Bounds exact[] = {{}};
  EXPECT_TRUE(bound_max_pool(pool("MaxPool", {}), in, exact, out).value()[0].empty());
}

TEST(PoolBound, OfAveragesIsTheAverage) {
  const Tensor source(DType::f64, {1, 3, 1}, {1, 2, 3});
  const ConstTensor in[] = {source.in()};
  const Bounds errors[] = {{0.25, 0.5, 0}};
  const Result<std::vector<Bounds>> bounds =
      bound_average_pool(pool("AvgPool", {{2}, {1}, {0}, {0}, {kInclude}}), in, errors, {});
  ASSERT_TRUE(bounds.ok());
  EXPECT_NEAR(bounds.value()[0][0], 0.375, 1e-9);
  EXPECT_NEAR(bounds.value()[0][1], 0.25, 1e-9);
}

Op interpolate(const char* mode, NamedAttribute extent, std::vector<NamedAttribute> more = {}) {
  more.push_back({"mode", std::string(mode)});
  more.push_back(std::move(extent));
  return make_op(Dialect::onednn, "Interpolate", std::move(more));
}
NamedAttribute sizes(Integers list) { return {"sizes", std::move(list)}; }
const NamedAttribute kAligned{"coordinate_transformation_mode", std::string("align_corners")};

TEST(Interpolate, Nearest) {
  const Tensor source(DType::f32, {1, 3, 1}, {10, 20, 30});
  expect(interpolate("nearest", sizes({6})), {source}, {DType::f32, {1, 6, 1}}, {10, 10, 20, 20, 30, 30});
  expect(interpolate("nearest", sizes({2})), {source}, {DType::f32, {1, 2, 1}}, {10, 30});
  // Half way between two, the later one.
  expect(interpolate("nearest", sizes({1})), {Tensor(DType::f32, {1, 2, 1}, {1, 2})}, {DType::f32, {1, 1, 1}}, {2});
  expect(interpolate("nearest", sizes({4}), {kAligned}), {source}, {DType::f32, {1, 4, 1}}, {10, 20, 20, 30});
}

TEST(Interpolate, Linear) {
  const Tensor source(DType::f32, {1, 2, 1}, {10, 20});
  expect(interpolate("linear", sizes({4})), {source}, {DType::f32, {1, 4, 1}}, {10, 12.5, 17.5, 20});
  expect(interpolate("linear", sizes({5}), {kAligned}), {source}, {DType::f32, {1, 5, 1}}, {10, 12.5, 15, 17.5, 20});
  expect(interpolate("linear", {"scales", Values{1.5}}), {source}, {DType::f32, {1, 3, 1}}, {10, 15, 20});
  expect(interpolate("linear", sizes({1}), {kAligned}), {source}, {DType::f32, {1, 1, 1}}, {10});
}

TEST(Interpolate, OfTwoDims) {
  const Tensor source(DType::f32, {1, 1, 2, 2}, {0, 4, 8, 12});
  expect(interpolate("bilinear", sizes({3, 3}), {kAligned, kChannelsSecond}), {source}, {DType::f32, {1, 1, 3, 3}},
         {0, 2, 4, 4, 6, 8, 8, 10, 12});
  const Tensor extents(DType::s32, {2}, {2, 1});
  expect(make_op(Dialect::onednn, "Interpolate", {{"mode", std::string("linear")}, kChannelsSecond}), {source, extents},
         {DType::f32, {1, 1, 2, 1}}, {2, 10});
}

/// A list of one integer may have rank 0 (move.V6).
TEST(Interpolate, OfAScalarExtent) {
  const Tensor source(DType::f32, {1, 2, 1}, {10, 20}), extent(DType::s32, {}, {4});
  expect(make_op(Dialect::onednn, "Interpolate", {{"mode", std::string("linear")}}), {source, extent},
         {DType::f32, {1, 4, 1}}, {10, 12.5, 17.5, 20});
}

TEST(InterpolateBackward, IsTheGradient) {
  constexpr unsigned kSeed = 3;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  std::uniform_int_distribution<int> any(-8, 8);
  for (const char* mode : {"nearest", "linear"})
    for (const bool aligned : {false, true}) {
      std::vector<NamedAttribute> attributes{sizes({5, 4}), {"mode", std::string(mode)}};
      if (aligned) attributes.push_back(kAligned);
      Tensor source(DType::f64, {2, 3, 7, 2}), gradient(DType::f64, {2, 5, 4, 2});
      for (std::int64_t i = 0; i < 84; ++i) source.set(i, any(random));
      for (std::int64_t i = 0; i < 80; ++i) gradient.set(i, any(random));
      Tensor result(DType::f64, {2, 5, 4, 2}), back(DType::f64, {2, 3, 7, 2});
      const ConstTensor forward_in[] = {source.in()}, backward_in[] = {source.in(), gradient.in()};
      const MutableTensor forward_out[] = {result.out()}, backward_out[] = {back.out()};
      ASSERT_TRUE(evaluate_op(make_op(Dialect::onednn, "Interpolate", attributes), forward_in, forward_out).ok());
      ASSERT_TRUE(
          evaluate_op(make_op(Dialect::onednn, "InterpolateBackward", attributes), backward_in, backward_out).ok());
      double by_result = 0, by_source = 0;
      for (std::int64_t i = 0; i < 80; ++i) by_result += gradient.at(i) * result.at(i);
      for (std::int64_t i = 0; i < 84; ++i) by_source += source.at(i) * back.at(i);
      EXPECT_NEAR(by_result, by_source, 1e-9) << mode;
      EXPECT_NE(by_result, 0) << mode;
    }
}

TEST(Interpolate, RefusesWhatDoesNotFit) {
  const auto refused = [](const Op& op, const std::vector<Tensor>& inputs) {
    std::vector<ConstTensor> in;
    for (const Tensor& tensor : inputs) in.push_back(tensor.in());
    return !interpolate_shapes(op, in).ok();
  };
  EXPECT_TRUE(refused(interpolate("linear", sizes({2, 2})), {kRow}));
  EXPECT_TRUE(refused(interpolate("linear", {"scales", Values{-1}}), {kRow}));
  EXPECT_TRUE(refused(make_op(Dialect::onednn, "Interpolate"), {kRow}));
  EXPECT_TRUE(refused(interpolate("linear", sizes({2})), {Tensor(DType::f32, {2, 2})}));
  EXPECT_TRUE(refused(make_op(Dialect::onednn, "InterpolateBackward", {sizes({2})}), {kRow, kRow}));
}

}  // namespace
}  // namespace tenfold::graph
