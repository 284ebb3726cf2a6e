// SPDX-License-Identifier: Apache-2.0
//
// Inline constant data (the key `data` of a tensor record, an extension of ours): JSON numbers to the bytes of a dtype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/read/tape.hpp"
#include "tenfold/dtype.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

/// The elements of the flat array `data`, which must be `count`. A number that does not fit the dtype, a fraction for
/// an integer type, and a dtype that files hold no constants of (f8, undef) are errors.
Result<std::vector<std::byte>> read_constant(Item data, DType dtype, std::int64_t count);

}  // namespace tenfold::graph
