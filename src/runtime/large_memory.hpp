// SPDX-License-Identifier: Apache-2.0
//
// Memory for temporaries that are too large for each thread to keep. The system takes half a millisecond to hand out a
// MiB of fresh pages, several times as long as a kernel takes to fill it, so that the process keeps blocks from one run
// to the next: as long as a program is alive that needs as much, and until the system itself is short of memory.
#pragma once

#include <cstddef>
#include <utility>

namespace tenfold::runtime {

/// What a program may borrow at once, in one block. While one lives, blocks of up to so many bytes are kept: as many as
/// have been borrowed at the same time.
class LargeNeed {
 public:
  explicit LargeNeed(std::size_t bytes);
  ~LargeNeed();
  LargeNeed(const LargeNeed&) = delete;
  LargeNeed& operator=(const LargeNeed&) = delete;

 private:
  std::size_t bytes_;
};

/// Bytes that nobody else has, contents lost, which begin where a huge page does.
class LargeBlock {
 public:
  LargeBlock() = default;
  /// Empty when there is no memory.
  explicit LargeBlock(std::size_t bytes) noexcept;
  LargeBlock(LargeBlock&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  LargeBlock& operator=(LargeBlock&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  /// Keeps the bytes for others who need as much, or gives them back to the system.
  ~LargeBlock();

  std::byte* data() const noexcept { return data_; }
  /// In bytes, at least what was asked for.
  std::size_t size() const noexcept { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tenfold::runtime
