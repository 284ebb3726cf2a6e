// SPDX-License-Identifier: Apache-2.0
//
// The default thread pool: a well-kept library's behind our ThreadPool interface. Made on first use, never before.
#pragma once

#include <memory>

#include "tenfold/thread_pool.hpp"

namespace tenfold::runtime {

/// The process-wide pool with one thread per core of the affinity mask. A nested call runs on its caller, and so does
/// everything in a child that was forked after the first pool was made (num_threads() is 1 there: docs/threads.md).
ThreadPool& default_pool();

/// A pool of its own with exactly `threads` threads (the caller's included), at least 1.
std::unique_ptr<ThreadPool> make_pool(int threads);

}  // namespace tenfold::runtime
