// SPDX-License-Identifier: Apache-2.0
//
// The default pool: hands out indices to the workers of a oneTBB arena, and decides who may use them: not a task of its
// own (nested calls), not more callers than threads, and not a forked child, which has no workers.
#include "runtime/default_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>

#include "runtime/arena_tbb.hpp"
#include "target/fork.hpp"

namespace tenfold::runtime {
namespace {

/// True in a process that was forked from one that had made a pool. oneTBB's workers are threads of the parent and its
/// records still count on them, and its locks may be held by one of them for ever. So such a process never calls oneTBB
/// again, not even to destroy an arena: its pools run everything on the caller.
std::atomic<bool> forked{false};

void notice_forks() {
  static std::atomic<bool> registered;
  if (registered.load()) return;
  // Two that come here at once have it called twice.
  static_cast<void>(pthread_atfork(nullptr, nullptr, [] { forked.store(true); }));
  registered.store(true);
}

/// True on a thread that is running a task of one of our pools.
thread_local bool in_task = false;

/// Callers release it, workers acquire it: orders a job's making before its running without relying on the arena, whose
/// own ordering ThreadSanitizer cannot see. Never destroyed or made at run time, as the sanitizer would see that too.
std::atomic<unsigned> handover{0};

/// One parallel_for: indices are handed out one by one, so that the cost of starting is per thread and not per index,
/// and whatever the workers do not get to in time the caller does.
struct Job {
  std::int64_t count;
  void (*fn)(void*, std::int64_t);
  void* context;
  std::atomic<std::int64_t> next{0};

  /// Takes indices until there are none. Each thread's last attempt releases what its tasks wrote, and is the last that
  /// it does to the job.
  void run() {
    const std::int64_t end = count;
    const bool nested = in_task;
    in_task = true;
    for (std::int64_t i = take(); i < end; i = take()) fn(context, i);
    in_task = nested;
  }
  std::int64_t take() { return next.fetch_add(1, std::memory_order_acq_rel); }

  static void run_handed_over(void* job) {
    static_cast<void>(handover.load(std::memory_order_acquire));
    static_cast<Job*>(job)->run();
  }
};

class Pool final : public ThreadPool {
 public:
  explicit Pool(int threads) : threads_(std::max(1, threads)) {
    if (threads_ > 1 && !forked) arena_ = std::make_unique<TbbArena>(threads_);
  }
  ~Pool() override {
    if (forked) static_cast<void>(arena_.release());  // the parent's: see above
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int num_threads() const noexcept override { return has_workers() ? threads_ : 1; }

  void parallel_for(std::int64_t n, void (*fn)(void* context, std::int64_t i), void* context) override {
    Job job{n, fn, context};
    if (n < 2 || in_task || !has_workers()) return job.run();
    // A caller that finds the arena full would sleep until a place is free; its own thread is the better place.
    const bool has_place = callers_.fetch_add(1) < threads_;
    handover.fetch_add(1, std::memory_order_release);
    if (!has_place ||
        !arena_->spread(static_cast<int>(std::min<std::int64_t>(n, threads_)), Job::run_handed_over, &job))
      job.run();
    static_cast<void>(job.next.load(std::memory_order_acquire));
    callers_.fetch_sub(1);
  }

 private:
  bool has_workers() const noexcept { return arena_ != nullptr && !forked.load(std::memory_order_relaxed); }

  const int threads_;
  std::atomic<int> callers_{0};
  std::unique_ptr<TbbArena> arena_;
};

}  // namespace

std::unique_ptr<ThreadPool> make_pool(int threads) {
  notice_forks();
  return std::make_unique<Pool>(threads);
}

ThreadPool& default_pool() {
  // Never destroyed: a host may execute() from its own static destructors, and oneTBB ends its workers by itself.
  static std::atomic<std::unique_ptr<ThreadPool>*> pool;
  return *target::one_of_process(pool, [] {
    notice_forks();
    return make_pool(forked ? 1 : TbbArena::cores());
  });
}

}  // namespace tenfold::runtime
