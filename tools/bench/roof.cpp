// SPDX-License-Identifier: Apache-2.0
//
// Loads go through inline assembly, so that no compiler drops one.
#include "tools/bench/roof.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/default_pool.hpp"

namespace tenfold::tools::bench {
namespace {

constexpr std::int64_t kLine = 64;
/// What one step reads.
constexpr std::int64_t kStep = 4 * kLine;
/// How far ahead lines are asked for.
constexpr std::int64_t kAhead = 4096;

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
  for (std::int64_t at = 0; at < bytes; at += kStep)
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
  for (std::int64_t at = 0; at < bytes; at += kStep) {
    for (int line = 0; line < 4; ++line) {
      prefetch_line(data + at + line * kLine + kAhead);
      read_line(data + at + line * kLine);
    }
  }
  end_vectors();
}

/// Asks for a line in order to write to it.
inline void claim_line(const char* line) { asm volatile("prefetchw (%0)" : : "r"(line)); }

inline void copy_line(const char* from, char* to) {  // NOLINT(readability-non-const-parameter)
  asm volatile(
      "vmovdqu (%0), %%ymm0\n\t"
      "vmovdqu 32(%0), %%ymm1\n\t"
      "vmovdqu %%ymm0, (%1)\n\t"
      "vmovdqu %%ymm1, 32(%1)"
      :
      : "r"(from), "r"(to)
      : "xmm0", "xmm1", "memory");
}

/// Stores that go around the caches, half a line at a time.
inline void stream_line(const char* from, char* to) {  // NOLINT(readability-non-const-parameter)
  asm volatile(
      "vmovdqu (%0), %%ymm0\n\t"
      "vmovdqu 32(%0), %%ymm1\n\t"
      "vmovntdq %%ymm0, (%1)\n\t"
      "vmovntdq %%ymm1, 32(%1)"
      :
      : "r"(from), "r"(to)
      : "xmm0", "xmm1", "memory");
}

/// The same, a line at a time, of AVX-512.
inline void stream_whole_line(const char* from, char* to) {  // NOLINT(readability-non-const-parameter)
  asm volatile(
      "vmovdqu64 (%0), %%zmm0\n\t"
      "vmovntdq %%zmm0, (%1)"
      :
      : "r"(from), "r"(to)
      : "xmm0", "memory");
}

/// One thread's share of the work.
struct Share {
  const char* from;
  std::int64_t read;
  char* to;
  std::int64_t write;
};

/// What a copy of lines leaves over.
void take_rest(const Share& share, std::int64_t both) {
  if (share.read > both) read_plain(share.from + both, share.read - both);
  if (share.write > both) std::memset(share.to + both, 0, static_cast<std::size_t>(share.write - both));
}

void copy_then_rest(const Share& share) {
  const std::int64_t both = std::min(share.read, share.write);
  std::memcpy(share.to, share.from, static_cast<std::size_t>(both));
  take_rest(share, both);
}

std::int64_t whole_lines(const Share& share) { return std::min(share.read, share.write) / kLine * kLine; }

void stream_lines(const Share& share, std::int64_t begin, std::int64_t end) {
  if (__builtin_cpu_supports("avx512f") != 0) {
    for (std::int64_t at = begin; at < end; at += kLine) stream_whole_line(share.from + at, share.to + at);
  } else {
    for (std::int64_t at = begin; at < end; at += kLine) stream_line(share.from + at, share.to + at);
  }
}

void stream_then_rest(const Share& share) {
  const std::int64_t both = whole_lines(share);
  stream_lines(share, 0, both);
  end_vectors();
  asm volatile("sfence" : : : "memory");
  take_rest(share, both);
}

/// A few lines of each of four runs in turn, whose next ones are asked for meanwhile.
void stream_runs_then_rest(const Share& share) {
  constexpr std::int64_t kRuns = 4, kVisit = 8 * kLine;
  const std::int64_t both = whole_lines(share);
  // Runs a large power of two apart would meet in the same sets of the caches.
  const std::int64_t visits = both < kRuns * kVisit ? 0 : ((both / kVisit / kRuns - 1) | 1), apart = visits * kVisit;
  for (std::int64_t visit = 0; visit < visits; ++visit)
    for (std::int64_t run = 0; run < kRuns; ++run) {
      const std::int64_t begin = run * apart + visit * kVisit;
      const std::int64_t next = run + 1 < kRuns ? begin + apart : (visit + 1) * kVisit;
      for (std::int64_t line = 0; line < kVisit; line += kLine) prefetch_line(share.from + next + line);
      stream_lines(share, begin, begin + kVisit);
    }
  stream_lines(share, kRuns * apart, both);
  end_vectors();
  asm volatile("sfence" : : : "memory");
  take_rest(share, both);
}

void claim_then_rest(const Share& share) {
  const std::int64_t both = whole_lines(share);
  for (std::int64_t at = 0; at < both; at += kLine) {
    claim_line(share.to + at + kAhead);
    copy_line(share.from + at, share.to + at);
  }
  end_vectors();
  take_rest(share, both);
}

/// A block of results for each block that is read, as a reduction writes them, with its lines claimed meanwhile.
void read_and_write_in_turn(const Share& share) {
  constexpr std::int64_t kBlock = 16384;
  const std::int64_t blocks = std::max<std::int64_t>(1, share.read / kBlock);
  const std::int64_t written = share.write / blocks;
  for (std::int64_t block = 0; block < blocks; ++block) {
    const bool last = block + 1 == blocks;
    char* const to = share.to + block * written;
    const std::int64_t bytes = last ? share.write - block * written : written;
    for (std::int64_t at = 0; at < bytes; at += kLine) claim_line(to + at);
    read_ahead(share.from + block * kBlock, last ? share.read - block * kBlock : kBlock);
    std::memset(to, 0, static_cast<std::size_t>(bytes));
  }
}

void read_share_plain(const Share& share) { read_plain(share.from, share.read); }
void read_share_four(const Share& share) { read_four_streams(share.from, share.read); }
void read_share_ahead(const Share& share) { read_ahead(share.from, share.read); }

using Probe = void (*)(const Share&);

struct Team {
  Probe probe;
  std::vector<Share> shares;
};

std::vector<Share> cut(const void* from, std::int64_t read, void* to, std::int64_t write, int threads) {
  std::vector<Share> shares;
  const std::int64_t step = (read / threads + kStep - 1) / kStep * kStep;
  const std::int64_t written = write / threads / kLine * kLine;
  for (int i = 0; i < threads; ++i) {
    const std::int64_t begin = std::min(read, i * step);
    const bool last = i + 1 == threads;
    shares.push_back({static_cast<const char*>(from) + begin, last ? read - begin : std::min(step, read - begin),
                      static_cast<char*>(to) + i * written, last ? write - i * written : written});
  }
  return shares;
}

Contender contender(const char* name, Probe probe, std::vector<Share> shares) {
  if (shares.size() == 1) return {name, [probe, share = shares[0]] { probe(share); }};
  return {name, [team = Team{probe, std::move(shares)}]() mutable {
            runtime::default_pool().parallel_for(
                static_cast<std::int64_t>(team.shares.size()),
                [](void* context, std::int64_t i) {
                  const Team& mine = *static_cast<Team*>(context);
                  mine.probe(mine.shares[static_cast<std::size_t>(i)]);
                },
                &team);
          }};
}

}  // namespace

std::vector<Contender> probes(const void* from, std::int64_t read_bytes, void* to, std::int64_t write_bytes,
                              int threads) {
  if (__builtin_cpu_supports("avx2") == 0) return {};
  const std::vector<Share> shares = cut(from, read_bytes, to, write_bytes, threads);
  // Beside what is read, a row of results is too little to count.
  if (write_bytes * 16 < read_bytes)
    return {contender("roof: one stream", &read_share_plain, shares),
            contender("roof: four streams", &read_share_four, shares),
            contender("roof: prefetch", &read_share_ahead, shares)};
  return {contender("roof: copy", &copy_then_rest, shares),
          contender("roof: copy, lines claimed", &claim_then_rest, shares),
          contender("roof: copy, streaming stores", &stream_then_rest, shares),
          contender("roof: copy, streaming stores, four runs", &stream_runs_then_rest, shares),
          contender("roof: read and write in turn", &read_and_write_in_turn, shares)};
}

void flush_range(const void* data, std::int64_t bytes) {
  const char* const begin = static_cast<const char*>(data);
  for (std::int64_t at = 0; at < bytes; at += kLine) asm volatile("clflush (%0)" : : "r"(begin + at) : "memory");
  asm volatile("mfence" : : : "memory");
}

}  // namespace tenfold::tools::bench
