// SPDX-License-Identifier: Apache-2.0
//
// The pages: guard, data's pages, guard. An empty buffer has one page of slack, so that it still has an address.
// Mappings of few pages are kept for the next buffer of their size: tests make hundreds of thousands of buffers, and
// mapping, touching and unmapping them took a quarter of the time of the longest ones.
#include "guarded_buffer.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace tenfold::numeric {
namespace {

class Mappings {
 public:
  static Mappings& all() {
    static auto* const mappings = new Mappings;  // outlives every buffer
    return *mappings;
  }

  /// `bytes` with a page at either end that cannot be touched.
  std::byte* take(std::size_t bytes, std::size_t page) {
    {
      const std::lock_guard lock(mutex_);
      if (std::vector<std::byte*>& kept = kept_[bytes]; !kept.empty()) {
        std::byte* const mapping = kept.back();
        kept.pop_back();
        return mapping;
      }
    }
    void* const map = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) throw std::bad_alloc();
    auto* const mapping = static_cast<std::byte*>(map);
    if (mprotect(mapping + page, bytes - 2 * page, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    return mapping;
  }

  void give_back(std::byte* mapping, std::size_t bytes) {
    if (bytes <= kMostBytes) {
      const std::lock_guard lock(mutex_);
      if (std::vector<std::byte*>& kept = kept_[bytes]; kept.size() < kMostOfASize) {
        kept.push_back(mapping);
        return;
      }
    }
    munmap(mapping, bytes);
  }

 private:
  static constexpr std::size_t kMostBytes = 128 * 1024, kMostOfASize = 16;

  std::mutex mutex_;
  std::map<std::size_t, std::vector<std::byte*>> kept_;  ///< by bytes
};

}  // namespace

GuardedBuffer::GuardedBuffer(std::size_t size, Guard guard) : size_(size) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t inner = std::max((size + page - 1) / page * page, page);
  mapped_ = inner + 2 * page;
  mapping_ = Mappings::all().take(mapped_, page);
  std::byte* const first = mapping_ + page;
  slack_size_ = inner - size;
  data_ = guard == Guard::before ? first : first + slack_size_;
  slack_ = guard == Guard::before ? first + size : first;
  std::fill_n(slack_, slack_size_, kCanary);
}

GuardedBuffer::~GuardedBuffer() { Mappings::all().give_back(mapping_, mapped_); }

bool GuardedBuffer::canary_intact() const {
  return std::all_of(slack_, slack_ + slack_size_, [](std::byte b) { return b == kCanary; });
}

}  // namespace tenfold::numeric
