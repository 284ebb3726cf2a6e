// SPDX-License-Identifier: Apache-2.0
//
// The pages: guard, data's pages, guard. An empty buffer has one page of slack, so that it still has an address.
#include "guarded_buffer.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

namespace tenfold::numeric {

GuardedBuffer::GuardedBuffer(std::size_t size, Guard guard) : size_(size) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t inner = std::max((size + page - 1) / page * page, page);
  mapped_ = inner + 2 * page;
  void* const map = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(map);
  std::byte* const first = mapping_ + page;
  if (mprotect(first, inner, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  slack_size_ = inner - size;
  data_ = guard == Guard::before ? first : first + slack_size_;
  slack_ = guard == Guard::before ? first + size : first;
  std::fill_n(slack_, slack_size_, kCanary);
}

GuardedBuffer::~GuardedBuffer() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

bool GuardedBuffer::canary_intact() const {
  return std::all_of(slack_, slack_ + slack_size_, [](std::byte b) { return b == kCanary; });
}

}  // namespace tenfold::numeric
