// SPDX-License-Identifier: Apache-2.0
#include "target/fork.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

namespace tenfold::target {

class ForkRegistry {
 public:
  /// Its maker alone has fork() call it, once it is there: pthread_atfork() waits for a fork of another thread, whose
  /// child must find nothing half made.
  static ForkRegistry& get() {
    static std::atomic<ForkRegistry*> made;
    if (ForkRegistry* const there = made.load(std::memory_order_acquire)) return *there;
    ForkRegistry& registry = one_of_process(made);
    if (!registry.is_called_.exchange(true))
      static_cast<void>(
          pthread_atfork([] { get().hold_all(); }, [] { get().release_all(); }, [] { get().release_all(); }));
    return registry;
  }
  void add(HeldAcrossFork* lock) {
    const std::lock_guard guard(mutex_);
    locks_.insert(lock);
  }
  void remove(HeldAcrossFork* lock) {
    const std::lock_guard guard(mutex_);
    locks_.erase(lock);
  }

 private:
  /// Takes all or waits with none, so that it does not matter in which order others take them. A thread that forks
  /// while it holds one itself, in a callback, is not kept for ever.
  void hold_all() {
    constexpr auto kPause = std::chrono::microseconds(50);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    for (;;) {
      mutex_.lock();
      for (HeldAcrossFork* const lock : locks_) lock->is_held_ = lock->try_lock_(lock->lockable_);
      const bool all = std::all_of(locks_.begin(), locks_.end(), [](const auto* lock) { return lock->is_held_; });
      if (all || std::chrono::steady_clock::now() >= end) return;
      release_all();
      std::this_thread::sleep_for(kPause);
    }
  }
  void release_all() {
    for (HeldAcrossFork* const lock : locks_) {
      if (lock->is_held_) lock->unlock_(lock->lockable_);
      lock->is_held_ = false;
    }
    mutex_.unlock();
  }

  std::atomic<bool> is_called_ = false;
  std::mutex mutex_;
  std::set<HeldAcrossFork*> locks_;
};

HeldAcrossFork::HeldAcrossFork(void* lockable, bool (*try_lock)(void*), void (*unlock)(void*))
    : lockable_(lockable), try_lock_(try_lock), unlock_(unlock) {
  ForkRegistry::get().add(this);
}

HeldAcrossFork::~HeldAcrossFork() { ForkRegistry::get().remove(this); }

}  // namespace tenfold::target
