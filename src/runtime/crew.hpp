// SPDX-License-Identifier: Apache-2.0
//
// The threads that do the jobs of one pool. oneTBB lends them; one that has done its share of a job stays for a moment,
// as calls follow each other, and finds the next one by itself: within half a microsecond, where handing a task to a
// worker of oneTBB takes two or three (docs/threads.md).
//
// The story of a job: its caller takes a *desk*, puts the job there with a number of places, and takes indices itself.
// Whoever stays looks over the desks again and again; who gets a place takes indices until there are none. If fewer
// stay than there are places, the caller calls for two more, and so does each of those who come so. When all indices
// are taken the caller closes the places and waits for those who have one.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "runtime/arena_tbb.hpp"

namespace tenfold::runtime {

/// A parallel_for(): fn(context, i) for i in [0, count).
struct Job {
  std::int64_t count;
  void (*fn)(void* context, std::int64_t i);
  void* context;

  /// On the caller alone.
  void run_here() const;
};

/// True on a thread that is running a job's index.
bool in_task() noexcept;

/// It ends itself when its pool and all of its threads have left it.
class Crew {
 public:
  /// `threads`: at once, of which callers are one each; two at least.
  explicit Crew(int threads);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Runs `job`, of two indices and more, on the caller, which takes the first one, and others; returns when all are
  /// done. False, and nothing done, where as many callers as there are threads have jobs here: waiting for a place
  /// would be no faster.
  bool run(const Job& job, TbbArena& arena);

  /// The pool's last word to it.
  void dismiss() noexcept;

 private:
  /// Where one caller's job lies.
  struct alignas(64) Desk {
    std::atomic<bool> is_taken{false};
    /// In one line, which the caller writes at once and who comes reads at once: places that are free in the upper half
    /// and those who have one in the lower; what these read; and the next index, handed out one by one.
    alignas(64) std::atomic<std::uint32_t> places{0};
    Job job{};
    std::atomic<std::int64_t> next{0};
    TbbArena* arena = nullptr;  ///< there as long as the job is

    bool has_place() const noexcept;
    bool sit_down() noexcept;
    void stand_up() noexcept;
    void work();
    void close_and_wait() noexcept;
  };

  Desk* take_desk() noexcept;
  int missing_at(const Desk& desk) const noexcept;
  void call_for_more(const Desk& desk) noexcept;
  void serve() noexcept;
  bool work_at_any(bool was_called) noexcept;
  bool stay() const noexcept;
  void leave() noexcept;

  std::vector<Desk> desks_;
  alignas(64) std::atomic<int> called_{0};  ///< threads that were called, and will look over the desks again
  std::atomic<int> members_{1};             ///< threads that were called and have not left, and the pool
  std::atomic<bool> is_dismissed{false};
};

}  // namespace tenfold::runtime
