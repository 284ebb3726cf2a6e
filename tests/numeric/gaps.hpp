// SPDX-License-Identifier: Apache-2.0
//
// How many rows of a length there are, and gaps between them, whose bytes no result may come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>

namespace tenfold {

/// Rows of so many elements: of the longest, which packed blocks take if these are full, as often whole blocks.
inline std::int64_t drawn_rows(std::int64_t width, std::mt19937_64& random) {
  constexpr std::int64_t kLong = 256, kMostOfBlock = 32;
  const auto rows = static_cast<std::int64_t>(8 + random() % (width > 128 ? 40 : 120));
  const bool whole = width > kLong && random() % 2 == 0;
  return whole ? (rows + kMostOfBlock - 1) / kMostOfBlock * kMostOfBlock : rows;
}

/// Elements after each row: none, a few, or more.
inline std::int64_t drawn_gap(std::mt19937_64& random) {
  const std::int64_t gaps[] = {0, 0, static_cast<std::int64_t>(1 + random() % 5),
                               static_cast<std::int64_t>(random() % 60)};
  return gaps[random() % 4];
}

/// Bytes that make zeros, great and least numbers and NaNs, whatever the type.
inline void fill_gaps(std::byte* data, std::size_t bytes, std::mt19937_64& random) {
  constexpr int kBytes[] = {0x00, 0x7f, 0x80, 0xff};
  std::memset(data, kBytes[random() % 4], bytes);
}

}  // namespace tenfold
