// SPDX-License-Identifier: Apache-2.0
//
// Caches that hold nothing alive: they find what somebody else holds, so their users bound them. Of what that is they
// know nothing; they are here with the locks that they need across a fork.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "target/fork.hpp"
#include "tenfold/status.hpp"

namespace tenfold::target {

/// Forgets what is gone of a map of weak pointers, whenever it has doubled: constant cost per insertion.
class ExpiredSweep {
 public:
  template <class Map>
  void after_insertion(Map& map) {
    if (map.size() < next_at_) return;
    std::erase_if(map, [](const auto& entry) { return entry.second.expired(); });
    next_at_ = std::max(kLeast, 2 * map.size());
  }

 private:
  static constexpr std::size_t kLeast = 256;
  std::size_t next_at_ = kLeast;
};

/// Things by the text of what they are. Thread-safe.
template <class T>
class WeakCache {
 public:
  /// Null where nobody holds it.
  std::shared_ptr<T> find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    return held(key);
  }

  /// What somebody holds by now, else what `make` gives, a Result, which others find then. Under the lock: what takes
  /// long comes before.
  template <class Make>
  Result<std::shared_ptr<T>> find_or_make(const std::string& key, const Make& make) {
    const std::lock_guard lock(mutex_);
    if (std::shared_ptr<T> other = held(key)) return other;
    Result<std::shared_ptr<T>> made = make();
    if (!made.ok()) return made;
    entries_.insert_or_assign(key, made.value());
    expired_.after_insertion(entries_);
    return made;
  }

  /// How many it remembers, those that are gone among them.
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  std::shared_ptr<T> held(const std::string& key) const {
    const auto at = entries_.find(key);
    return at == entries_.end() ? nullptr : at->second.lock();
  }

  mutable std::mutex mutex_;
  HeldAcrossFork held_{mutex_};
  std::unordered_map<std::string, std::weak_ptr<T>> entries_;
  ExpiredSweep expired_;
};

}  // namespace tenfold::target
