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

/// To move a thread to a CPU that sleeps takes 40 us from where it is asked for, and as long again until it is there:
/// nothing for a short job. One that has taken so long may take as long again.
constexpr microseconds kLate{150};
constexpr microseconds kBetweenMoves{200}, kMostBetweenMoves{12'800};
/// Jobs farther apart than that are no burst: what the first one woke is asleep again when the next one comes.
constexpr microseconds kBetweenJobs{200};

struct Worker {
  std::atomic<bool> is_locked{false};  ///< nobody waits for it who has work to do
  std::atomic<Clock::rep> seen{0};     ///< when it began with a share
  pid_t thread = 0;                    ///< 0: nobody
  Clock::time_point moved{};
  microseconds pause = kBetweenMoves;  ///< until it is moved again, if it does not come

  bool try_lock() noexcept { return !is_locked.exchange(true, std::memory_order_acquire); }
  void unlock() noexcept { is_locked.store(false, std::memory_order_release); }
  bool came_after(Clock::time_point time) const noexcept {
    return seen.load(std::memory_order_relaxed) >= time.time_since_epoch().count();
  }
};

/// Neither made nor destroyed at run time: threads end at any time. Larger pools have others to wake the rest.
std::array<Worker, 8> workers;
std::atomic<bool> any_is_known{false};

struct Membership {
  bool is_settled = false;  ///< it is a caller, or has looked for a place among the workers
  Worker* worker = nullptr;
  ~Membership() {
    if (worker == nullptr) return;
    while (!worker->try_lock()) sched_yield();
    worker->thread = 0;
    worker->unlock();
  }
};
thread_local Membership mine;

struct Caller {
  bool wants = false;
  Clock::time_point since, last;
};
thread_local Caller caller;

void join() noexcept {
  mine.is_settled = true;
  for (Worker& worker : workers) {
    if (mine.worker != nullptr || !worker.try_lock()) continue;
    if (worker.thread == 0) {
      worker.thread = static_cast<pid_t>(syscall(SYS_gettid));
      mine.worker = &worker;
    }
    worker.unlock();
  }
  any_is_known.store(true, std::memory_order_relaxed);
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

/// Moves them, if it is late.
void look_back(Clock::time_point now) noexcept {
  caller.last = now;
  if (now - caller.since < kLate) return;
  for (Worker& worker : workers) {
    if (worker.came_after(caller.since) || !worker.try_lock()) continue;
    if (worker.came_after(worker.moved)) worker.pause = kBetweenMoves;
    if (worker.thread != 0 && now - worker.moved >= worker.pause) {
      worker.moved = now;
      worker.pause = std::min(2 * worker.pause, kMostBetweenMoves);
      move(worker.thread);
    }
    worker.unlock();
  }
}

}  // namespace

void note_share() noexcept {
  if (!mine.is_settled) join();
  if (mine.worker != nullptr)
    mine.worker->seen.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

WorkersWanted::WorkersWanted() noexcept {
  mine.is_settled = true;
  if (mine.worker != nullptr || !any_is_known.load(std::memory_order_relaxed)) return;
  const Clock::time_point now = Clock::now();
  if (now - caller.last > kBetweenJobs) caller.since = now;
  caller.wants = true;
  look_back(now);
}

WorkersWanted::~WorkersWanted() { caller.wants = false; }

void move_late_workers() noexcept {
  if (caller.wants) look_back(Clock::now());
}

}  // namespace tenfold::runtime
