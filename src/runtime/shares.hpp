// SPDX-License-Identifier: Apache-2.0
//
// The tasks of one step, handed out in runs of neighbours: each thread has a share of its own and takes of the others'
// when that is done. So a step that runs again finds its operands in the caches of those cores that had them, and a
// thread that comes late, or not at all, costs nothing but its own absence.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace tenfold::runtime {

/// Tasks from `begin` on, `end` apart.
struct TaskRun {
  std::int64_t begin, end;
  bool empty() const noexcept { return begin >= end; }
  std::int64_t size() const noexcept { return end - begin; }
};

class Shares {
 public:
  /// `threads`: that will ask, one at least. More than kMost have a share of their own in common with others.
  Shares(std::int64_t tasks, std::int64_t threads) noexcept
      : count_(static_cast<std::size_t>(std::clamp<std::int64_t>(threads, 1, kMost))) {
    const std::int64_t count = static_cast<std::int64_t>(count_);
    for (std::size_t share = 0; share < count_; ++share) {
      const std::int64_t number = static_cast<std::int64_t>(share);
      shares_[share].next.store(number * tasks / count, std::memory_order_relaxed);
      shares_[share].end = (number + 1) * tasks / count;
    }
  }

  /// For whoever has share `of`, any number from 0 on: half of what is left of a share, `most` at most. Empty when all
  /// tasks are taken.
  TaskRun take(std::int64_t of, std::int64_t most) noexcept {
    std::size_t number = static_cast<std::size_t>(of);
    if (number >= count_) number %= count_;
    for (std::size_t i = 0; i < count_; ++i) {
      Share& share = shares_[number];
      if (const std::int64_t left = share.end - share.next.load(std::memory_order_relaxed); left > 0) {
        const std::int64_t wanted = std::clamp<std::int64_t>(left / 2, 1, most);
        const std::int64_t begin = share.next.fetch_add(wanted, std::memory_order_relaxed);
        if (begin < share.end) return {begin, std::min(begin + wanted, share.end)};
      }
      if (++number == count_) number = 0;
    }
    return {0, 0};
  }

 private:
  static constexpr std::size_t kMost = 16;
  /// Lines of their own, for who has the share.
  struct alignas(64) Share {
    std::atomic<std::int64_t> next;
    std::int64_t end;
  };

  const std::size_t count_;
  std::array<Share, kMost> shares_;
};

}  // namespace tenfold::runtime
