// SPDX-License-Identifier: Apache-2.0
//
// Ids for the ops and values that passes make. Only for the pass room.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_set>
#include <vector>

namespace tenfold::graph {

/// Ids that no op (or value) of a graph has. A file may use any 64-bit number, also the last.
class FreshIds {
 public:
  template <class T>
  explicit FreshIds(const std::vector<T>& items) {
    for (const T& item : items) {
      taken_.insert(item.id);
      if (item.id < std::numeric_limits<std::int64_t>::max()) next_ = std::max(next_, item.id + 1);
    }
  }

  std::int64_t take() {
    while (!taken_.insert(next_).second) next_ = next_ == std::numeric_limits<std::int64_t>::max() ? 0 : next_ + 1;
    return next_;
  }

 private:
  std::unordered_set<std::int64_t> taken_;
  std::int64_t next_ = 0;
};

}  // namespace tenfold::graph
