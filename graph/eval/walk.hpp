// SPDX-License-Identifier: Apache-2.0
//
// The one loop of the evaluator: every position of a shape in row-major order, with the element offset of each operand.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenfold/tensor.hpp"

namespace tenfold::graph {

/// walk() for whichever container holds the strides; `offsets` are zeros, one an operand.
template <class Strides, class Offsets, class Fn>
void walk_from(const Dims& shape, const Strides& strides, Offsets offsets, Fn fn) {
  for (const std::int64_t dim : shape)
    if (dim == 0) return;
  Dims index(shape.size(), 0);
  while (true) {
    fn(offsets);
    std::size_t dim = shape.size();
    while (dim > 0) {
      --dim;
      const bool wraps = ++index[dim] == shape[dim];
      for (std::size_t k = 0; k < offsets.size(); ++k)
        offsets[k] += wraps ? -strides[k][dim] * (shape[dim] - 1) : strides[k][dim];
      if (!wraps) break;
      index[dim] = 0;
      if (dim == 0) return;
    }
    if (shape.empty()) return;
  }
}

/// Calls fn(offsets) for each position of `shape`; strides[k] has one entry a dim, in elements. A rank of 0 is one
/// position, a dim of 0 is none.
template <std::size_t N, class Fn>
void walk(const Dims& shape, const std::array<Dims, N>& strides, Fn fn) {
  walk_from(shape, strides, std::array<std::int64_t, N>{}, fn);
}

/// The same for any number of operands.
template <class Fn>
void walk(const Dims& shape, const std::vector<Dims>& strides, Fn fn) {
  walk_from(shape, strides, std::vector<std::int64_t>(strides.size(), 0), fn);
}

}  // namespace tenfold::graph
