// SPDX-License-Identifier: Apache-2.0
//
// Emitted kernels by class key, shared by all partitions of the process. The cache holds no kernel alive: code is freed
// with its last user, and code memory is bounded by CodeMemory's capacity.
#pragma once

#include <cstddef>
#include <memory>

#include "compile/plan/plan.hpp"
#include "jit/code.hpp"
#include "target/weak_cache.hpp"

namespace tenfold::compiler {

/// Emitted kernels by class key, shared by all partitions of a process; bounded by the code memory's capacity.
class KernelCache {
 public:
  KernelCache() = default;
  explicit KernelCache(std::size_t most_code_bytes) : memory_(most_code_bytes) {}

  /// The kernel for this class, emitted now if nobody has it. Thread-safe.
  Result<std::shared_ptr<const jit::KernelCode>> get(const PlannedKernel& kernel);
  jit::CodeMemoryStats stats() const { return memory_.stats(); }
  /// For tests: how many classes it remembers, those whose kernels are gone among them.
  std::size_t size() const { return kernels_.size(); }

 private:
  jit::CodeMemory memory_;
  target::WeakCache<const jit::KernelCode> kernels_;
};

/// The process's.
KernelCache& kernel_cache();

}  // namespace tenfold::compiler
