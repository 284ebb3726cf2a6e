// SPDX-License-Identifier: Apache-2.0
//
// The pool that Tenfold runs its tasks on. A host that has threads of its own implements this interface and passes it
// to compile(); otherwise Tenfold's default pool is used. Results never depend on the pool or on its number of threads.
#pragma once

#include <cstdint>

namespace tenfold {

class ThreadPool {
 public:
  virtual ~ThreadPool() = default;

  /// How many tasks can run at the same time, the caller's thread included; at least 1. What it or parallel_for()
  /// throws is answered by the execution that called it, with internal_error.
  virtual int num_threads() const = 0;

  /// Calls fn(context, i) for every i in [0, n), in any order and on any threads, and returns when all have returned.
  /// Must be callable from several threads at once. `fn` does not throw.
  virtual void parallel_for(std::int64_t n, void (*fn)(void* context, std::int64_t i), void* context) = 0;
};

}  // namespace tenfold
