// SPDX-License-Identifier: Apache-2.0
//
// Locks that no thread holds while the process forks, so that a child never inherits one that is held by a thread which
// it does not have.
#pragma once

#include <atomic>
#include <memory>

namespace tenfold::target {

/// For as long as it lives, fork() waits until the lock is free, for five seconds at most, and holds it until both
/// processes go on.
class HeldAcrossFork {
 public:
  template <class Lockable>
  explicit HeldAcrossFork(Lockable& lockable)
      : HeldAcrossFork(
            &lockable, [](void* of) { return static_cast<Lockable*>(of)->try_lock(); },
            [](void* of) { static_cast<Lockable*>(of)->unlock(); }) {}
  ~HeldAcrossFork();
  HeldAcrossFork(const HeldAcrossFork&) = delete;
  HeldAcrossFork& operator=(const HeldAcrossFork&) = delete;

 private:
  friend class ForkRegistry;
  HeldAcrossFork(void* lockable, bool (*try_lock)(void*), void (*unlock)(void*));

  void* lockable_;
  bool (*try_lock_)(void*);
  void (*unlock_)(void*);
  bool is_held_ = false;  ///< by the thread that forks
};

/// The one T of the process, which `make` gives to whoever asks first, and which is never destroyed, as objects of
/// other files may ask while static objects are. Of two that are made at once one is used. A static of a function would
/// be locked while it is made, and so for ever in a child that is forked then (tests/house/check_guards.py).
template <class T, class Make>
T& one_of_process(std::atomic<T*>& made, const Make& make) {
  if (T* const there = made.load(std::memory_order_acquire)) return *there;
  std::unique_ptr<T> own(new T(make()));
  T* there = nullptr;
  return made.compare_exchange_strong(there, own.get(), std::memory_order_acq_rel) ? *own.release() : *there;
}

template <class T>
T& one_of_process(std::atomic<T*>& made) {
  return one_of_process(made, [] { return T(); });
}

}  // namespace tenfold::target
