// SPDX-License-Identifier: Apache-2.0
//
// The machine that we run on, found once per process.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>

#include "target/environment.hpp"
#include "target/fork.hpp"
#include "target/host_facts.hpp"

namespace tenfold::target {
namespace {

Result<Target> find_host() {
  Target target;
  target.native = detect(read_cpuid());
  Result<Isa> isa = apply_cap(target.native, environment().max_cpu_isa.c_str());
  if (!isa.ok()) return isa.status();
  target.isa = isa.value();
  set_caches(caches_from_sysfs(""), caches_from_cpuid(), target);
  target.l3 = l3_of(cpu_vendor(), cpu_family(), target.native);
  target.cores = std::min(cores_by_affinity(), cores_by_cgroup("").value_or(1 << 20));
  return target;
}

}  // namespace

int cores_by_affinity() {
  // The kernel refuses a mask that is shorter than its own; 2^16 processors is beyond any that it is built for.
  for (int processors = CPU_SETSIZE; processors <= 1 << 16; processors *= 2) {
    cpu_set_t* set = CPU_ALLOC(processors);
    if (set == nullptr) return 1;
    const std::size_t bytes = CPU_ALLOC_SIZE(processors);
    const bool ok = sched_getaffinity(0, bytes, set) == 0;
    const int count = ok ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (ok) return std::max(1, count);
  }
  return 1;
}

Result<Isa> apply_cap(Isa native, const char* cap) {
  if (cap == nullptr || *cap == '\0') return native;
  Result<Isa> level = isa_from_name(cap);
  if (!level.ok()) return level.status().about("environment variable TENFOLD_MAX_CPU_ISA");
  return std::min(native, level.value());
}

Result<Target> cap_target(const Target& host, Isa isa) {
  const std::string wanted(to_string(isa));
  if (isa > host.native)
    return Status(Code::unsupported_target, "target " + wanted + " is above what this machine can run, which is " +
                                                std::string(to_string(host.native)));
  if (isa > host.isa)
    return Status(Code::unsupported_target, "target " + wanted + " is above " + std::string(to_string(host.isa)) +
                                                ", at which TENFOLD_MAX_CPU_ISA caps this process");
  Target target = host;
  target.isa = isa;
  return target;
}

const Result<Target>& host() {
  static std::atomic<const Result<Target>*> found;
  return one_of_process(found, find_host);
}

Result<Target> host_capped(Isa isa) {
  const Result<Target>& machine = host();
  return machine.ok() ? cap_target(machine.value(), isa) : machine;
}

Result<Target> host_named(std::string_view name) {
  if (name.empty()) return host();
  const Result<Isa> isa = isa_from_name(name);
  if (!isa.ok()) return isa.status();
  return host_capped(isa.value());
}

}  // namespace tenfold::target
