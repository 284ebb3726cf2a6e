// SPDX-License-Identifier: Apache-2.0
//
// Ops that only move elements, with lists of integers that come at run time; CumSum and TopK.
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
using Integers = std::vector<std::int64_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Op onnx(const std::string& kind, std::vector<NamedAttribute> attributes = {}) {
  return make_op(Dialect::onnx, kind, std::move(attributes));
}
Op core(const std::string& kind, std::vector<NamedAttribute> attributes) {
  return make_op(Dialect::core, kind, std::move(attributes));
}

Tensor f32(Dims shape, const Numbers& numbers) { return {DType::f32, std::move(shape), numbers}; }
Tensor list(const Integers& integers) {
  return {DType::s64, {static_cast<std::int64_t>(integers.size())}, Numbers(integers.begin(), integers.end())};
}

/// What the op gives when its output has the shape.
void expect(const Op& op, const std::vector<Tensor>& inputs, const Dims& shape, const Numbers& numbers,
            DType to = DType::f32) {
  std::vector<ConstTensor> in;
  for (const Tensor& tensor : inputs) in.push_back(tensor.in());
  Tensor result(to, shape);
  const Status status = run_op(op, in, result);
  ASSERT_TRUE(status.ok()) << op.kind << ": " << status.message();
  EXPECT_TRUE(same_values(result.values(), numbers)) << op.kind;
}

const Tensor& matrix() {
  static const Tensor tensor = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  return tensor;
}

TEST(Movement, Views) {
  expect(core("transpose", {{"permutation", Integers{1, 0}}}), {matrix()}, {3, 2}, {1, 4, 2, 5, 3, 6});
  expect(onnx("Transpose"), {matrix()}, {3, 2}, {1, 4, 2, 5, 3, 6});
  expect(core("broadcast", {{"shape", Integers{2, 2, 1}}}), {f32({2, 1}, {7, 8})}, {2, 2, 1}, {7, 8, 7, 8});
  expect(onnx("Expand"), {f32({2, 1}, {7, 8}), list({1, 3})}, {2, 3}, {7, 7, 7, 8, 8, 8});
  expect(core("slice", {{"starts", Integers{1, 2}}, {"steps", Integers{1, -2}}, {"shape", Integers{1, 2}}}), {matrix()},
         {1, 2}, {6, 4});
  Tensor strided(DType::f32, {2, 3}, {}, {1, 4});
  for (std::int64_t i = 0; i < 6; ++i) strided.set(i, static_cast<double>(i));
  expect(onnx("Transpose"), {strided}, {3, 2}, {0, 3, 1, 4, 2, 5});
}

TEST(Movement, SlicesAsPythonDoes) {
  const Tensor row = f32({5}, {0, 1, 2, 3, 4});
  const auto cut = [&](std::int64_t start, std::int64_t end, std::int64_t step, const Numbers& numbers) {
    expect(onnx("Slice"), {row, list({start}), list({end}), list({0}), list({step})},
           {static_cast<std::int64_t>(numbers.size())}, numbers);
  };
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  cut(1, 3, 1, {1, 2});
  cut(-2, kMost, 1, {3, 4});
  cut(kLeast, kMost, 2, {0, 2, 4});
  cut(kMost, kLeast, -1, {4, 3, 2, 1, 0});
  cut(-2, 0, -2, {3, 1});
  cut(4, 1, 1, {});
  cut(3, kLeast, kLeast, {3});
  cut(-5, kLeast, -1, {0});
  // ONNX's own: backwards too, a start before the first element is the first.
  cut(-9, -20, -1, {0});
  cut(kLeast, kLeast, -2, {0});
  cut(-9, -5, -1, {});
  cut(1, kMost, kMost, {1});
}

TEST(Movement, SplitsJoinsAndReshapes) {
  Tensor left(DType::f32, {2, 1});
  Tensor right(DType::f32, {2, 2});
  Op split = onnx("Split", {{"axis", std::int64_t{1}}});
  split.outputs = {1, 2};
  const Tensor sizes = list({1, 2});
  const std::vector<ConstTensor> inputs{matrix().in(), sizes.in()};
  const std::vector<MutableTensor> outputs{left.out(), right.out()};
  const Status status = evaluate_op(split, inputs, outputs);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(same_values(left.values(), {1, 4}));
  EXPECT_TRUE(same_values(right.values(), {2, 3, 5, 6}));
  expect(core("concat", {{"axis", std::int64_t{1}}}), {right, left}, {2, 3}, {2, 3, 1, 5, 6, 4});
  expect(onnx("Reshape"), {matrix(), list({0, -1, 1})}, {2, 3, 1}, {1, 2, 3, 4, 5, 6});
  expect(onnx("Unsqueeze"), {matrix(), list({-1, 0})}, {1, 2, 3, 1}, {1, 2, 3, 4, 5, 6});
  expect(onnx("Squeeze"), {f32({1, 2, 1}, {3, 4}), list({-1})}, {1, 2}, {3, 4});
  expect(onnx("Flatten", {{"axis", std::int64_t{0}}}), {matrix()}, {1, 6}, {1, 2, 3, 4, 5, 6});
}

TEST(Movement, ShapesAsTensors) {
  expect(onnx("Shape", {{"start", std::int64_t{-1}}}), {matrix()}, {1}, {3}, DType::s64);
  expect(onnx("Size"), {matrix()}, {}, {6}, DType::s64);
  expect(core("iota", {{"axis", std::int64_t{1}}}), {matrix()}, {2, 3}, {0, 1, 2, 0, 1, 2}, DType::s32);
}

TEST(Movement, RefusesListsThatDoNotFit) {
  Tensor result(DType::f32, {4});
  const auto code = [&](const Op& op, const Tensor& integers) {
    return run_op(op, {matrix().in(), integers.in()}, result).code();
  };
  EXPECT_EQ(code(onnx("Reshape"), list({4})), Code::invalid_shape);
  EXPECT_EQ(code(onnx("Reshape"), list({-1, -1})), Code::invalid_shape);
  EXPECT_EQ(code(onnx("Squeeze"), list({0})), Code::invalid_shape);
  EXPECT_EQ(code(onnx("Unsqueeze"), list({5})), Code::invalid_op);
  EXPECT_EQ(code(onnx("Expand"), list({2, 2})), Code::invalid_shape);
  EXPECT_EQ(code(onnx("TopK"), list({4})), Code::invalid_op);
}

TEST(Scan, CumSum) {
  const auto sum = [](std::vector<NamedAttribute> attributes, const Numbers& numbers) {
    expect(onnx("CumSum", std::move(attributes)), {matrix(), list({1})}, {2, 3}, numbers);
  };
  const NamedAttribute exclusive{"exclusive", std::int64_t{1}};
  const NamedAttribute reverse{"reverse", std::int64_t{1}};
  sum({}, {1, 3, 6, 4, 9, 15});
  sum({exclusive}, {0, 1, 3, 0, 4, 9});
  sum({reverse}, {6, 5, 3, 15, 11, 6});
  sum({exclusive, reverse}, {5, 3, 0, 11, 6, 0});
  const Tensor wraps(DType::s32, {2}, {2147483647, 1});
  expect(onnx("CumSum"), {wraps, list({0})}, {2}, {2147483647, -2147483648.0}, DType::s32);
}

TEST(Scan, TopKPutsNanFirstAndTheLowerIndexAmongEquals) {
  const Tensor x = f32({5}, {1, kInfinity, 1, std::nan(""), 2});
  const auto top = [&](std::int64_t k, bool largest, const Numbers& values, const Numbers& indices) {
    Tensor value(DType::f32, {k});
    Tensor index(DType::s64, {k});
    const Tensor count = list({k});
    const std::vector<ConstTensor> inputs{x.in(), count.in()};
    const std::vector<MutableTensor> outputs{value.out(), index.out()};
    const Op op = onnx("TopK", {{"largest", std::int64_t{largest ? 1 : 0}}});
    const Status status = evaluate_op(op, inputs, outputs);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(same_values(value.values(), values));
    EXPECT_TRUE(same_values(index.values(), indices));
  };
  top(4, true, {std::nan(""), kInfinity, 2, 1}, {3, 1, 4, 0});
  top(3, false, {1, 1, 2}, {0, 2, 4});
  top(0, true, {}, {});
}

}  // namespace
}  // namespace tenfold::graph
