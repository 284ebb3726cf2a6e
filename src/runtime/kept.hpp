// SPDX-License-Identifier: Apache-2.0
//
// Memory that the runtime borrows while it runs: 64-byte aligned, kept by each thread from one run to the next, or, if
// it is much, by the process, so that only the first run of a thread (or the first larger one) allocates. Not for
// anything that outlives a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "runtime/large_memory.hpp"

namespace tenfold::runtime {

/// Bytes on a cache line of their own; empty when allocation failed.
class Buffer {
 public:
  static constexpr std::align_val_t kAlignment{64};

  Buffer() = default;
  Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Buffer() { ::operator delete(data_, kAlignment); }

  /// At least `bytes` bytes, contents lost; false when there is no memory.
  bool reserve(std::int64_t bytes) noexcept {
    if (bytes <= size_) return true;
    ::operator delete(std::exchange(data_, nullptr), kAlignment);
    data_ = ::operator new(static_cast<std::size_t>(bytes), kAlignment, std::nothrow);
    size_ = data_ != nullptr ? bytes : 0;
    return data_ != nullptr;
  }
  std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }
  std::int64_t size() const noexcept { return size_; }

 private:
  void* data_ = nullptr;
  std::int64_t size_ = 0;
};

/// What a thread keeps at most for each use; the process keeps what is larger.
inline constexpr std::int64_t kMostKeptBytes = std::int64_t{16} << 20;

/// Memory for a scope, of what the thread keeps for `Use`, which is but a name. It is taken out of the keep, so that a
/// run that starts inside another one on the same thread (a host pool may do that while it waits) has its own; at the
/// end the larger is kept. Who needs more than is ever kept leaves the keep to others.
template <class Use>
class Kept {
 public:
  explicit Kept(std::int64_t bytes) noexcept {
    if (bytes > kMostKeptBytes) {
      large_ = LargeBlock(static_cast<std::size_t>(bytes));
      has_memory_ = large_.data() != nullptr;
    } else {
      buffer_ = std::move(kept());
      has_memory_ = buffer_.reserve(bytes);
    }
  }
  ~Kept() {
    if (Buffer& keep = kept(); buffer_.size() > keep.size()) keep = std::move(buffer_);
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  /// Whether the bytes are there.
  bool has_memory() const noexcept { return has_memory_; }
  /// May be null where no bytes were asked for.
  std::byte* data() const noexcept { return large_.data() != nullptr ? large_.data() : buffer_.data(); }

 private:
  static Buffer& kept() noexcept {
    thread_local Buffer buffer;
    return buffer;
  }

  Buffer buffer_;
  LargeBlock large_;
  bool has_memory_;
};

}  // namespace tenfold::runtime
