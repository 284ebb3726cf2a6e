// SPDX-License-Identifier: Apache-2.0
//
// Shapes of which not every dim is known.
#include "tenfold/tensor.hpp"

#include <gtest/gtest.h>

namespace tenfold {
namespace {

constexpr std::int64_t kHuge = kMaxTensorBytes + 1;

TEST(OpenShape, isKnownWhenEveryDimIs) {
  EXPECT_TRUE(is_known({}));
  EXPECT_TRUE(is_known({2, 0, -1}));
  EXPECT_FALSE(is_known({kUnknownDim}));
  EXPECT_FALSE(is_known({2, kUnknownDim, 3}));
}

TEST(OpenShape, hasQuestionMarksAsText) {
  EXPECT_EQ(to_string(Dims{}), "[]");
  EXPECT_EQ(to_string(Dims{7}), "[7]");
  EXPECT_EQ(to_string(Dims{4096, kUnknownDim, 3, -1}), "[4096, ?, 3, -1]");
}

TEST(OpenShape, spansAtLeastWhatItsKnownDimsSay) {
  const auto least = [](Dims shape, Dims strides) {
    const Result<std::int64_t> bytes = least_span_bytes({DType::f32, std::move(shape), std::move(strides)});
    return bytes.ok() ? bytes.value() : -1;
  };
  EXPECT_EQ(least({2, 3}, {}), 24);
  EXPECT_EQ(least({2, kUnknownDim, 3}, {}), 24);
  EXPECT_EQ(least({2, kUnknownDim}, {10, 5}), 44);
  EXPECT_EQ(least({kUnknownDim}, {}), 4);
  EXPECT_EQ(least({0, kUnknownDim}, {}), 0);
  EXPECT_EQ(least({kUnknownDim, kHuge}, {}), -1);
  EXPECT_EQ(least({kUnknownDim, -3}, {}), -1);
}

}  // namespace
}  // namespace tenfold
