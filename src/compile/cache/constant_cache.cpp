// SPDX-License-Identifier: Apache-2.0
#include "compile/cache/constant_cache.hpp"

#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

#include "target/environment.hpp"

namespace tenfold::compiler {

/// Candidates are compared without the lock, for that takes as long as reading them.
std::shared_ptr<const Bytes> ConstantCache::find(std::size_t hash, const Bytes& data) {
  std::vector<std::shared_ptr<const Bytes>> candidates;
  {
    const std::lock_guard lock(mutex_);
    auto [at, end] = entries_.equal_range(hash);
    while (at != end) {
      std::shared_ptr<const Bytes> held = at->second.lock();
      at = held == nullptr ? entries_.erase(at) : std::next(at);
      if (held != nullptr) candidates.push_back(std::move(held));
    }
  }
  for (std::shared_ptr<const Bytes>& candidate : candidates)
    if (candidate.get() == &data || *candidate == data) return std::move(candidate);
  return nullptr;
}

ConstantCache::Shared::Shared(std::shared_ptr<const Bytes> held, std::shared_ptr<Count> counted_in)
    : data(std::move(held)), count(std::move(counted_in)) {
  *count += data->size();
}

ConstantCache::Shared::~Shared() { *count -= data->size(); }

std::shared_ptr<const Bytes> ConstantCache::share(std::shared_ptr<const Bytes> data) {
  if (data == nullptr) return std::make_shared<const Bytes>();
  if (data->size() < kLeastBytes || data->size() > most_bytes()) return data;
  const std::size_t hash = std::hash<std::string_view>()({reinterpret_cast<const char*>(data->data()), data->size()});
  if (std::shared_ptr<const Bytes> held = find(hash, *data)) return held;
  const std::lock_guard lock(mutex_);
  const std::size_t live = *live_bytes_;
  if (live > most_bytes_ || data->size() > most_bytes_ - live) return data;
  const auto shared = std::make_shared<const Shared>(std::move(data), live_bytes_);
  std::shared_ptr<const Bytes> found_by_others(shared, shared->data.get());
  entries_.emplace(hash, found_by_others);
  expired_.after_insertion(entries_);
  return found_by_others;
}

void ConstantCache::set_most_bytes(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  most_bytes_ = bytes;
}

std::size_t ConstantCache::most_bytes() const {
  const std::lock_guard lock(mutex_);
  return most_bytes_;
}

ConstantCache& constant_cache() {
  // Never destroyed, as the kernel cache.
  static std::atomic<ConstantCache*> made;
  return target::one_of_process(made, [] { return ConstantCache(target::environment().constant_cache_bytes); });
}

}  // namespace tenfold::compiler
