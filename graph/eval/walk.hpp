// SPDX-License-Identifier: Apache-2.0
//
// The one loop of the evaluator: every position of a shape in row-major order, with the element offset of each operand;
// one by one, or in rows for those that take many at once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tenfold/tensor.hpp"

namespace tenfold::graph {

/// walk() for whichever container holds the strides; `offsets` are zeros, one an operand.
template <class Strides, class Offsets, class Fn>
void walk_from(const Dims& shape, const Strides& strides, Offsets offsets, Fn fn) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  if (shape.empty()) return fn(offsets);
  const std::size_t last = shape.size() - 1;
  Offsets steps = offsets;
  for (std::size_t k = 0; k < steps.size(); ++k) steps[k] = strides[k][last];
  Dims index(shape.size(), 0);
  while (true) {
    for (std::int64_t left = shape[last];;) {
      fn(offsets);
      if (--left == 0) break;
      for (std::size_t k = 0; k < steps.size(); ++k) offsets[k] += steps[k];
    }
    for (std::size_t k = 0; k < steps.size(); ++k) offsets[k] -= steps[k] * (shape[last] - 1);
    std::size_t dim = last;
    while (dim > 0) {
      --dim;
      const bool wraps = ++index[dim] == shape[dim];
      for (std::size_t k = 0; k < offsets.size(); ++k)
        offsets[k] += wraps ? -strides[k][dim] * (shape[dim] - 1) : strides[k][dim];
      if (!wraps) break;
      index[dim] = 0;
      if (dim == 0) return;
    }
    if (last == 0) return;
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

/// The longest row that walk_rows() hands out: buffers of so many doubles stay in L1.
inline constexpr std::int64_t kLongestRow = 512;

/// Joins each dim to the one before where that goes on with it in every operand, and drops dims of 1.
template <class Strides>
void join_dims(Dims& shape, Strides& strides) {
  std::size_t kept = 0;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == 1) continue;
    const bool goes_on = kept > 0 && std::all_of(strides.begin(), strides.end(), [&](const Dims& stride) {
                           return stride[kept - 1] == stride[dim] * shape[dim];
                         });
    const std::size_t to = goes_on ? kept - 1 : kept++;
    shape[to] = goes_on ? shape[to] * shape[dim] : shape[dim];
    for (Dims& stride : strides) stride[to] = stride[dim];
  }
  shape.resize(kept);
  for (Dims& stride : strides) stride.resize(kept);
}

/// walk_rows() for whichever container; `steps` are zeros.
template <class Strides, class Offsets, class Fn>
void walk_rows_from(Dims shape, Strides strides, Offsets steps, Fn fn) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  join_dims(shape, strides);
  if (shape.empty()) return fn(steps, steps, std::int64_t{1});
  const std::int64_t extent = shape.back();
  const Offsets origin = steps;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    steps[k] = strides[k].back();
    strides[k].pop_back();
  }
  shape.pop_back();
  walk_from(shape, strides, origin, [&](Offsets offsets) {
    for (std::int64_t left = extent;; left -= kLongestRow) {
      fn(offsets, steps, std::min(left, kLongestRow));
      if (left <= kLongestRow) return;
      for (std::size_t k = 0; k < steps.size(); ++k) offsets[k] += steps[k] * kLongestRow;
    }
  });
}

/// Calls fn(offsets, steps, count) for rows of `count` positions: operand k has them at offsets[k], steps[k] apart.
template <std::size_t N, class Fn>
void walk_rows(Dims shape, std::array<Dims, N> strides, Fn fn) {
  walk_rows_from(std::move(shape), std::move(strides), std::array<std::int64_t, N>{}, fn);
}
template <class Fn>
void walk_rows(Dims shape, std::vector<Dims> strides, Fn fn) {
  std::vector<std::int64_t> offsets(strides.size(), 0);
  walk_rows_from(std::move(shape), std::move(strides), std::move(offsets), fn);
}

}  // namespace tenfold::graph
