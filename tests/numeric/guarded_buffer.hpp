// SPDX-License-Identifier: Apache-2.0
//
// A buffer between pages that cannot be touched: reading or writing one byte past its guarded end kills the test.
// The bytes between its other end and the far guard page hold a pattern that is checked for writes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenfold::numeric {

class GuardedBuffer {
 public:
  /// Which end lies exactly at a guard page.
  enum class Guard : std::uint8_t { after, before };

  /// The data's bytes are whatever was there: fill them.
  GuardedBuffer(std::size_t size, Guard guard);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  /// True when nothing has been written beside the data.
  bool canary_intact() const;

  static constexpr std::byte kCanary{0xc7};

 private:
  std::byte* mapping_ = nullptr;
  std::size_t mapped_ = 0, size_ = 0;
  std::byte* data_ = nullptr;
  std::byte* slack_ = nullptr;  ///< the bytes of the data's pages that are not data
  std::size_t slack_size_ = 0;
};

}  // namespace tenfold::numeric
