// SPDX-License-Identifier: Apache-2.0
//
// Locks that no thread holds while the process forks, so that a child never inherits one that is held by a thread which
// it does not have.
#pragma once

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

}  // namespace tenfold::target
