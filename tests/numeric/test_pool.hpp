// SPDX-License-Identifier: Apache-2.0
//
// A pool with threads of its own for every call, which take the tasks last to first: no result may depend on it.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "tenfold/thread_pool.hpp"

namespace tenfold::numeric {

class TestPool final : public ThreadPool {
 public:
  explicit TestPool(int threads) : threads_(threads) {}
  int num_threads() const noexcept override { return threads_; }
  void parallel_for(std::int64_t n, void (*fn)(void*, std::int64_t), void* context) override {
    ++calls_;
    std::atomic<std::int64_t> left{n};
    const auto work = [&] {
      for (std::int64_t i = --left; i >= 0; i = --left) fn(context, i);
    };
    std::vector<std::thread> others;
    for (int i = 1; i < threads_; ++i) others.emplace_back(work);
    work();
    for (std::thread& t : others) t.join();
  }
  std::int64_t calls() const { return calls_; }

 private:
  int threads_;
  std::atomic<std::int64_t> calls_{0};
};

}  // namespace tenfold::numeric
