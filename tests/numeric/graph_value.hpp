// SPDX-License-Identifier: Apache-2.0
//
// Values of the graphs that tests build in memory.
#pragma once

#include <cstdint>

#include "graph/ir/graph.hpp"
#include "tenfold/tensor.hpp"

namespace tenfold::numeric {

/// A new value of the graph. Its id is its position; strides that say row-major are left out, as texts do.
inline graph::ValueId add_value(graph::Graph& graph, const TensorDesc& desc) {
  graph::Value value;
  value.id = static_cast<std::int64_t>(graph.values.size());
  value.dtype = desc.dtype;
  value.ranked = true;
  value.shape = desc.shape;
  if (desc.strides != row_major_strides(desc.shape)) value.strides = desc.strides;
  graph.values.push_back(value);
  return static_cast<graph::ValueId>(graph.values.size() - 1);
}

}  // namespace tenfold::numeric
