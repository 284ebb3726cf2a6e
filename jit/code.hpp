// SPDX-License-Identifier: Apache-2.0
//
// Machine code and where it lives. Code is never mapped writable and executable at once: a kernel is emitted into
// ordinary memory and written into the file behind an executable, read-only view (code_memory.cpp). Kernels are packed
// many to a slab; a slab is returned to the system when its last kernel is released, but for the one that is being
// filled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "jit/abi.hpp"
#include "tenfold/status.hpp"

namespace tenfold::jit {

/// Position-independent code, ready to run. Shared: it lives as long as its last user.
class KernelCode {
 public:
  virtual ~KernelCode() = default;
  KernelFunction function() const noexcept { return function_; }
  std::span<const std::uint8_t> bytes() const noexcept { return bytes_; }
  /// Bytes of KernelArgs::scratch that one call needs.
  std::int64_t scratch_bytes() const noexcept { return scratch_bytes_; }
  const std::string& name() const noexcept { return name_; }

 protected:
  KernelFunction function_ = nullptr;
  std::span<const std::uint8_t> bytes_;
  std::int64_t scratch_bytes_ = 0;
  std::string name_;
};

struct CodeMemoryStats {
  std::size_t kernels = 0;
  std::size_t used_bytes = 0;    ///< of code
  std::size_t mapped_bytes = 0;  ///< of slabs
};

/// Executable memory, bounded in bytes. Thread-safe. Destroying it while kernels live is safe: slabs go with the last.
class CodeMemory {
 public:
  explicit CodeMemory(std::size_t capacity_bytes = std::size_t{64} << 20);
  ~CodeMemory();
  CodeMemory(const CodeMemory&) = delete;
  CodeMemory& operator=(const CodeMemory&) = delete;

  /// Copies `bytes` into executable memory. out_of_memory when the bound or the system refuses; unsupported_target when
  /// the system allows no executable memory at all.
  Result<std::shared_ptr<const KernelCode>> publish(std::span<const std::uint8_t> bytes, std::int64_t scratch_bytes,
                                                    std::string name);
  CodeMemoryStats stats() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tenfold::jit
