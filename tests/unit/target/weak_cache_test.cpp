// SPDX-License-Identifier: Apache-2.0
//
// Caches that hold nothing alive: what they find, and that they forget what is gone.
#include "target/weak_cache.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tenfold::target {
namespace {

using Made = Result<std::shared_ptr<const int>>;

TEST(WeakCache, FindsWhatSomebodyHolds) {
  WeakCache<const int> cache;
  EXPECT_EQ(cache.find("a"), nullptr);
  Made first = cache.find_or_make("a", [] { return Made(std::make_shared<const int>(1)); });
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(cache.find("a"), first.value());
  EXPECT_EQ(cache.find("b"), nullptr);
  const Made other = cache.find_or_make("a", [] { return Made(std::make_shared<const int>(2)); });
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(*other.value(), 1);
}

TEST(WeakCache, MakesWhatNobodyHoldsAnew) {
  WeakCache<const int> cache;
  EXPECT_TRUE(cache.find_or_make("a", [] { return Made(std::make_shared<const int>(1)); }).ok());
  EXPECT_EQ(cache.find("a"), nullptr);
  const Made again = cache.find_or_make("a", [] { return Made(std::make_shared<const int>(2)); });
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again.value(), 2);
  EXPECT_EQ(cache.find("a"), again.value());
}

TEST(WeakCache, RemembersNoFailure) {
  WeakCache<const int> cache;
  const Made none = cache.find_or_make("a", [] { return Made(Status(Code::out_of_memory, "none")); });
  EXPECT_EQ(none.status().code(), Code::out_of_memory);
  EXPECT_EQ(cache.size(), 0U);
}

TEST(WeakCache, ForgetsWhatIsGone) {
  WeakCache<const int> cache;
  std::vector<std::shared_ptr<const int>> held;
  for (int i = 0; i < 10000; ++i) {
    const Made made = cache.find_or_make(std::to_string(i), [i] { return Made(std::make_shared<const int>(i)); });
    ASSERT_TRUE(made.ok());
    if (i % 100 == 0) held.push_back(made.value());
    EXPECT_LE(cache.size(), 512U);
  }
  for (const std::shared_ptr<const int>& one : held) EXPECT_EQ(cache.find(std::to_string(*one)), one);
}

}  // namespace
}  // namespace tenfold::target
