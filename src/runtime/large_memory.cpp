// SPDX-License-Identifier: Apache-2.0
#include "runtime/large_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <set>
#include <vector>

#include "target/fork.hpp"

namespace tenfold::runtime {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

struct Pages {
  std::byte* data = nullptr;
  std::size_t size = 0;
  explicit operator bool() const { return size > 0; }
};

std::size_t rounded_up(std::size_t n) { return (n + kHugePage - 1) / kHugePage * kHugePage; }

void unmap(const Pages& pages) noexcept {
  if (pages) munmap(pages.data, pages.size);
}

/// Whole huge pages, where the system has them for who asks: a fault for 2 MiB, not for 4 KiB, and what kernels read
/// and write of it takes fewer entries of the TLB.
Pages map(std::size_t bytes) noexcept {
  const std::size_t size = rounded_up(bytes), with_room = size + kHugePage;
  void* const mapped = mmap(nullptr, with_room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return {};
  const auto at = reinterpret_cast<std::uintptr_t>(mapped);
  const std::size_t before = rounded_up(at) - at;
  std::byte* const begin = static_cast<std::byte*>(mapped);
  unmap({begin, before});
  const Pages pages{begin + before, size};
  unmap({pages.data + size, kHugePage - before});
  madvise(pages.data, size, MADV_HUGEPAGE);
  return pages;
}

/// The blocks that nobody has borrowed, the smallest first. The lock is not held while the system works.
class Keep {
 public:
  void add_need(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    needs_.insert(bytes);
  }

  void drop_need(std::size_t bytes) noexcept {
    {
      const std::lock_guard lock(mutex_);
      needs_.erase(needs_.find(bytes));
    }
    while (const Pages pages = pop_unneeded()) unmap(pages);
  }

  /// The smallest that has room. If none has, a new one takes the place of the largest.
  Pages take(std::size_t bytes) noexcept {
    const Pages spare = pop_for(bytes);
    if (spare.size >= bytes) return spare;
    unmap(spare);
    return map(bytes);
  }

  /// The system may take the pages while nobody has them, if it is short of memory.
  void give(const Pages& pages) noexcept {
    madvise(pages.data, pages.size, MADV_FREE);
    if (!push(pages)) unmap(pages);
  }

 private:
  static bool is_smaller(const Pages& pages, std::size_t bytes) { return pages.size < bytes; }

  std::size_t most_kept() const { return needs_.empty() ? 0 : rounded_up(*needs_.rbegin()); }

  Pages pop(std::vector<Pages>::const_iterator at) {
    const Pages pages = *at;
    spares_.erase(at);
    return pages;
  }

  Pages pop_unneeded() noexcept {
    const std::lock_guard lock(mutex_);
    return spares_.empty() || spares_.back().size <= most_kept() ? Pages() : pop(spares_.end() - 1);
  }

  Pages pop_for(std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    if (spares_.empty()) return {};
    return pop(std::min(std::lower_bound(spares_.begin(), spares_.end(), bytes, is_smaller), spares_.end() - 1));
  }

  bool push(const Pages& pages) noexcept try {
    const std::lock_guard lock(mutex_);
    if (pages.size > most_kept()) return false;
    spares_.insert(std::lower_bound(spares_.begin(), spares_.end(), pages.size, is_smaller), pages);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  std::mutex mutex_;
  target::HeldAcrossFork held_{mutex_};
  std::multiset<std::size_t> needs_;  ///< of programs that are alive, in bytes
  std::vector<Pages> spares_;
};

/// Never destroyed, as programs in static objects may outlive any order that we chose.
Keep& keep() {
  static std::atomic<Keep*> made;
  return target::one_of_process(made);
}

}  // namespace

LargeNeed::LargeNeed(std::size_t bytes) : bytes_(bytes) { keep().add_need(bytes); }

LargeNeed::~LargeNeed() { keep().drop_need(bytes_); }

LargeBlock::LargeBlock(std::size_t bytes) noexcept try {
  const Pages pages = keep().take(bytes);
  data_ = pages.data;
  size_ = pages.size;
} catch (const std::bad_alloc&) {  // at the first block of all
}

LargeBlock::~LargeBlock() {
  if (data_ != nullptr) keep().give({data_, size_});
}

}  // namespace tenfold::runtime
