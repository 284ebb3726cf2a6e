// SPDX-License-Identifier: Apache-2.0
//
// The default pool: a crew (crew.hpp) whose threads are workers of a oneTBB arena. It decides who may use them: not a
// task of its own (nested calls), and not a forked child, which has no workers.
#include "runtime/default_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>

#include "runtime/arena_tbb.hpp"
#include "runtime/crew.hpp"
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

class Pool final : public ThreadPool {
 public:
  explicit Pool(int threads) : threads_(std::max(1, threads)) {
    if (threads_ < 2 || forked) return;
    arena_ = std::make_unique<TbbArena>(threads_);
    crew_ = new Crew(threads_);
  }
  ~Pool() override {
    if (crew_ == nullptr) return;
    if (forked)
      static_cast<void>(arena_.release());  // the parent's: see above
    else
      crew_->dismiss();
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int num_threads() const noexcept override { return has_workers() ? threads_ : 1; }

  void parallel_for(std::int64_t n, void (*fn)(void* context, std::int64_t i), void* context) override {
    const Job job{n, fn, context};
    if (n < 2 || in_task() || !has_workers() || !crew_->run(job, *arena_)) job.run_here();
  }

 private:
  bool has_workers() const noexcept { return arena_ != nullptr && !forked.load(std::memory_order_relaxed); }

  const int threads_;
  std::unique_ptr<TbbArena> arena_;
  Crew* crew_ = nullptr;  ///< ends itself
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
