// SPDX-License-Identifier: Apache-2.0
#include "schedule/machine.hpp"

#include <gtest/gtest.h>

namespace tenfold::schedule {
namespace {

target::Target with_l3(std::int64_t bytes, target::L3 kind = target::L3::near) {
  target::Target target;
  target.l3_bytes = bytes;
  target.l3 = kind;
  return target;
}

TEST(Share, IsReachedByAsMuchAndMore) {
  constexpr Share kThreeQuarters{3, 4};
  const target::Target target = with_l3(32 << 20);
  EXPECT_FALSE(kThreeQuarters.reached_by((24 << 20) - 1, target));
  EXPECT_TRUE(kThreeQuarters.reached_by(24 << 20, target));
  EXPECT_TRUE(kThreeQuarters.reached_by(std::int64_t{1} << 40, target));
  constexpr Share kMoreThanHalf{1, 2, true};
  EXPECT_FALSE(kMoreThanHalf.reached_by(16 << 20, target));
  EXPECT_TRUE(kMoreThanHalf.reached_by((16 << 20) + 1, target));
}

TEST(Share, NeverIsNotReachedEvenWithoutALastCache) {
  EXPECT_FALSE(kNever.reached_by(std::int64_t{1} << 50, with_l3(32 << 20)));
  EXPECT_FALSE(kNever.reached_by(0, with_l3(0)));
  EXPECT_TRUE((Share{1, 2}).reached_by(0, with_l3(0)));
}

TEST(Machine, EachKindOfLastCacheHasARowOfItsOwn) {
  const Machine& near = machine_of(with_l3(32 << 20, target::L3::near));
  const Machine& far = machine_of(with_l3(32 << 20, target::L3::far));
  const Machine& fast = machine_of(with_l3(32 << 20, target::L3::fast));
  const Machine& late = machine_of(with_l3(32 << 20, target::L3::late));
  EXPECT_TRUE(near.columns.near_pages && !far.columns.near_pages && !fast.columns.near_pages);
  EXPECT_TRUE(far.stores.claims && !near.stores.claims && !fast.stores.claims && !late.stores.claims);
  EXPECT_TRUE(far.sums_of_f16_add && !near.sums_of_f16_add && !fast.sums_of_f16_add && !late.sums_of_f16_add);
  EXPECT_TRUE(fast.columns.whole_rows_in_l3 && !near.columns.whole_rows_in_l3 && !late.columns.whole_rows_in_l3);
  EXPECT_TRUE(late.fills_cache != kNever && near.fills_cache == kNever);
}

}  // namespace
}  // namespace tenfold::schedule
