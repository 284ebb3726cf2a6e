// SPDX-License-Identifier: Apache-2.0
//
// Shares: every task once, a thread's own ones first, and in its own lines of memory.
#include "runtime/shares.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace tenfold::runtime {
namespace {

std::vector<int> hits_of(std::int64_t tasks, std::int64_t threads, std::int64_t most, bool at_once) {
  Shares shares(tasks, threads);
  std::vector<std::vector<std::int64_t>> taken(static_cast<std::size_t>(threads));
  const auto take_all = [&](std::int64_t share) {
    for (TaskRun run = shares.take(share, most); !run.empty(); run = shares.take(share, most)) {
      if (run.size() > most) ADD_FAILURE() << run.size() << " tasks at once";
      for (std::int64_t task = run.begin; task < run.end; ++task)
        taken[static_cast<std::size_t>(share)].push_back(task);
    }
  };
  std::vector<std::thread> others;
  for (std::int64_t share = 0; share < threads; ++share) {
    if (at_once)
      others.emplace_back(take_all, share);
    else
      take_all(share);
  }
  for (std::thread& other : others) other.join();
  std::vector<int> hits(static_cast<std::size_t>(tasks));
  for (const std::vector<std::int64_t>& some : taken)
    for (const std::int64_t task : some) ++hits.at(static_cast<std::size_t>(task));
  return hits;
}

TEST(Shares, EveryTaskIsTakenOnce) {
  for (const bool at_once : {false, true})
    for (const std::int64_t threads : {1, 2, 3, 16, 17, 40})
      for (const std::int64_t tasks : {0, 1, 2, 7, 16, 100, 1000})
        for (const std::int64_t most : {std::int64_t{1}, std::int64_t{3}, std::max<std::int64_t>(tasks, 1)})
          EXPECT_EQ(hits_of(tasks, threads, most, at_once), std::vector<int>(static_cast<std::size_t>(tasks), 1))
              << tasks << " tasks, " << threads << " threads, " << most << " at once";
}

TEST(Shares, NeighboursComeInRunsEachHalfOfWhatIsLeft) {
  Shares shares(16, 2);
  const auto expect_run = [&](std::int64_t share, std::int64_t begin, std::int64_t end) {
    const TaskRun run = shares.take(share, 16);
    EXPECT_EQ(run.begin, begin);
    EXPECT_EQ(run.end, end);
  };
  expect_run(1, 8, 12);
  expect_run(0, 0, 4);
  expect_run(0, 4, 6);
  expect_run(0, 6, 7);
  expect_run(0, 7, 8);
  expect_run(0, 12, 14);  // of the other's
  expect_run(1, 14, 15);
  expect_run(0, 15, 16);
  EXPECT_TRUE(shares.take(0, 16).empty());
  EXPECT_TRUE(shares.take(1, 16).empty());
}

TEST(Shares, AShareOfANumberThatIsTooLargeIsOneOfThem) {
  Shares shares(4, 2);
  EXPECT_EQ(shares.take(5, 1).begin, 2);
  EXPECT_EQ(shares.take(4, 1).begin, 0);
}

}  // namespace
}  // namespace tenfold::runtime
