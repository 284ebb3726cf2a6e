// SPDX-License-Identifier: Apache-2.0
//
// How the scales of a quantization lie over its input, in one form for both dialects: for the rules and for the pass
// that turns it into core ops. Only for the check and pass rooms.
#pragma once

#include <cstddef>
#include <cstdint>

#include "graph/ir/graph.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

struct ScaleLayout {
  enum class Kind : std::uint8_t { one, axis, groups };
  Kind kind = Kind::one;
  std::size_t axis = 0;  ///< of Kind::axis: element i belongs to index i there
  Dims groups;           ///< of Kind::groups: so many elements a dim share one; the last group of a dim may be short
};

/// The first input must be ranked, and so must scales and zero points that are tensors.
Result<ScaleLayout> scale_layout(const Graph& graph, const Op& op);

/// The dtype that ONNX's numbers of TensorProto.DataType stand for; undef when this version has none.
DType onnx_dtype(std::int64_t number) noexcept;

}  // namespace tenfold::graph
