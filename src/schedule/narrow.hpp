// SPDX-License-Identifier: Apache-2.0
//
// Narrow columns: columns so few that a row of them leaves most of a tile, or of a vector, empty.
#pragma once

#include "schedule/body.hpp"

namespace tenfold::schedule {

/// Columns in rows one after another that code is made for: those that fit one vector step, or four of sums, and rows
/// that go in groups.
struct Narrow {
  int width = 0;             ///< elements of a row; 0 for none
  std::int64_t columns = 0;  ///< of a group, or of one step; 0 where the tile does not matter
  bool searches = false;     ///< groups, of whose sweeps alone indices are remembered (Schedule::searches)
};

/// `may_search`: where sweeps may be remembered, and are worth it.
Narrow narrow_columns(const kernel::KernelSpec& spec, Lanes lanes, int vector_level, bool may_search);

}  // namespace tenfold::schedule
