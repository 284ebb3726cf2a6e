// SPDX-License-Identifier: Apache-2.0
//
// One random graph: core's elementwise maps, casts, selects, reductions and views over one base shape, ONNX's softmax
// and norms along one of its dims, with inputs that broadcast; its data; and how a failing one is made smaller.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>

#include "graph/ir/graph.hpp"

namespace tenfold::numeric {

struct FusedCase {
  graph::Graph graph;           ///< before any pass, verified; inputs and outputs may have strides
  std::uint64_t data_seed = 0;  ///< each input's data follow from it and the value's id
  bool special = false;         ///< one element of eight is a NaN, an infinity, -0, ...

  /// The graph's text and the seed.
  std::string text() const;
};

struct FusedSizes {
  std::int64_t elements = 600;  ///< of the base shape, at most
  bool large = false;           ///< come near to it
};

/// 8 to 16 ops, most values of `main`. Estimates of how great values become keep them within what the dtype holds.
FusedCase random_fused_case(DType main, const FusedSizes& sizes, std::mt19937_64& random);

/// Writes the elements of input `value` at their strides; other bytes stay.
void fill_input(const FusedCase& c, const graph::Value& value, std::byte* data);

/// The smallest case found that still fails: fewer outputs, ops replaced by inputs or left out.
FusedCase shrunk(FusedCase c, const std::function<bool(const FusedCase&)>& fails);

}  // namespace tenfold::numeric
