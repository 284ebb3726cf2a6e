// SPDX-License-Identifier: Apache-2.0
#include "compile/constant_cache.hpp"

#include <functional>
#include <iterator>
#include <string_view>

#include "target/environment.hpp"

namespace tenfold::compiler {

/// Candidates are compared without the lock, for that takes as long as reading them.
std::shared_ptr<const Bytes> ConstantCache::find(std::size_t hash, const Bytes& data) {
  std::vector<std::shared_ptr<const Bytes>> candidates;
  {
    const std::lock_guard lock(mutex_);
    const auto [begin, end] = entries_.equal_range(hash);
    for (auto at = begin; at != end; ++at)
      if (std::shared_ptr<const Bytes> held = at->second.lock()) candidates.push_back(std::move(held));
  }
  for (std::shared_ptr<const Bytes>& candidate : candidates)
    if (candidate.get() == &data || *candidate == data) return std::move(candidate);
  return nullptr;
}

/// Forgets what is gone, too. Entries are few: each has kLeastBytes or more.
std::size_t ConstantCache::live_bytes() {
  std::size_t bytes = 0;
  for (auto at = entries_.begin(); at != entries_.end();) {
    const std::shared_ptr<const Bytes> held = at->second.lock();
    if (held != nullptr) bytes += held->size();
    at = held == nullptr ? entries_.erase(at) : std::next(at);
  }
  return bytes;
}

std::shared_ptr<const Bytes> ConstantCache::share(std::shared_ptr<const Bytes> data) {
  if (data == nullptr) return std::make_shared<const Bytes>();
  if (data->size() < kLeastBytes || data->size() > most_bytes()) return data;
  const std::size_t hash = std::hash<std::string_view>()({reinterpret_cast<const char*>(data->data()), data->size()});
  if (std::shared_ptr<const Bytes> held = find(hash, *data)) return held;
  const std::lock_guard lock(mutex_);
  const std::size_t live = live_bytes();
  if (live <= most_bytes_ && data->size() <= most_bytes_ - live) entries_.emplace(hash, data);
  return data;
}

void ConstantCache::set_most_bytes(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  most_bytes_ = bytes;
}

std::size_t ConstantCache::most_bytes() const {
  const std::lock_guard lock(mutex_);
  return most_bytes_;
}

std::size_t ConstantCache::use() {
  const std::lock_guard lock(mutex_);
  return live_bytes();
}

ConstantCache& constant_cache() {
  // Never destroyed, as the kernel cache.
  static std::atomic<ConstantCache*> made;
  return target::one_of_process(made, [] { return ConstantCache(target::environment().constant_cache_bytes); });
}

}  // namespace tenfold::compiler
