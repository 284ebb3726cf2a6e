// SPDX-License-Identifier: Apache-2.0
//
// A case's reduction as a graph of core ops, so that each dtype is there for each reduction, and its data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tenfold/graph_builder.hpp"
#include "tools/bench/case.hpp"

namespace tenfold::tools::bench {

/// The case's one op, or two with the extreme; not verified.
Graph reduction_graph(const Case& what);

/// Its input, strides included.
TensorDesc input_of(const Case& what);

/// The shape with reduced dims as 1; axes out of range are nobody's.
Dims kept_shape(const Case& what);

/// Ordinary values of either sign, the same each time: what is measured must not depend on denormals or overflow.
/// Ctrl-C leaves the rest undone.
void fill_ordinary(std::byte* data, DType dtype, std::int64_t count);

}  // namespace tenfold::tools::bench
