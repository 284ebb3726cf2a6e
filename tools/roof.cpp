// SPDX-License-Identifier: Apache-2.0
//
// The roofs: how fast this core can read a tensor, or copy one, if it does nothing else. Loads go through inline
// assembly, so that no compiler drops one.
#include <algorithm>
#include <cstring>

#include "tools/bench.hpp"

namespace tenfold::tools {
namespace {

constexpr std::int64_t kLine = 64;

/// Reads one cache line, two vectors.
inline void read_line(const char* line) {
  asm volatile(
      "vmovdqu (%0), %%ymm0\n\t"
      "vmovdqu 32(%0), %%ymm1"
      :
      : "r"(line)
      : "xmm0", "xmm1", "memory");
}

inline void prefetch_line(const char* line) { asm volatile("prefetcht0 (%0)" : : "r"(line)); }

void end_vectors() { asm volatile("vzeroupper" : : : "memory"); }

void read_plain(const char* data, std::int64_t bytes) {
  for (std::int64_t at = 0; at < bytes; at += 4 * kLine)
    for (int line = 0; line < 4; ++line) read_line(data + at + line * kLine);
  end_vectors();
}

void read_four_streams(const char* data, std::int64_t bytes) {
  const std::int64_t quarter = bytes / 4;
  for (std::int64_t at = 0; at < quarter; at += kLine)
    for (int stream = 0; stream < 4; ++stream) read_line(data + stream * quarter + at);
  end_vectors();
}

void read_ahead(const char* data, std::int64_t bytes) {
  constexpr std::int64_t kAhead = 4096;
  for (std::int64_t at = 0; at < bytes; at += 4 * kLine) {
    for (int line = 0; line < 4; ++line) {
      prefetch_line(data + at + line * kLine + kAhead);
      read_line(data + at + line * kLine);
    }
  }
  end_vectors();
}

/// Stores that go around the caches.
inline void stream_line(const char* from, char* to) {
  asm volatile(
      "vmovdqu (%0), %%ymm0\n\t"
      "vmovdqu 32(%0), %%ymm1\n\t"
      "vmovntdq %%ymm0, (%1)\n\t"
      "vmovntdq %%ymm1, 32(%1)"
      :
      : "r"(from), "r"(to)
      : "xmm0", "xmm1", "memory");
}

void copy_streaming(const char* from, char* to, std::int64_t bytes) {
  for (std::int64_t at = 0; at < bytes; at += kLine) stream_line(from + at, to + at);
  end_vectors();
  asm volatile("sfence" : : : "memory");
}

}  // namespace

std::vector<Contender> copy_probes(const void* from, std::int64_t read_bytes, void* to, std::int64_t write_bytes) {
  if (__builtin_cpu_supports("avx2") == 0) return {};
  const char* const source = static_cast<const char*>(from);
  char* const target = static_cast<char*>(to);
  const std::int64_t both = std::min(read_bytes, write_bytes) / kLine * kLine;
  const auto rest = [=] {
    if (read_bytes > both) read_plain(source + both, (read_bytes - both + 255) / 256 * 256);
    if (write_bytes > both) std::memset(target + both, 0, static_cast<std::size_t>(write_bytes - both));
  };
  return {{"roof: copy",
           [=] {
             std::memcpy(target, source, static_cast<std::size_t>(both));
             rest();
           }},
          {"roof: copy, streaming stores", [=] {
             copy_streaming(source, target, both);
             rest();
           }}};
}

std::vector<Contender> read_probes(const void* data, std::int64_t bytes) {
  if (__builtin_cpu_supports("avx2") == 0) return {};
  const char* start = static_cast<const char*>(data);
  return {{"roof: one stream", [=] { read_plain(start, bytes); }},
          {"roof: four streams", [=] { read_four_streams(start, bytes); }},
          {"roof: prefetch", [=] { read_ahead(start, bytes); }}};
}

}  // namespace tenfold::tools
