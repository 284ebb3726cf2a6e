// SPDX-License-Identifier: Apache-2.0
//
// Calls of oneDNN against plain loops in double: operands dense, strided, transposed and broadcast; many threads in one
// call; what is refused.
#include "onednn/call.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>

namespace tenfold::onednn {
namespace {

TensorDesc dense(const Dims& shape, DType dtype = DType::f32) { return {dtype, shape, row_major_strides(shape)}; }

std::vector<float> random_floats(const TensorDesc& desc, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> data(static_cast<std::size_t>(span_bytes(desc).value()) / sizeof(float));
  for (float& x : data) x = values(random);
  return data;
}

std::int64_t offset_of(const TensorDesc& desc, const Dims& at) {
  std::int64_t offset = 0;
  for (std::size_t dim = 0; dim < at.size(); ++dim) offset += (desc.shape[dim] == 1 ? 0 : at[dim]) * desc.strides[dim];
  return offset;
}

/// Calls `see` with each position of `shape`.
template <class See>
void for_each(const Dims& shape, const See& see) {
  Dims at(shape.size(), 0);
  if (std::count(shape.begin(), shape.end(), 0) > 0) return;
  for (;;) {
    see(at);
    std::size_t dim = shape.size();
    while (dim > 0 && ++at[dim - 1] == shape[dim - 1]) at[--dim] = 0;
    if (dim == 0) return;
  }
}

struct Operands {
  std::vector<std::vector<float>> inputs;
  std::vector<float> output;
};

Operands operands_of(const HeavySpec& spec) {
  Operands made;
  for (const TensorDesc& input : spec.inputs)
    made.inputs.push_back(random_floats(input, static_cast<unsigned>(made.inputs.size() + 1)));
  made.output = random_floats(spec.outputs[0], 9);
  return made;
}

Status run_all(const HeavyCall& call, Operands& operands) {
  std::vector<const void*> in;
  for (const std::vector<float>& input : operands.inputs) in.push_back(input.data());
  void* const out = operands.output.data();
  std::vector<std::byte> room(static_cast<std::size_t>(call.scratch_bytes()) + 64);
  const auto at = reinterpret_cast<std::uintptr_t>(room.data());
  void* const scratch = room.data() + (64 - at % 64);
  for (std::int64_t task = 0; task < call.tasks(); ++task)
    if (Status status = call.run(in, {&out, 1}, task, scratch); !status.ok()) return status;
  return {};
}

void expect_product(const HeavySpec& spec) {
  const Result<std::shared_ptr<const HeavyCall>> call = make_call(spec);
  ASSERT_TRUE(call.ok()) << call.status().message();
  Operands operands = operands_of(spec);
  const std::vector<float> before = operands.output;
  const Status status = run_all(*call.value(), operands);
  ASSERT_TRUE(status.ok()) << status.message();
  const std::size_t rank = spec.outputs[0].shape.size();
  const std::int64_t terms = spec.inputs[0].shape[rank - 1];
  std::vector<bool> written(before.size(), false);
  for_each(spec.outputs[0].shape, [&](const Dims& at) {
    double sum = 0, size = 0;
    Dims a = at, b = at;
    for (std::int64_t k = 0; k < terms; ++k) {
      a[rank - 1] = b[rank - 2] = k;
      const double product =
          static_cast<double>(operands.inputs[0][static_cast<std::size_t>(offset_of(spec.inputs[0], a))]) *
          operands.inputs[1][static_cast<std::size_t>(offset_of(spec.inputs[1], b))];
      sum += product;
      size += std::abs(product);
    }
    if (spec.inputs.size() > 2) {
      const double bias = operands.inputs[2][static_cast<std::size_t>(offset_of(spec.inputs[2], at))];
      sum += bias;
      size += std::abs(bias);
    }
    const auto place = static_cast<std::size_t>(offset_of(spec.outputs[0], at));
    written[place] = true;
    ASSERT_NEAR(operands.output[place], sum, static_cast<double>(terms + 2) * 0x1p-24 * size + 0x1p-149) << print(spec);
  });
  for (std::size_t i = 0; i < before.size(); ++i)
    if (!written[i]) {
      ASSERT_EQ(operands.output[i], before[i]) << "between rows, " << print(spec);
    }
}

HeavySpec matmul(TensorDesc src, TensorDesc weights, TensorDesc dst) {
  HeavySpec spec;
  spec.inputs = {std::move(src), std::move(weights)};
  spec.outputs = {std::move(dst)};
  return spec;
}

TEST(MatMul, Dense) {
  expect_product(matmul(dense({1, 1}), dense({1, 1}), dense({1, 1})));
  expect_product(matmul(dense({3, 5}), dense({5, 7}), dense({3, 7})));
  expect_product(matmul(dense({1, 64}), dense({64, 33}), dense({1, 33})));
  expect_product(matmul(dense({33, 64}), dense({64, 1}), dense({33, 1})));
  expect_product(matmul(dense({130, 70}), dense({70, 200}), dense({130, 200})));
}

TEST(MatMul, CutIntoTasks) {
  const HeavySpec spec = matmul(dense({400, 300}), dense({300, 250}), dense({400, 250}));
  EXPECT_GT(make_call(spec).value()->tasks(), 1);
  expect_product(spec);
}

TEST(MatMul, TransposedAndStrided) {
  expect_product(matmul({DType::f32, {20, 30}, {1, 20}}, {DType::f32, {30, 40}, {1, 30}}, dense({20, 40})));
  expect_product(
      matmul({DType::f32, {20, 30}, {50, 1}}, {DType::f32, {30, 40}, {64, 1}}, {DType::f32, {20, 40}, {45, 1}}));
  // Heads between rows, as attention has them.
  const TensorDesc heads{DType::f32, {2, 3, 16, 8}, {16 * 24, 8, 24, 1}};
  const TensorDesc heads_transposed{DType::f32, {2, 3, 8, 16}, {16 * 24, 8, 1, 24}};
  expect_product(matmul(heads, heads_transposed, dense({2, 3, 16, 16})));
}

TEST(MatMul, BatchesBroadcast) {
  expect_product(matmul(dense({4, 1, 6, 8}), dense({1, 5, 8, 9}), dense({4, 5, 6, 9})));
  expect_product(matmul(dense({3, 6, 8}), dense({1, 8, 9}), dense({3, 6, 9})));
}

TEST(MatMul, Bias) {
  HeavySpec spec = matmul(dense({2, 6, 8}), dense({2, 8, 9}), dense({2, 6, 9}));
  spec.inputs.push_back(dense({1, 1, 9}));
  expect_product(spec);
}

TEST(MatMul, RefusedWithTheSpecAndOneDnnsReason) {
  const HeavySpec spec = matmul(dense({2, 3}, DType::f64), dense({3, 2}, DType::f64), dense({2, 2}, DType::f64));
  const Result<std::shared_ptr<const HeavyCall>> call = make_call(spec);
  ASSERT_FALSE(call.ok());
  EXPECT_EQ(call.status().code(), Code::unsupported_op);
  EXPECT_NE(call.status().message().find("f64 [2, 3]"), std::string::npos) << call.status().message();
}

TEST(Calls, AreSharedWhileSomebodyHoldsThem) {
  const HeavySpec spec = matmul(dense({3, 5}), dense({5, 7}), dense({3, 7}));
  const auto first = make_call(spec).value();
  EXPECT_EQ(first, make_call(spec).value());
}

/// The bits of one thread's run, from eight threads in the same call, whatever OpenMP's number of threads is set to.
TEST(Calls, EightThreadsInOneCallGiveTheSameBits) {
  const HeavySpec spec = matmul(dense({200, 300}), dense({300, 250}), dense({200, 250}));
  const auto call = make_call(spec).value();
  Operands want = operands_of(spec);
  ASSERT_TRUE(run_all(*call, want).ok());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      omp_set_num_threads(1 + t % 4);
      for (int repeat = 0; repeat < 5; ++repeat) {
        Operands got = operands_of(spec);
        if (!run_all(*call, got).ok()) ++wrong;
        if (std::memcmp(got.output.data(), want.output.data(), 4 * want.output.size()) != 0) ++wrong;
      }
      if (omp_get_max_threads() != 1 + t % 4) ++wrong;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tenfold::onednn
