// SPDX-License-Identifier: Apache-2.0
//
// The default pool: every index once, whoever calls, however deep, and after fork().
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "runtime/default_pool.hpp"

namespace tenfold::runtime {
namespace {

struct Hits {
  explicit Hits(std::int64_t n) : counts(static_cast<std::size_t>(n)) {}
  static void hit(void* context, std::int64_t i) {
    static_cast<Hits*>(context)->counts[static_cast<std::size_t>(i)].fetch_add(1);
  }
  bool once_each() const {
    for (const auto& count : counts)
      if (count != 1) return false;
    return true;
  }
  std::vector<std::atomic<int>> counts;
};

bool covers(ThreadPool& pool, std::int64_t n) {
  Hits hits(n);
  pool.parallel_for(n, Hits::hit, &hits);
  return hits.once_each();
}

TEST(Pool, CallsEveryIndexOnce) {
  for (const int threads : {0, 1, 2, 3, 8}) {
    const std::unique_ptr<ThreadPool> pool = make_pool(threads);
    EXPECT_EQ(pool->num_threads(), std::max(1, threads));
    for (const std::int64_t n : {0, 1, 2, 3, 7, 64, 1000}) EXPECT_TRUE(covers(*pool, n)) << threads << " " << n;
  }
}

TEST(Pool, TheDefaultPoolIsOneAndHasACoreOrMore) {
  EXPECT_EQ(&default_pool(), &default_pool());
  EXPECT_GE(default_pool().num_threads(), 1);
  EXPECT_TRUE(covers(default_pool(), 100));
}

/// As many tasks as threads that all wait for each other: only ends when they really run at the same time.
TEST(Pool, HasAsManyThreadsAsItSays) {
  for (const int threads : {2, 3, 12}) {
    const std::unique_ptr<ThreadPool> pool = make_pool(threads);
    struct Meeting {
      int size;
      std::atomic<int> present{0};
      std::atomic<bool> met{true};
    } meeting{threads};
    pool->parallel_for(
        threads,
        [](void* context, std::int64_t) {
          Meeting& m = *static_cast<Meeting*>(context);
          m.present.fetch_add(1);
          const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
          while (m.present < m.size)
            if (std::chrono::steady_clock::now() > deadline) return m.met.store(false);
        },
        &meeting);
    EXPECT_TRUE(meeting.met) << threads << " threads never ran together";
  }
}

/// Both present, within a time in which even a thread that waits for a CPU comes.
struct Pair {
  std::atomic<int> present{0};
  std::atomic<bool> met{true};
  static void meet(void* context, std::int64_t) {
    Pair& pair = *static_cast<Pair*>(context);
    pair.present.fetch_add(1);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (pair.present < 2)
      if (std::chrono::steady_clock::now() > deadline) return pair.met.store(false);
  }
};

/// A worker that has nothing to do stays for 50 us. Jobs come before that, after it, and just then; none may find that
/// it was counted on and has gone.
TEST(Pool, WorkersComeHoweverLongAgoTheLastJobWas) {
  const std::unique_ptr<ThreadPool> pool = make_pool(2);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);  // where others have the CPUs
  for (int i = 0; i < 20'000 && std::chrono::steady_clock::now() < end; ++i) {
    Pair pair;
    pool->parallel_for(2, Pair::meet, &pair);
    ASSERT_TRUE(pair.met) << "job " << i;
    const auto next =
        std::chrono::steady_clock::now() + std::chrono::nanoseconds(i % 5 == 0 ? i % 7 : 44'000 + i * 37 % 16'000);
    while (std::chrono::steady_clock::now() < next) continue;
  }
}

TEST(Pool, WorkersOfOneCallerComeToTheNext) {
  const std::unique_ptr<ThreadPool> pool = make_pool(3);
  std::atomic<bool> met{true};
  std::vector<std::thread> callers;
  callers.reserve(2);
  for (int t = 0; t < 2; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < 500 && met; ++i) {
        Pair pair;
        pool->parallel_for(2, Pair::meet, &pair);
        if (!pair.met) met = false;
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_TRUE(met);
}

/// The host's word counts: its limit on oneTBB leaves the caller alone once those who stay have gone.
TEST(Pool, AHostThatAllowsOneThreadGetsOne) {
  const std::unique_ptr<ThreadPool> pool = make_pool(2);
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  struct Strays {
    std::thread::id self = std::this_thread::get_id();
    std::atomic<int> count{0};
  } strays;
  pool->parallel_for(
      64,
      [](void* context, std::int64_t) {
        Strays& s = *static_cast<Strays*>(context);
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        if (std::this_thread::get_id() != s.self) s.count.fetch_add(1);
      },
      &strays);
  EXPECT_EQ(strays.count, 0);
}

TEST(Pool, NestedCallsRunOnTheirOwnThread) {
  struct Nest {
    ThreadPool& pool;
    std::atomic<int> inner{0}, strayed{0};
  } nest{default_pool()};
  nest.pool.parallel_for(
      2,
      [](void* context, std::int64_t outer) {
        if (outer == 0) return;  // leaves a thread with nothing to do but to stray into the other task's inner loop
        struct Inner {
          Nest& nest;
          std::thread::id self = std::this_thread::get_id();
        } inner{*static_cast<Nest*>(context)};
        inner.nest.pool.parallel_for(
            1000,
            [](void* c, std::int64_t) {
              const Inner& in = *static_cast<Inner*>(c);
              in.nest.inner.fetch_add(1);
              const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
              while (std::chrono::steady_clock::now() < end) continue;
              if (std::this_thread::get_id() != in.self) in.nest.strayed.fetch_add(1);
            },
            &inner);
      },
      &nest);
  EXPECT_EQ(nest.inner, 1000);
  EXPECT_EQ(nest.strayed, 0);
}

TEST(Pool, ManyCallersAtOnceEachGetTheirOwnAnswer) {
  const std::unique_ptr<ThreadPool> pool = make_pool(2);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  callers.reserve(8);
  for (int t = 0; t < 8; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < 300; ++i)
        if (!covers(*pool, 1 + i % 40)) wrong.fetch_add(1);
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

/// Forks while other threads keep the pool busy, and oneTBB's locks by making and ending pools: each child must finish
/// its own work within its alarm, with a pool that it inherited and with one that it makes, and may destroy what it
/// inherited. Exits with the number of children that did not, three at most.
[[noreturn]] void fork_while_pools_come_and_go() {
  std::unique_ptr<ThreadPool> pool = make_pool(2);
  covers(default_pool(), 100);
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) covers(*pool, 64);
  });
  std::thread making([&] {
    while (!stop) covers(*make_pool(2), 2);
  });
  int failed = 0;
  for (int i = 0; i < 200 && failed < 3; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      bool right = true;
      for (int repeat = 0; repeat < 5; ++repeat) right = right && covers(default_pool(), 100) && covers(*pool, 100);
      right = right && covers(*make_pool(2), 100);
      pool.reset();
      _exit(right ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) ++failed;
  }
  stop = true;
  busy.join();
  making.join();
  std::_Exit(covers(default_pool(), 100) ? failed : 4);
}

/// In a process of its own: arenas that come and go from two threads at once leave oneTBB 2021.8's worker spinning,
/// and the tests above without it. The library makes one pool, and never ends it.
TEST(Pool, ChildrenOfForkGetTheirWorkDone) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(fork_while_pools_come_and_go(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tenfold::runtime
