// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of axes and shapes against definitions that are written another way.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <set>

#include "graph/check/check.hpp"

namespace tenfold::graph {
namespace {

using Axes = std::vector<std::int64_t>;

TEST(NormalizeAxes, WrapsAndSorts) {
  const Result<Axes> axes = normalize_axes({-1, 0}, 3, "op");
  ASSERT_TRUE(axes.ok());
  EXPECT_EQ(axes.value(), (Axes{0, 2}));
  EXPECT_TRUE(normalize_axes({}, 0, "op").value().empty());
}

TEST(NormalizeAxes, RefusesWhatIsOutOfRangeForEveryRank) {
  for (int rank = 0; rank <= kMaxRank; ++rank)
    for (const std::int64_t axis :
         {std::int64_t{rank}, std::int64_t{-rank - 1}, std::numeric_limits<std::int64_t>::max(),
          std::numeric_limits<std::int64_t>::min()}) {
      const Result<Axes> axes = normalize_axes({axis}, rank, "op 1 (X)");
      ASSERT_FALSE(axes.ok()) << axis << " of rank " << rank;
      EXPECT_EQ(axes.status().code(), Code::invalid_op);
      EXPECT_NE(axes.status().message().find("(reduce.C3)"), std::string::npos);
      EXPECT_EQ(axes.status().message().rfind("op 1 (X): ", 0), 0u);
    }
}

TEST(NormalizeAxes, RefusesDuplicatesInEverySpelling) {
  for (int rank = 1; rank <= 4; ++rank)
    for (std::int64_t a = -rank; a < rank; ++a)
      for (std::int64_t b = -rank; b < rank; ++b)
        EXPECT_EQ(normalize_axes({a, b}, rank, "op").ok(), (a + rank) % rank != (b + rank) % rank) << a << " " << b;
}

TEST(NormalizeAxes, MessagesStayShortForLongLists) {
  const Result<Axes> axes = normalize_axes(Axes(100000, 0), 4, "op");
  ASSERT_FALSE(axes.ok());
  EXPECT_LT(axes.status().message().size(), 200u);
}

TEST(ReducedShape, AgreesWithRebuildingIt) {
  const unsigned seed = 7;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 engine(seed);
  for (int round = 0; round < 2000; ++round) {
    Dims shape(engine() % 6);
    for (auto& d : shape) d = std::vector<std::int64_t>{0, 1, 2, kUnknownDim}[engine() % 4];
    const unsigned mask = static_cast<unsigned>(engine()) & ((1u << shape.size()) - 1);
    Axes axes;
    Dims kept;
    Dims ones = shape;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if ((mask >> i & 1) != 0) {
        axes.push_back(static_cast<std::int64_t>(i));
        ones[i] = 1;
      } else {
        kept.push_back(shape[i]);
      }
    }
    EXPECT_EQ(reduced_shape(shape, axes, false), kept);
    EXPECT_EQ(reduced_shape(shape, axes, true), ones);
  }
}

TEST(BroadcastShapes, FollowsNumPy) {
  EXPECT_EQ(broadcast_shapes({2, 3}, {3}), (Dims{2, 3}));
  EXPECT_EQ(broadcast_shapes({2, 1}, {1, 3}), (Dims{2, 3}));
  EXPECT_EQ(broadcast_shapes({}, {4, 5}), (Dims{4, 5}));
  EXPECT_EQ(broadcast_shapes({0}, {1}), (Dims{0}));
  EXPECT_EQ(broadcast_shapes({0}, {2}), std::nullopt);
  EXPECT_EQ(broadcast_shapes({2, 3}, {2}), std::nullopt);
  EXPECT_EQ(broadcast_shapes({kUnknownDim}, {3}), (Dims{3}));
  EXPECT_EQ(broadcast_shapes({kUnknownDim}, {1}), (Dims{kUnknownDim}));
  EXPECT_EQ(broadcast_shapes({1}, {kUnknownDim}), (Dims{kUnknownDim}));
  EXPECT_EQ(broadcast_shapes({kUnknownDim}, {kUnknownDim}), (Dims{kUnknownDim}));
  EXPECT_EQ(broadcast_shapes({kUnknownDim}, {0}), (Dims{0}));
}

Value integers(DType dtype, Dims shape, const void* data, std::size_t bytes) {
  Value value;
  value.dtype = dtype;
  value.ranked = true;
  value.shape = std::move(shape);
  value.is_constant = true;
  const auto* first = static_cast<const std::byte*>(data);
  value.data = std::vector<std::byte>(first, first + bytes);
  return value;
}

TEST(ConstantIntegers, ReadsBothWidthsAndRanks) {
  const std::int32_t narrow[] = {-1, 2147483647};
  const std::int64_t wide[] = {std::numeric_limits<std::int64_t>::min()};
  EXPECT_EQ(constant_integers(integers(DType::s32, {2}, narrow, 8)).value(), (Axes{-1, 2147483647}));
  EXPECT_EQ(constant_integers(integers(DType::s64, {}, wide, 8)).value(), (Axes{wide[0]}));
  EXPECT_TRUE(constant_integers(integers(DType::s32, {0}, narrow, 0)).value().empty());
}

TEST(ConstantIntegers, RefusesTheRest) {
  const std::int32_t data[] = {1, 2};
  EXPECT_FALSE(constant_integers(integers(DType::f32, {2}, data, 8)).ok());
  EXPECT_FALSE(constant_integers(integers(DType::s32, {1, 2}, data, 8)).ok());
  Value input = integers(DType::s32, {2}, data, 8);
  input.is_constant = false;
  EXPECT_FALSE(constant_integers(input).ok());
}

}  // namespace
}  // namespace tenfold::graph
