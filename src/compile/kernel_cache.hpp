// SPDX-License-Identifier: Apache-2.0
//
// Emitted kernels by class key, shared by all partitions of the process. The cache holds no kernel alive: code is freed
// with its last user, and code memory is bounded by CodeMemory's capacity.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "compile/plan.hpp"
#include "jit/code.hpp"

namespace tenfold::compiler {

class KernelCache {
 public:
  /// The kernel for this class, emitted now if nobody has it. Thread-safe.
  Result<std::shared_ptr<const jit::Code>> get(const PlannedKernel& kernel);
  jit::CodeMemoryStats stats() const { return memory_.stats(); }

 private:
  void drop_expired();

  jit::CodeMemory memory_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<const jit::Code>> kernels_;
  std::size_t drop_at_ = 256;
};

}  // namespace tenfold::compiler
