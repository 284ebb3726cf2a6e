// SPDX-License-Identifier: Apache-2.0
//
// The tools of the numeric tests must themselves be able to fail: guards kill, canaries are seen, generators give what
// they are named for.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "graph/eval/eval.hpp"
#include "prepared_case.hpp"
#include "settings.hpp"

namespace tenfold::numeric {
namespace {

using Guard = GuardedBuffer::Guard;

void touch(const std::byte* at) {
  const volatile std::byte* const byte = at;
  static_cast<void>(*byte);
}

TEST(GuardedBuffer, DiesOnTheByteAfter) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{4096}}) {
    const GuardedBuffer buffer(size, Guard::after);
    if (size > 0) touch(buffer.data() + size - 1);
    EXPECT_DEATH(touch(buffer.data() + size), "") << size;
  }
}

TEST(GuardedBuffer, DiesOnTheByteBefore) {
  const GuardedBuffer buffer(100, Guard::before);
  touch(buffer.data());
  EXPECT_DEATH(touch(buffer.data() - 1), "");
}

TEST(GuardedBuffer, SeesWritesInTheSlack) {
  const GuardedBuffer after(100, Guard::after), before(100, Guard::before);
  std::memset(after.data(), 0, 100);
  std::memset(before.data(), 0, 100);
  EXPECT_TRUE(after.canary_intact());
  EXPECT_TRUE(before.canary_intact());
  after.data()[-1] = std::byte{0};
  before.data()[100] = std::byte{0};
  EXPECT_FALSE(after.canary_intact());
  EXPECT_FALSE(before.canary_intact());
}

TEST(Values, SpecialsHoldEveryKind) {
  for (const DType dtype : kFloatTypes) {
    int nans = 0, infinities = 0, zeros = 0;
    for (const std::uint32_t bits : special_bits(dtype)) {
      const double x = graph::load_real(dtype, &bits, 0);
      nans += std::isnan(x);
      infinities += std::isinf(x);
      zeros += x == 0;
    }
    EXPECT_EQ(nans, 7);
    EXPECT_EQ(infinities, 2);
    EXPECT_EQ(zeros, 2);
  }
}

TEST(Values, ClassesAreAsNamed) {
  std::mt19937_64 random(1);
  float data[64];
  fill(Values::negative_infinity, DType::f32, reinterpret_cast<std::byte*>(data), 64, random);
  for (const float x : data) EXPECT_EQ(x, -INFINITY);
  fill(Values::denormal, DType::f32, reinterpret_cast<std::byte*>(data), 64, random);
  for (const float x : data) EXPECT_LT(std::fabs(x), 0x1p-126F);
  fill(Values::positive, DType::f32, reinterpret_cast<std::byte*>(data), 64, random);
  for (const float x : data) EXPECT_TRUE(x >= 0.5F && x <= 1.5F);
}

ReductionCase sum_of_rows() {
  ReductionCase c;
  c.op = "ReduceSum";
  c.input = {DType::f32, {2, 3}, {3, 1}};
  c.output = {DType::f32, {2}, {4}};
  c.axes = {1};
  c.values = Values::integers;
  return c;
}

TEST(PreparedCase, JudgesElementsAndGaps) {
  const auto made = PreparedCase::make(sum_of_rows());
  ASSERT_TRUE(made.ok()) << made.status().message();
  const PreparedCase& c = *made.value();
  const auto output = c.make_output(Guard::after);
  EXPECT_NE(c.judge(*output), "") << "an output that nobody wrote is not right";
  auto* const floats = reinterpret_cast<float*>(output->data());
  std::memcpy(&floats[0], c.expected().data(), 4);
  std::memcpy(&floats[4], c.expected().data() + 4, 4);
  EXPECT_EQ(c.judge(*output), "");
  floats[2] = 0;
  EXPECT_NE(c.judge(*output).find("between elements"), std::string::npos);
}

TEST(PreparedCase, JudgesNanBits) {
  ReductionCase nan = sum_of_rows();
  nan.output.strides = {1};
  const auto made = PreparedCase::make(nan);
  ASSERT_TRUE(made.ok()) << made.status().message();
  PreparedCase& c = *made.value();
  c.put_input(0, 0xffc0'0001);
  ASSERT_TRUE(c.solve().ok());
  const auto output = c.make_output(Guard::before);
  std::memcpy(output->data(), c.expected().data(), c.expected().size());
  EXPECT_EQ(c.judge(*output), "");
  output->data()[0] = std::byte{1};
  EXPECT_NE(c.judge(*output).find("canonical"), std::string::npos);
}

TEST(RandomCase, SameSeedSameCase) {
  std::mt19937_64 one(5), two(5);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(random_case("ReduceMax", DType::bf16, Sizes{}, one).json(),
              random_case("ReduceMax", DType::bf16, Sizes{}, two).json());
}

}  // namespace
}  // namespace tenfold::numeric
