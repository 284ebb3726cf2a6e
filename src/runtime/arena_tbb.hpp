// SPDX-License-Identifier: Apache-2.0
//
// The one door to oneTBB. Its file is compiled without ThreadSanitizer: Debian's libtbb is not instrumented, so the
// sanitizer would see the headers' half of every hand-over and call it a race. What our own side needs ordered is
// ordered by our own atomics (crew.cpp), which the sanitizer does see.
#pragma once

#include <memory>

namespace tenfold::runtime {

/// Workers of oneTBB, for up to `threads` threads at once with the callers'.
class TbbArena {
 public:
  explicit TbbArena(int threads);
  ~TbbArena();
  TbbArena(const TbbArena&) = delete;
  TbbArena& operator=(const TbbArena&) = delete;

  /// Has a worker call fn(context), some time. False when none will: the host allows oneTBB one thread, or there was
  /// no memory.
  bool enqueue(void (*fn)(void* context), void* context) noexcept;

  /// Cores in the affinity mask.
  static int cores() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold::runtime
