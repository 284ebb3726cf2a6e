// SPDX-License-Identifier: Apache-2.0
//
// Cache sizes. Virtual machines and emulators report odd ones, and a schedule must not follow them over a cliff, so
// each level has bounds wide enough for any CPU with AVX2; what lies outside counts as not known.
#include <cpuid.h>

#include <algorithm>
#include <charconv>
#include <fstream>

#include "target/host_facts.hpp"

namespace tenfold::target {
namespace {

constexpr std::int64_t kKib = 1 << 10;
constexpr std::int64_t kMib = 1 << 20;

struct Bounds {
  std::int64_t least, most;
};
constexpr Bounds kBounds[] = {{8 * kKib, kMib}, {64 * kKib, 64 * kMib}, {256 * kKib, 4096 * kMib}};

void set_level(int level, std::int64_t bytes, CacheSizes& sizes) {
  if (level < 1 || level > 3) return;
  const Bounds& bounds = kBounds[level - 1];
  if (bytes < bounds.least || bytes > bounds.most) return;
  (level == 1 ? sizes.l1 : level == 2 ? sizes.l2 : sizes.l3) = bytes;
}

std::string first_word(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

}  // namespace

std::optional<std::int64_t> parse_size(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0 || value > 1 << 30) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (unit.empty()) return value;
  if (unit == "K") return value * kKib;
  if (unit == "M") return value * kMib;
  if (unit == "G") return value * kKib * kMib;
  return std::nullopt;
}

CacheSizes caches_from_sysfs(const std::string& root) {
  CacheSizes sizes;
  constexpr int kMostCaches = 16;
  for (int i = 0; i < kMostCaches; ++i) {
    const std::string folder = root + "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    const std::string type = first_word(folder + "type");
    if (type.empty()) break;
    const std::optional<std::int64_t> level = parse_size(first_word(folder + "level"));
    const std::optional<std::int64_t> bytes = parse_size(first_word(folder + "size"));
    if (type == "Instruction" || !level || !bytes || *level > 3) continue;
    set_level(static_cast<int>(*level), *bytes, sizes);
  }
  return sizes;
}

bool add_cache_subleaf(std::uint32_t eax, std::uint32_t ebx, std::uint32_t ecx, CacheSizes& sizes) {
  const std::uint32_t type = eax & 0x1f;
  if (type == 0) return false;
  constexpr std::uint32_t kInstruction = 2;
  if (type == kInstruction) return true;
  const std::int64_t ways = std::int64_t{ebx >> 22} + 1;
  const std::int64_t partitions = std::int64_t{(ebx >> 12) & 0x3ff} + 1;
  const std::int64_t line = std::int64_t{ebx & 0xfff} + 1;
  // Ways, partitions and lines are at most 2^32 together and would overflow with 2^32 sets.
  const std::int64_t sets = std::min<std::int64_t>(std::int64_t{ecx} + 1, std::int64_t{1} << 30);
  set_level(static_cast<int>((eax >> 5) & 0x7), ways * partitions * line * sets, sizes);
  return true;
}

CacheSizes caches_from_cpuid() {
  CacheSizes sizes;
  constexpr int kMostCaches = 16;
  for (const std::uint32_t leaf : {0x4U, 0x8000001dU}) {
    if (__get_cpuid_max(leaf & 0x80000000U, nullptr) < leaf) continue;
    for (std::uint32_t i = 0; i < kMostCaches; ++i) {
      std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
      __cpuid_count(leaf, i, eax, ebx, ecx, edx);
      if (!add_cache_subleaf(eax, ebx, ecx, sizes)) break;
    }
    if (sizes.l1 > 0) break;
  }
  return sizes;
}

void set_caches(const CacheSizes& first, const CacheSizes& second, Target& target) {
  const auto pick = [](std::int64_t a, std::int64_t b, std::int64_t fallback) {
    return a > 0 ? a : b > 0 ? b : fallback;
  };
  target.l1_bytes = pick(first.l1, second.l1, target.l1_bytes);
  target.l2_bytes = pick(first.l2, second.l2, target.l2_bytes);
  target.l3_bytes = std::max(pick(first.l3, second.l3, target.l3_bytes), target.l2_bytes);
}

}  // namespace tenfold::target
