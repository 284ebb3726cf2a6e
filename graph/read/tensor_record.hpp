// SPDX-License-Identifier: Apache-2.0
//
// One tensor record of a file: what one op says of one of its inputs or outputs. Several records may speak of the same
// tensor; tensor_table.hpp brings them together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/read/json.hpp"
#include "graph/read/tape.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

struct TensorRecord {
  Value value;
  bool strides_given = false;  ///< with Value::strides empty: given, and row-major
};

/// Bytes that a file's inline constants take and may take.
struct ConstantBudget {
  std::size_t limit;
  std::size_t used = 0;
};

/// Checks the record by itself: known names, rank, dims and sizes within limits, strides that fit the shape. Keys that
/// we do not know go to `extras` as PLACE + KEY.
Result<TensorRecord> read_tensor(Item item, std::string_view place, ConstantBudget& budget,
                                 std::vector<ExtraKey>& extras);

}  // namespace tenfold::graph
