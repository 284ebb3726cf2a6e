// SPDX-License-Identifier: Apache-2.0
//
// What one fork-join costs in the thread pools that Debian offers, pthreadpool (workers spin, or yield at once) and
// oneTBB, and in Tenfold's, whose workers are oneTBB's and stay for a moment. Run by hand; the numbers that decided are
// in docs/threads.md. Not a test and not part of `all`.
//
// Empty tasks flatter a pool whose caller can finish before a worker wakes. So there is a second table: one task of the
// same length per thread; what the job takes beyond that length is what the second thread really costs.
//
//   runtime_pool_cost [THREADS [ROUNDS]]
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <pthreadpool.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/default_pool.hpp"

namespace {

std::atomic<std::int64_t> calls{0};

void empty_task(void*, std::size_t) { calls.fetch_add(1, std::memory_order_relaxed); }

/// Keeps a core busy for `*context` steps of about a nanosecond each, without touching memory.
void busy_task(void* context, std::size_t i) {
  std::uint64_t x = i + 1;
  for (std::int64_t n = *static_cast<const std::int64_t*>(context); n > 0; --n) x = x * 6364136223846793005u + 1;
  calls.fetch_add(static_cast<std::int64_t>(x >> 63) + 1, std::memory_order_relaxed);
}

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

using Task = void (*)(void*, std::size_t);
using Run = std::function<void(std::size_t tasks, Task task, void* context)>;

/// A pool is made for each row and destroyed after it: workers that still spin would take a core from the next row.
struct Pool {
  const char* name;
  std::function<Run(std::size_t threads)> make;
};

Run make_serial(std::size_t) {
  return [](std::size_t n, Task task, void* context) {
    for (std::size_t i = 0; i < n; ++i) task(context, i);
  };
}

Run make_pthreadpool(std::size_t threads, std::uint32_t flags) {
  const std::shared_ptr<pthreadpool> pool(pthreadpool_create(threads), pthreadpool_destroy);
  return [pool, flags](std::size_t n, Task task, void* context) {
    pthreadpool_parallelize_1d(pool.get(), task, context, n, flags);
  };
}

Run make_tbb(std::size_t threads) {
  const auto arena = std::make_shared<tbb::task_arena>(static_cast<int>(threads));
  return [arena](std::size_t n, Task task, void* context) {
    arena->execute([=] {
      tbb::parallel_for(
          tbb::blocked_range<std::size_t>(0, n, 1),
          [=](const tbb::blocked_range<std::size_t>& range) { task(context, range.begin()); },
          tbb::simple_partitioner());
    });
  };
}

Run make_tenfold(std::size_t threads) {
  struct Job {
    Task task;
    void* context;
  };
  const std::shared_ptr<tenfold::ThreadPool> pool = tenfold::runtime::make_pool(static_cast<int>(threads));
  return [pool](std::size_t n, Task task, void* context) {
    Job job{task, context};
    pool->parallel_for(
        static_cast<std::int64_t>(n),
        [](void* c, std::int64_t i) {
          static_cast<Job*>(c)->task(static_cast<Job*>(c)->context, static_cast<std::size_t>(i));
        },
        &job);
  };
}

struct Cost {
  double median_us = 0;
  double best_us = 0;
  double worst_us = 0;  ///< 99th percentile
  double cpu_us = 0;    ///< processor time of the whole process per call, idle time included
};

/// What takes no longer than a system wakes threads in is spent awake, as by a host that does something else.
void pause(std::chrono::microseconds idle) {
  if (idle >= std::chrono::milliseconds(1)) return std::this_thread::sleep_for(idle);
  const auto end = std::chrono::steady_clock::now() + idle;
  while (std::chrono::steady_clock::now() < end) continue;
}

Cost measure(const Run& run, std::size_t tasks, Task task, void* context, std::chrono::microseconds idle, int rounds) {
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(rounds));
  for (int i = 0; i < 20; ++i) run(tasks, task, context);
  const double cpu_before = seconds(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < rounds; ++i) {
    pause(idle);
    const double before = seconds(CLOCK_MONOTONIC);
    run(tasks, task, context);
    times.push_back(1e6 * (seconds(CLOCK_MONOTONIC) - before));
  }
  const double cpu = 1e6 * (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_before) / rounds;
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front(), times[times.size() * 99 / 100], cpu};
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t threads = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 2;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 2000;
  if (threads < 1 || rounds < 1) return 1;
  const std::vector<Pool> pools{
      {"serial", make_serial},
      {"pthreadpool spin", [](std::size_t n) { return make_pthreadpool(n, 0); }},
      {"pthreadpool yield", [](std::size_t n) { return make_pthreadpool(n, PTHREADPOOL_FLAG_YIELD_WORKERS); }},
      {"oneTBB", make_tbb},
      {"Tenfold", make_tenfold}};
  std::printf("%zu threads, %d rounds; microseconds per fork-join\n", threads, rounds);
  std::printf("%-18s %6s %8s %8s %9s %9s %9s %9s\n", "pool", "tasks", "steps", "idle us", "best", "median", "p99",
              "cpu");
  const auto table = [&](std::size_t tasks, std::int64_t steps, int idle_us) {
    for (const Pool& pool : pools) {
      const int n = idle_us <= 100 ? rounds : std::max(1, rounds * 250 / idle_us);
      const Cost cost = measure(pool.make(threads), tasks, steps == 0 ? empty_task : busy_task, &steps,
                                std::chrono::microseconds(idle_us), n);
      std::printf("%-18s %6zu %8lld %8d %9.2f %9.2f %9.2f %9.2f\n", pool.name, tasks, static_cast<long long>(steps),
                  idle_us, cost.best_us, cost.median_us, cost.worst_us, cost.cpu_us);
    }
  };
  for (const std::size_t tasks : {2, 4, 8, 16, 64}) table(tasks, 0, 0);
  for (const int idle_us : {1000, 10000}) {
    table(2, 0, idle_us);
    table(16, 0, idle_us);
  }
  for (const int idle_us : {0, 20, 100, 1000, 10000})
    for (const std::int64_t steps : {1000, 4000, 16000, 64000}) table(threads, steps, idle_us);
  return calls.load() > 0 ? 0 : 1;
}
