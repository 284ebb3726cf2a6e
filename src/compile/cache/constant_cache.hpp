// SPDX-License-Identifier: Apache-2.0
//
// The data of constants, held once for all compiled partitions that have equal ones: weights of a graph that is
// compiled for many shapes. As the kernel cache it holds nothing alive: data go with the last partition that has them.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "target/weak_cache.hpp"

namespace tenfold::compiler {

using Bytes = std::vector<std::byte>;

class ConstantCache {
 public:
  /// Smaller data are not worth a look.
  static constexpr std::size_t kLeastBytes = 4096;

  explicit ConstantCache(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// The equal data that somebody holds already, or `data` itself, which others will find, unless it is small or the
  /// bound is reached. Never null; null are no bytes.
  std::shared_ptr<const Bytes> share(std::shared_ptr<const Bytes> data);
  std::shared_ptr<const Bytes> share(const Bytes& data) { return share(std::make_shared<const Bytes>(data)); }

  /// The most bytes that are found by others; a lower bound takes nothing from those who hold it.
  void set_most_bytes(std::size_t bytes);
  std::size_t most_bytes() const;
  /// The bytes that are held by somebody now and found by others.
  std::size_t use() const noexcept { return *live_bytes_; }

 private:
  using Count = std::atomic<std::size_t>;

  /// Data that others find, counted for as long as somebody holds them, which may be longer than the cache lives.
  struct Shared {
    Shared(std::shared_ptr<const Bytes> held, std::shared_ptr<Count> counted_in);
    ~Shared();
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

    std::shared_ptr<const Bytes> data;
    std::shared_ptr<Count> count;
  };

  std::shared_ptr<const Bytes> find(std::size_t hash, const Bytes& data);

  mutable std::mutex mutex_;
  target::HeldAcrossFork held_{mutex_};
  std::size_t most_bytes_;
  std::shared_ptr<Count> live_bytes_ = std::make_shared<Count>(0);
  std::unordered_multimap<std::size_t, std::weak_ptr<const Bytes>> entries_;
  target::ExpiredSweep expired_;
};

/// The process' own. At first bounded as the environment says.
ConstantCache& constant_cache();

}  // namespace tenfold::compiler
