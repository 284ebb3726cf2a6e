// SPDX-License-Identifier: Apache-2.0
#include "compile/cache/kernel_cache.hpp"

#include <string>

#include "jit/announce.hpp"
#include "jit/emit.hpp"

namespace tenfold::compiler {

KernelCache& kernel_cache() {
  // Never destroyed: partitions in other static objects may outlive any order of destruction that we could choose.
  static std::atomic<KernelCache*> made;
  return target::one_of_process(made);
}

Result<std::shared_ptr<const jit::KernelCode>> KernelCache::get(const PlannedKernel& kernel) {
  const std::string key = jit::class_key(kernel.spec, kernel.schedule);
  if (std::shared_ptr<const jit::KernelCode> known = kernels_.find(key)) return known;
  Result<jit::EmittedCode> emitted = jit::emit(kernel.spec, kernel.schedule);
  if (!emitted.ok()) return emitted.status();
  // Another thread may have emitted it meanwhile.
  return kernels_.find_or_make(key, [&] {
    Result<std::shared_ptr<const jit::KernelCode>> code =
        memory_.publish(emitted.value().bytes, emitted.value().scratch_bytes, key);
    if (code.ok() && jit::announces())
      jit::announce({code.value()->bytes(), jit::kernel_name(kernel.spec, kernel.schedule, key), key});
    return code;
  });
}

}  // namespace tenfold::compiler
