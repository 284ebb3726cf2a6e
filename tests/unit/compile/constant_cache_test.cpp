// SPDX-License-Identifier: Apache-2.0
//
// The cache of constants: what is shared, what the bound says, that nothing is held alive; and that compiling uses it.
#include "compile/cache/constant_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <utility>

#include "compile/compile.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "tests/unit/growth.hpp"

namespace tenfold::compiler {
namespace {

Bytes bytes_of(std::size_t count, int value) { return Bytes(count, static_cast<std::byte>(value)); }

TEST(ConstantCache, HoldsEqualDataOnce) {
  ConstantCache cache(std::size_t{1} << 20);
  const auto first = cache.share(bytes_of(8192, 1)), same = cache.share(bytes_of(8192, 1));
  const auto other = cache.share(bytes_of(8192, 2)), longer = cache.share(bytes_of(8193, 1));
  EXPECT_EQ(first, same);
  EXPECT_NE(first, other);
  EXPECT_NE(first, longer);
  EXPECT_EQ(*other, bytes_of(8192, 2));
  EXPECT_EQ(cache.use(), 8192U + 8192U + 8193U);
}

TEST(ConstantCache, KeepsNothingAlive) {
  ConstantCache cache(std::size_t{1} << 20);
  std::weak_ptr<const Bytes> gone = cache.share(bytes_of(8192, 1));
  EXPECT_TRUE(gone.expired());
  EXPECT_EQ(cache.use(), 0U);
  EXPECT_EQ(*cache.share(bytes_of(8192, 1)), bytes_of(8192, 1));
}

TEST(ConstantCache, SmallDataAndThoseBeyondTheBoundAreNotShared) {
  ConstantCache cache(3 * 8192);
  const std::size_t small = ConstantCache::kLeastBytes - 1;
  EXPECT_NE(cache.share(bytes_of(small, 1)), cache.share(bytes_of(small, 1)));
  const auto first = cache.share(bytes_of(2 * 8192, 1));
  const auto second = cache.share(bytes_of(2 * 8192, 2)), again = cache.share(bytes_of(2 * 8192, 2));
  EXPECT_NE(second, again) << "there is no room for them beside the first";
  EXPECT_EQ(first, cache.share(bytes_of(2 * 8192, 1)));
  EXPECT_EQ(cache.use(), 2U * 8192U);
  cache.set_most_bytes(0);
  EXPECT_EQ(cache.most_bytes(), 0U);
  EXPECT_NE(first, cache.share(bytes_of(2 * 8192, 1))) << "0 switches it off";
}

TEST(ConstantCache, ThreadsShareDropAndBoundAtOnce) {
  ConstantCache cache(std::size_t{1} << 20);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 100; ++round) {
        const Bytes wanted = bytes_of(4096 + static_cast<std::size_t>((t + round) % 3), (t + round) % 3);
        if (*cache.share(wanted) != wanted) ++wrong;
        if (t == 0) cache.set_most_bytes(static_cast<std::size_t>(round % 3) * 8192);
      }
    });
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(cache.use(), 0U);
}

/// Of constants that are all different, and found by others up to this bound.
double growth_of_sharing(std::size_t most_bytes) {
  return test::growth(375, [&](std::size_t count) {
    std::vector<std::shared_ptr<const Bytes>> data;
    for (std::size_t i = 0; i < count; ++i) {
      Bytes bytes(ConstantCache::kLeastBytes);
      std::memcpy(bytes.data(), &i, sizeof i);
      data.push_back(std::make_shared<const Bytes>(std::move(bytes)));
    }
    return [data = std::move(data), most_bytes]() mutable {
      ConstantCache cache(most_bytes);
      for (std::shared_ptr<const Bytes>& one : data) one = cache.share(std::move(one));
      EXPECT_EQ(cache.use(), std::min(data.size() * ConstantCache::kLeastBytes, most_bytes));
    };
  });
}

TEST(ConstantCache, ManyConstantsAreSharedInLinearTime) {
  EXPECT_LT(growth_of_sharing(std::size_t{1} << 30), test::kMostGrowth);
  EXPECT_LT(growth_of_sharing(1000 * ConstantCache::kLeastBytes), test::kMostGrowth) << "when it is full, too";
}

TEST(ConstantCache, DataMayOutliveIt) {
  std::shared_ptr<const Bytes> data;
  {
    ConstantCache cache(std::size_t{1} << 20);
    data = cache.share(bytes_of(8192, 1));
    for (int i = 0; i < 10'000; ++i) (void)cache.share(bytes_of(4096, i % 250));
    EXPECT_EQ(cache.use(), 8192U);
    EXPECT_EQ(data, cache.share(bytes_of(8192, 1)));
  }
  EXPECT_EQ(*data, bytes_of(8192, 1));
}

/// x + weights, for x of so many rows.
Compiled add_weights(int rows) {
  const std::string n = std::to_string(rows);
  std::string data;
  for (int i = 0; i < 2048; ++i) data += (i > 0 ? ", " : "") + std::to_string(i % 7) + ".5";
  Result<graph::Graph> graph =
      graph::parse("graph {\n  %0 = input : f32[" + n + ",2048]\n  %1 = constant : f32[2048] = [" + data +
                   "]\n  %2 = onednn.Add \"a\" (%0, %1) : f32[" + n + ",2048]\n  output %2\n}\n");
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  const Status status = graph::run_pipeline(graph.value());
  EXPECT_TRUE(status.ok()) << status.message();
  Result<Compiled> compiled = compile(graph.value(), target::host().value());
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  return std::move(compiled).value();
}

TEST(ConstantCache, PartitionsOfOneGraphShareItsWeights) {
  const Compiled two = add_weights(2), three = add_weights(3);
  ASSERT_EQ(two.program.constants.size(), 1U);
  ASSERT_EQ(three.program.constants.size(), 1U);
  EXPECT_EQ(two.program.constants[0], three.program.constants[0]);
  EXPECT_GE(constant_cache().use(), 8192U);
}

}  // namespace
}  // namespace tenfold::compiler
