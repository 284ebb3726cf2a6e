// SPDX-License-Identifier: Apache-2.0
//
// The facts of the host that come from the system's files: caches and processor time. Every reader takes the root of
// the file system as an argument, so that tests can show it another machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "target/target.hpp"

namespace tenfold::target {

struct CacheSizes {
  std::int64_t l1 = 0, l2 = 0, l3 = 0;  ///< bytes of the data or unified cache; 0: not known, or not credible
};

/// "32K", "2048K", "36M" or "512" in bytes; nullopt when it is not such a text.
std::optional<std::int64_t> parse_size(std::string_view text);

/// From <root>/sys/devices/system/cpu/cpu0/cache. A size outside its level's bounds counts as not known.
CacheSizes caches_from_sysfs(const std::string& root);

/// From CPUID leaf 4 (Intel) or 0x8000001D (AMD), whichever the CPU has.
CacheSizes caches_from_cpuid();

/// One subleaf of those, as registers: adds its size to the level that it describes. False for the end of the list.
bool add_cache_subleaf(std::uint32_t eax, std::uint32_t ebx, std::uint32_t ecx, CacheSizes& sizes);

/// The first of the two that knows a level; Target's defaults where neither does, and no L3 below the L2.
void set_caches(const CacheSizes& first, const CacheSizes& second, Target& target);

/// Processors that the calling process may run on; at least 1.
int cores_by_affinity();

/// The least quota of the process's cgroup and those above it, in processors, rounded up: v2's cpu.max, v1's
/// cpu.cfs_quota_us. nullopt when there is no limit.
std::optional<int> cores_by_cgroup(const std::string& root);

/// `native`, or the level that `cap` (TENFOLD_MAX_CPU_ISA; null or empty: none) allows of it. invalid_argument, listing
/// the names, when `cap` is none.
Result<Isa> apply_cap(Isa native, const char* cap);

/// `host` at the level `isa`: unsupported_target when it is above what the machine has, or what the cap allows.
Result<Target> cap_target(const Target& host, Isa isa);

}  // namespace tenfold::target
