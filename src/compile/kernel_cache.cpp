// SPDX-License-Identifier: Apache-2.0
#include "compile/kernel_cache.hpp"

#include <algorithm>

#include "compile/compile.hpp"
#include "jit/announce.hpp"
#include "jit/emit.hpp"

namespace tenfold::compiler {

KernelCache& kernel_cache() {
  // Never destroyed: partitions in other static objects may outlive any order of destruction that we could choose.
  static std::atomic<KernelCache*> made;
  return target::one_of_process(made);
}

jit::CodeMemoryStats kernel_cache_stats() { return kernel_cache().stats(); }

std::shared_ptr<const jit::KernelCode> KernelCache::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto at = kernels_.find(key);
  return at == kernels_.end() ? nullptr : at->second.lock();
}

Result<std::shared_ptr<const jit::KernelCode>> KernelCache::get(const PlannedKernel& kernel) {
  const std::string key = jit::class_key(kernel.spec, kernel.schedule);
  if (std::shared_ptr<const jit::KernelCode> known = find(key)) return known;
  Result<jit::EmittedCode> emitted = jit::emit(kernel.spec, kernel.schedule);
  if (!emitted.ok()) return emitted.status();
  const std::lock_guard lock(mutex_);
  // Another thread may have emitted it meanwhile.
  const auto at = kernels_.find(key);
  if (at != kernels_.end())
    if (std::shared_ptr<const jit::KernelCode> known = at->second.lock()) return known;
  Result<std::shared_ptr<const jit::KernelCode>> code =
      memory_.publish(emitted.value().bytes, emitted.value().scratch_bytes, key);
  if (!code.ok()) return code;
  if (jit::announces())
    jit::announce({code.value()->bytes(), jit::kernel_name(kernel.spec, kernel.schedule, key), key});
  kernels_.insert_or_assign(key, code.value());
  drop_expired();
  return code;
}

/// Forgets kernels that are gone, whenever the map has doubled: constant cost per insertion.
void KernelCache::drop_expired() {
  if (kernels_.size() < drop_at_) return;
  std::erase_if(kernels_, [](const auto& entry) { return entry.second.expired(); });
  drop_at_ = std::max<std::size_t>(256, 2 * kernels_.size());
}

}  // namespace tenfold::compiler
