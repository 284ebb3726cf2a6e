// SPDX-License-Identifier: Apache-2.0
#include "runtime/crew.hpp"

#include <immintrin.h>
#include <sched.h>

#include <algorithm>
#include <chrono>

#include "runtime/late_workers.hpp"

namespace tenfold::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// How long a thread that has nothing to do stays, and how long a caller looks whether the others are done before it
/// sleeps until they are: to wake a thread takes 10 to 50 us.
constexpr std::chrono::microseconds kStay{50}, kLook{300};
/// A pause takes some 50 ns. So many come between two looks at the clock; then whoever waits for this CPU may have it.
constexpr int kPausesOfARound = 40;

/// Looks again and again, for so long. Whether it came.
template <class Came>
bool look_for(std::chrono::microseconds time, const Came& came) noexcept {
  if (came()) return true;
  const Clock::time_point end = Clock::now() + time;
  do {
    for (int i = 0; i < kPausesOfARound; ++i) {
      _mm_pause();
      if (came()) return true;
    }
    sched_yield();
  } while (Clock::now() < end);
  return false;
}

/// Threads that one thread calls for: to call takes longer than a short job.
constexpr int kCalls = 2;

constexpr std::uint32_t kPlace = 1u << 16, kPresent = kPlace - 1;
constexpr int kMostPlaces = 0x7fff;

thread_local bool runs_a_task = false;

class TaskMark {
 public:
  TaskMark() noexcept : before_(runs_a_task) { runs_a_task = true; }
  ~TaskMark() { runs_a_task = before_; }
  TaskMark(const TaskMark&) = delete;
  TaskMark& operator=(const TaskMark&) = delete;

 private:
  const bool before_;
};

}  // namespace

bool in_task() noexcept { return runs_a_task; }

void Job::run_here() const {
  const TaskMark mark;
  for (std::int64_t i = 0; i < count; ++i) fn(context, i);
}

bool Crew::Desk::has_place() const noexcept { return places.load(std::memory_order_relaxed) >= kPlace; }

bool Crew::Desk::sit_down() noexcept {
  std::uint32_t now = places.load();
  while (now >= kPlace)
    if (places.compare_exchange_weak(now, now - kPlace + 1)) return true;
  return false;
}

void Crew::Desk::stand_up() noexcept {
  if ((places.fetch_sub(1, std::memory_order_acq_rel) & kPresent) == 1) places.notify_one();
}

void Crew::Desk::work() {
  const TaskMark mark;
  const Job mine = job;
  for (std::int64_t i = next.fetch_add(1, std::memory_order_relaxed); i < mine.count;
       i = next.fetch_add(1, std::memory_order_relaxed))
    mine.fn(mine.context, i);
}

void Crew::Desk::close_and_wait() noexcept {
  if ((places.fetch_and(kPresent, std::memory_order_acq_rel) & kPresent) == 0) return;
  const auto is_left = [this] { return places.load(std::memory_order_acquire) == 0; };
  while (!look_for(kLook, is_left))
    if (const std::uint32_t now = places.load(); now != 0) places.wait(now, std::memory_order_acquire);
}

Crew::Crew(int threads) : desks_(static_cast<std::size_t>(threads)) {}

Crew::Desk* Crew::take_desk() noexcept {
  for (Desk& desk : desks_)
    if (!desk.is_taken.load(std::memory_order_relaxed) && !desk.is_taken.exchange(true, std::memory_order_acquire))
      return &desk;
  return nullptr;
}

bool Crew::run(const Job& job, TbbArena& arena) {
  Desk* const desk = take_desk();
  if (desk == nullptr) return false;
  const WorkersWanted wanted;
  const int others = static_cast<int>(std::min(job.count, static_cast<std::int64_t>(desks_.size()))) - 1;
  desk->job = job;
  desk->next.store(1, std::memory_order_relaxed);
  desk->arena = &arena;
  // Sequentially consistent, as what follows is, and what those who leave do: either they see this job, or this caller
  // that they have left.
  desk->places.store(static_cast<std::uint32_t>(std::min(others, kMostPlaces)) * kPlace);
  call_for_more(*desk);
  {
    const TaskMark mark;
    job.fn(job.context, 0);
  }
  desk->work();
  desk->close_and_wait();
  desk->is_taken.store(false, std::memory_order_release);
  return true;
}

/// Places that nobody will take who stays, or was called and has not come yet: who is called and sits nowhere.
int Crew::missing_at(const Desk& desk) const noexcept {
  int missing = static_cast<int>(desk.places.load(std::memory_order_relaxed) / kPlace) - called_.load();
  for (const Desk& other : desks_) missing += static_cast<int>(other.places.load(std::memory_order_relaxed) & kPresent);
  return missing;
}

void Crew::call_for_more(const Desk& desk) noexcept {
  const int most = static_cast<int>(desks_.size()) - 1;
  for (int calls = std::min(missing_at(desk), kCalls); calls > 0 && called_.load() < most; --calls) {
    members_.fetch_add(1);
    called_.fetch_add(1);
    if (desk.arena->enqueue([](void* crew) { static_cast<Crew*>(crew)->serve(); }, this)) continue;
    called_.fetch_sub(1);
    members_.fetch_sub(1);
    return;
  }
}

/// `was_called`: for the first job since.
bool Crew::work_at_any(bool was_called) noexcept {
  for (Desk& desk : desks_) {
    if (!desk.sit_down()) continue;
    if (was_called) call_for_more(desk);
    note_share();
    desk.work();
    desk.stand_up();
    return true;
  }
  return false;
}

/// True when there is a place. The first desk is the only caller's, where there is but one.
bool Crew::stay() const noexcept {
  std::size_t other = 0;
  return look_for(kStay, [this, &other] {
    if (++other == desks_.size()) other = 0;
    return desks_[0].has_place() || desks_[other].has_place();
  });
}

void Crew::serve() noexcept {
  // Orders what called this thread before what it does without relying on oneTBB, whose own order ThreadSanitizer
  // cannot see.
  static_cast<void>(members_.load(std::memory_order_acquire));
  note_share();
  for (bool was_called = true;;) {
    while (work_at_any(was_called)) was_called = false;
    if (!is_dismissed.load() && stay()) continue;
    // Whoever puts a job on a desk from here on calls for somebody else; so this is the last look.
    called_.fetch_sub(1);
    if (!work_at_any(false)) break;
    called_.fetch_add(1);
  }
  leave();
}

void Crew::dismiss() noexcept {
  is_dismissed.store(true);
  leave();
}

void Crew::leave() noexcept {
  if (members_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

}  // namespace tenfold::runtime
