// SPDX-License-Identifier: Apache-2.0
#include "compile/bind/arena.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace tenfold::compiler {

std::int64_t ArenaLayout::take(std::int64_t bytes) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (bytes <= 0) return 0;
  if (bytes > kMost - kAlignment) bytes = kMost - kAlignment;
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  auto best = holes_.end();
  for (auto hole = holes_.begin(); hole != holes_.end(); ++hole)
    if (hole->second >= bytes && (best == holes_.end() || hole->second < best->second)) best = hole;
  // A hole at the end grows.
  if (best == holes_.end() && !holes_.empty() && holes_.rbegin()->first + holes_.rbegin()->second == bytes_) {
    best = std::prev(holes_.end());
    bytes_ = best->first > kMost - bytes ? kMost : std::max(bytes_, best->first + bytes);
  }
  const std::int64_t offset = best == holes_.end() ? bytes_ : best->first;
  if (best == holes_.end()) {
    bytes_ = offset > kMost - bytes ? kMost : offset + bytes;
  } else {
    const std::int64_t left = best->second - bytes;
    holes_.erase(best);
    if (left > 0) holes_[offset + bytes] = left;
  }
  taken_[offset] = bytes;
  return offset;
}

void ArenaLayout::give(std::int64_t offset) {
  const auto block = taken_.find(offset);
  if (block == taken_.end()) return;
  auto hole = holes_.insert_or_assign(offset, block->second).first;
  taken_.erase(block);
  if (const auto next = std::next(hole); next != holes_.end() && hole->first + hole->second == next->first) {
    hole->second += next->second;
    holes_.erase(next);
  }
  if (hole == holes_.begin()) return;
  if (const auto before = std::prev(hole); before->first + before->second == hole->first) {
    before->second += hole->second;
    holes_.erase(hole);
  }
}

}  // namespace tenfold::compiler
