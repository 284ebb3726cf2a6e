// SPDX-License-Identifier: Apache-2.0
//
// Buffers and texts for callers, and the way back; see memory.hpp.
#include "capi/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "capi/boundary.hpp"
#include "capi/growing.hpp"
#include "capi/tensors.hpp"

namespace tenfold::capi {

namespace {

constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector

/// From so much on a buffer begins where a huge page does, and asks the system for such.
constexpr std::size_t kHugePage = std::size_t{2} << 20, kLeastInHugePages = 2 * kHugePage;

/// Null when there is no memory; `size` is a multiple of the alignment.
void* allocate_aligned(std::size_t size) {
  if (size < kLeastInHugePages) return std::aligned_alloc(kAlignment, size);
  void* memory = nullptr;
  if (posix_memalign(&memory, kHugePage, size) != 0) return nullptr;
  madvise(memory, size, MADV_HUGEPAGE);
  return memory;
}

Result<tenfold_allocator_t> read_allocator(const tenfold_allocator_t& given) {
  Result<tenfold_allocator_t> read = read_growing(given, "allocator");
  if (!read.ok()) return read;
  if (read.value().allocate == nullptr || read.value().deallocate == nullptr)
    return Status(Code::invalid_argument, "allocator: 'allocate' or 'deallocate' is null");
  return read;
}

Result<void*> allocate_from(const tenfold_allocator_t& host, std::size_t size) {
  void* const memory = host.allocate(host.context, size, kAlignment);
  if (memory == nullptr)
    return Status(Code::out_of_memory, "the host's allocator gave null for " + std::to_string(size) + " bytes");
  if (reinterpret_cast<std::uintptr_t>(memory) % kAlignment == 0) return memory;
  host.deallocate(host.context, memory);
  return Status(Code::invalid_argument, "the host's allocator gave memory that is not aligned to 64 bytes");
}

}  // namespace

Result<void*> allocate(const tenfold_allocator_t* allocator, std::size_t size) {
  const std::size_t most = (std::max<std::size_t>(size, 1) + kAlignment - 1) / kAlignment * kAlignment;
  if (allocator == nullptr) {
    void* const memory = allocate_aligned(most);
    if (memory == nullptr) return Status(Code::out_of_memory, "no memory for " + std::to_string(size) + " bytes");
    return memory;
  }
  const Result<tenfold_allocator_t> host = read_allocator(*allocator);
  if (!host.ok()) return host.status();
  return allocate_from(host.value(), most);
}

Status give_text(const std::string& text, const tenfold_allocator_t* allocator, char** out) {
  const Result<void*> memory = allocate(allocator, text.size() + 1);
  if (!memory.ok()) return memory.status();
  std::memcpy(memory.value(), text.c_str(), text.size() + 1);
  *out = static_cast<char*>(memory.value());
  return {};
}

}  // namespace tenfold::capi

using namespace tenfold;

tenfold_status_t tenfold_memory_release(void* memory, const tenfold_allocator_t* allocator) {
  return capi::answer(__func__, [&]() -> Status {
    if (allocator == nullptr) {
      std::free(memory);
      return {};
    }
    const Result<tenfold_allocator_t> host = capi::read_allocator(*allocator);
    if (!host.ok()) return host.status();
    if (memory != nullptr) host.value().deallocate(host.value().context, memory);
    return {};
  });
}

tenfold_status_t tenfold_buffer_create(void** buffer, const tenfold_logical_tensor_t* tensor,
                                       const tenfold_allocator_t* allocator) {
  return capi::answer(__func__, [&]() -> Status {
    if (Status status = capi::require({{"buffer", buffer}, {"tensor", tensor}}); !status.ok()) return status;
    std::size_t size = 0;
    if (Status status = capi::memory_size(*tensor, size); !status.ok()) return status;
    const Result<void*> memory = capi::allocate(allocator, size);
    if (!memory.ok()) return memory.status();
    *buffer = memory.value();
    return {};
  });
}
