// SPDX-License-Identifier: Apache-2.0
//
// What the CPU calls itself.
#include <cpuid.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "target/target.hpp"

namespace tenfold::target {

std::string cpu_vendor() {
  std::array<std::uint32_t, 3> words{};
  std::uint32_t most = 0;
  __get_cpuid(0, &most, &words[0], &words[2], &words[1]);
  std::array<char, sizeof words> letters{};
  std::memcpy(letters.data(), words.data(), sizeof words);
  return {letters.data(), letters.size()};
}

L3 l3_of(std::string_view vendor, int family, Isa native) noexcept {
  constexpr int kZen5 = 0x1A;
  const bool has_avx512 = native >= Isa::avx512_core;
  if (vendor == "GenuineIntel") return has_avx512 ? L3::far : L3::near;
  if (vendor != "AuthenticAMD") return L3::near;
  return family >= kZen5 ? L3::fast : has_avx512 ? L3::near : L3::late;
}

int cpu_family() noexcept {
  std::uint32_t signature = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &signature, &ebx, &ecx, &edx) == 0) return 0;
  constexpr std::uint32_t kExtended = 0xF;
  const std::uint32_t family = signature >> 8 & 0xF;
  return static_cast<int>(family == kExtended ? family + (signature >> 20 & 0xFF) : family);
}

std::string cpu_name() {
  constexpr std::uint32_t kFirst = 0x80000002, kLast = 0x80000004;
  if (__get_cpuid_max(0x80000000, nullptr) < kLast) return "unknown";
  std::array<char, 49> text{};
  for (std::uint32_t leaf = kFirst; leaf <= kLast; ++leaf) {
    std::uint32_t words[4] = {};
    __get_cpuid(leaf, &words[0], &words[1], &words[2], &words[3]);
    std::memcpy(text.data() + (leaf - kFirst) * sizeof words, words, sizeof words);
  }
  // Some pad with blanks on either side.
  std::string name(text.data());
  name.erase(0, name.find_first_not_of(' '));
  name.erase(name.find_last_not_of(' ') + 1);
  return name.empty() ? "unknown" : name;
}

}  // namespace tenfold::target
