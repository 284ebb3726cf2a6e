// SPDX-License-Identifier: Apache-2.0
//
// MatMul as the reference computes it: hand-computed cases for each attribute and rank, big ones against plain loops,
// its error bound, and what it refuses.
#include <gtest/gtest.h>

#include <random>

#include "graph/eval/bound.hpp"
#include "graph/eval/products.hpp"
#include "graph/eval/run.hpp"
#include "tests/unit/eval/tensors.hpp"

namespace tenfold::graph {
namespace {

using Values = std::vector<double>;

Op matmul(std::vector<NamedAttribute> attributes = {}) {
  return make_op(Dialect::onednn, "MatMul", std::move(attributes));
}

void expect(const Op& op, const std::vector<Tensor>& inputs, Tensor output, const Values& expected) {
  std::vector<ConstTensor> in;
  for (const Tensor& tensor : inputs) in.push_back(tensor.in());
  const MutableTensor out[] = {output.out()};
  const Status status = evaluate_op(op, in, out);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(output.values(), expected);
}

const Tensor kA(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
const Tensor kB(DType::f32, {3, 2}, {1, -1, 2, -2, 3, -3});

TEST(MatMul, OfTwoMatrices) { expect(matmul(), {kA, kB}, {DType::f32, {2, 2}}, {14, -14, 32, -32}); }

TEST(MatMul, Transposes) {
  const Tensor a(DType::f32, {3, 2}, {1, 4, 2, 5, 3, 6}), b(DType::f32, {2, 3}, {1, 2, 3, -1, -2, -3});
  expect(matmul({{"transpose_a", true}}), {a, kB}, {DType::f32, {2, 2}}, {14, -14, 32, -32});
  expect(matmul({{"transpose_b", true}}), {kA, b}, {DType::f32, {2, 2}}, {14, -14, 32, -32});
  expect(matmul({{"transpose_a", true}, {"transpose_b", true}}), {a, b}, {DType::f32, {2, 2}}, {14, -14, 32, -32});
}

TEST(MatMul, OfRank1) {
  const Tensor row(DType::f32, {2}, {10, 1}), column(DType::f32, {3}, {1, 0, -1});
  expect(matmul(), {row, kA}, {DType::f32, {3}}, {14, 25, 36});
  expect(matmul(), {kA, column}, {DType::f32, {2}}, {-2, -2});
  expect(matmul(), {column, column}, {DType::f32, {}}, {2});
  // Nothing is there to swap.
  expect(matmul({{"transpose_a", true}}), {row, kA}, {DType::f32, {3}}, {14, 25, 36});
}

TEST(MatMul, DimsBeforeTheMatricesBroadcast) {
  const Tensor a(DType::f32, {2, 1, 1, 2}, {1, 2, 3, 4}), b(DType::f32, {3, 2, 1}, {1, 1, 2, 2, 3, 3});
  expect(matmul(), {a, b}, {DType::f32, {2, 3, 1, 1}}, {3, 6, 9, 7, 14, 21});
}

TEST(MatMul, BiasBroadcasts) {
  expect(matmul(), {kA, kB, Tensor(DType::f32, {2}, {100, 200})}, {DType::f32, {2, 2}}, {114, 186, 132, 168});
  expect(matmul(), {kA, kB, Tensor(DType::f32, {2, 1}, {100, 200})}, {DType::f32, {2, 2}}, {114, 86, 232, 168});
}

TEST(MatMul, StridesAreHonoured) {
  const Tensor a(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6}, {1, 5});
  expect(matmul(), {a, kB}, {DType::f32, {2, 2}, {}, {3, 7}}, {14, -14, 32, -32});
}

TEST(MatMul, NarrowFloatsAreRoundedOnce) {
  // 256 + 1 + 2^-20 lies above the middle of bf16's 256 and 258, by less than f32 would lose if it were rounded twice.
  const Tensor a(DType::bf16, {1, 3}, {256, 1, 0x1p-20}), b(DType::bf16, {3, 1}, {1, 1, 1});
  expect(matmul(), {a, b}, {DType::bf16, {1, 1}}, {258});
  expect(matmul(), {a, b}, {DType::f32, {1, 1}}, {257});
}

TEST(MatMul, EmptyDims) {
  expect(matmul(), {Tensor(DType::f32, {2, 0}), Tensor(DType::f32, {0, 2})}, {DType::f32, {2, 2}}, {0, 0, 0, 0});
  expect(matmul(), {Tensor(DType::f32, {0, 3}), kB}, {DType::f32, {0, 2}}, {});
}

/// Sizes beyond one tile and one block in each direction, and not multiples of them.
TEST(MatMul, EqualsPlainLoops) {
  constexpr unsigned kSeed = 7;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  std::uniform_int_distribution<int> any(-8, 8);
  constexpr std::int64_t kRows = 9, kDepth = 261, kColumns = 135;
  Tensor a(DType::f32, {kDepth, kRows}), b(DType::f32, {kColumns, kDepth});
  for (std::int64_t i = 0; i < kDepth * kRows; ++i) a.set(i, any(random));
  for (std::int64_t i = 0; i < kDepth * kColumns; ++i) b.set(i, any(random));
  Values expected;
  for (std::int64_t i = 0; i < kRows; ++i)
    for (std::int64_t j = 0; j < kColumns; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < kDepth; ++k) sum += a.at(k * kRows + i) * b.at(j * kDepth + k);
      expected.push_back(sum);
    }
  expect(matmul({{"transpose_a", true}, {"transpose_b", true}}), {a, b}, {DType::f32, {kRows, kColumns}}, expected);
}

TEST(MatMul, RefusesWhatDoesNotFit) {
  const auto refused = [](const std::vector<Tensor>& inputs, Tensor output) {
    std::vector<ConstTensor> in;
    for (const Tensor& tensor : inputs) in.push_back(tensor.in());
    const MutableTensor out[] = {output.out()};
    return !evaluate_op(matmul(), in, out).ok();
  };
  EXPECT_TRUE(refused({kA}, {DType::f32, {2, 2}}));
  EXPECT_TRUE(refused({kA, kA}, {DType::f32, {2, 3}}));
  EXPECT_TRUE(refused({kA, Tensor(DType::f32, {})}, {DType::f32, {2}}));
  EXPECT_TRUE(refused({kA, kB}, {DType::f32, {2, 3}}));
  EXPECT_TRUE(refused({kA, kB, Tensor(DType::f32, {3})}, {DType::f32, {2, 2}}));
  EXPECT_TRUE(refused({Tensor(DType::f32, {2, 2, 3}), Tensor(DType::f32, {3, 3, 2})}, {DType::f32, {2, 2, 2}}));
}

Bounds bounds_of_product(const std::vector<Tensor>& inputs, const std::vector<Bounds>& input_bounds) {
  std::vector<ConstTensor> in;
  for (const Tensor& tensor : inputs) in.push_back(tensor.in());
  return bound_matmul(matmul(), in, input_bounds, {}).value()[0];
}

TEST(MatMulBound, IsRoundingsTimesMagnitudes) {
  const Bounds bounds = bounds_of_product({kA, kB}, {{}, {}});
  ASSERT_EQ(bounds.size(), 4U);
  EXPECT_NEAR(bounds[0], 5 * 0x1p-24 * 14, 1e-12);
  EXPECT_NEAR(bounds[3], 5 * 0x1p-24 * 32, 1e-12);
}

TEST(MatMulBound, TakesUpTheOperandsErrors) {
  const Tensor one(DType::f64, {1, 1}, {3}), other(DType::f64, {1, 1}, {-5});
  EXPECT_NEAR(bounds_of_product({one, other}, {{0.25}, {}})[0], 1.25, 1e-9);
  EXPECT_NEAR(bounds_of_product({one, other}, {{}, {0.5}})[0], 1.5, 1e-9);
  EXPECT_NEAR(bounds_of_product({one, other}, {{0.25}, {0.5}})[0], 1.25 + 1.5 + 0.125, 1e-9);
  EXPECT_NEAR(bounds_of_product({one, other, one}, {{}, {}, {0.125}})[0], 0.125, 1e-9);
}

TEST(MatMulBound, StatesNothingBeyondF32) {
  const Tensor big(DType::f32, {1, 1}, {0x1p64}), infinite(DType::f32, {1, 1}, {INFINITY});
  EXPECT_TRUE(std::isinf(bounds_of_product({big, big}, {{}, {}})[0]));
  // What an infinity decides is no overflow.
  EXPECT_TRUE(std::isfinite(bounds_of_product({big, infinite}, {{}, {}})[0]));
}

}  // namespace
}  // namespace tenfold::graph
