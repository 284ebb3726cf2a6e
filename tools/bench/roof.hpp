// SPDX-License-Identifier: Apache-2.0
//
// The roofs: how fast this machine reads a tensor, or copies one, if it does nothing else.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/bench/measure.hpp"

namespace tenfold::tools::bench {

/// Memory behind a probed range that probes may read: they take steps of 256 bytes and prefetch 4 KiB ahead.
inline constexpr std::int64_t kProbeSlack = 8192;

/// Ways to read `read_bytes` at `from` and write `write_bytes` at `to` once, by so many threads. Where the writes are
/// less than a sixteenth of the reads, they only read: one stream, four streams, and a prefetch 4 KiB ahead. Otherwise
/// they copy as far as both go, then read or fill the rest, or take turns at it. None on machines below AVX2.
std::vector<Contender> probes(const void* from, std::int64_t read_bytes, void* to, std::int64_t write_bytes,
                              int threads);

/// Throws a range out of all caches.
void flush_range(const void* data, std::int64_t bytes);

}  // namespace tenfold::tools::bench
