// SPDX-License-Identifier: Apache-2.0
#include "runtime/late_workers.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>

namespace tenfold::runtime {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

/// To move a thread to a CPU that sleeps takes 40 us from where it is asked for: nothing for a short job.
constexpr microseconds kLate{50};
constexpr microseconds kBetweenMoves{100};
/// Jobs farther apart than that are no burst: what the first one woke is asleep again when the next one comes.
constexpr microseconds kBetweenJobs{200};

struct Worker {
  std::atomic<bool> is_locked{false};  ///< nobody waits for it who has work to do
  std::atomic<bool> is_away{false};
  pid_t thread = 0;  ///< 0: nobody
  Clock::time_point moved;

  bool try_lock() noexcept { return !is_locked.exchange(true, std::memory_order_acquire); }
  void unlock() noexcept { is_locked.store(false, std::memory_order_release); }
};

/// Neither made nor destroyed at run time: threads end at any time. Larger pools have others to wake the rest.
std::array<Worker, 8> workers;

struct Membership {
  bool came = false;
  Worker* worker = nullptr;
  ~Membership() {
    if (worker == nullptr) return;
    while (!worker->try_lock()) sched_yield();
    worker->thread = 0;
    worker->is_away.store(false, std::memory_order_relaxed);
    worker->unlock();
  }
};
thread_local Membership mine;

struct Caller {
  bool wants = false;
  Clock::time_point since, last;
};
thread_local Caller caller;

bool any_is_away() noexcept {
  return std::any_of(workers.begin(), workers.end(),
                     [](const Worker& worker) { return worker.is_away.load(std::memory_order_relaxed); });
}

/// A thread that waits for this CPU is on another one when that is all it may run on, and stays there when it may run
/// on all again. A thread that sleeps, or runs elsewhere, notices nothing.
void move(pid_t thread) noexcept {
  cpu_set_t allowed;
  const int here = sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE || sched_getaffinity(thread, sizeof allowed, &allowed) != 0) return;
  cpu_set_t others = allowed;
  CPU_CLR(here, &others);
  if (!CPU_ISSET(here, &allowed) || CPU_COUNT(&others) == 0) return;
  if (sched_setaffinity(thread, sizeof others, &others) == 0)
    static_cast<void>(sched_setaffinity(thread, sizeof allowed, &allowed));
}

}  // namespace

void note_arrival() noexcept {
  if (!mine.came) {
    mine.came = true;
    for (Worker& worker : workers) {
      if (mine.worker != nullptr || !worker.try_lock()) continue;
      if (worker.thread == 0) {
        worker.thread = static_cast<pid_t>(syscall(SYS_gettid));
        mine.worker = &worker;
      }
      worker.unlock();
    }
  }
  if (mine.worker != nullptr) mine.worker->is_away.store(false, std::memory_order_relaxed);
}

void note_departure() noexcept {
  if (mine.worker != nullptr) mine.worker->is_away.store(true, std::memory_order_relaxed);
}

WorkersWanted::WorkersWanted() noexcept {
  if (!any_is_away()) return;
  const Clock::time_point now = Clock::now();
  if (now - caller.last > kBetweenJobs) caller.since = now;
  caller.last = now;
  caller.wants = true;
}

WorkersWanted::~WorkersWanted() { caller.wants = false; }

void move_late_workers() noexcept {
  if (!caller.wants || !any_is_away()) return;
  const Clock::time_point now = Clock::now();
  caller.last = now;
  if (now - caller.since < kLate) return;
  for (Worker& worker : workers) {
    if (!worker.is_away.load(std::memory_order_relaxed) || !worker.try_lock()) continue;
    if (worker.thread != 0 && now - worker.moved >= kBetweenMoves) {
      worker.moved = now;
      move(worker.thread);
    }
    worker.unlock();
  }
}

}  // namespace tenfold::runtime
