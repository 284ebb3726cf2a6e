// SPDX-License-Identifier: Apache-2.0
//
// Ops that move elements as a whole: core.slice, and core.concat, which is a copy for each of its inputs. A slice of
// what another kernel has written need not be a copy: it is read there, with other strides.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compile/lower.hpp"

namespace tenfold::compiler {

bool is_movement(const graph::Op& op) noexcept;

bool is_slice(const graph::Op& op) noexcept;
/// One that steps forward along each dim. (Backward ones are copied.)
bool is_forward_slice(const graph::Op& op);

/// The elements of a slice where they lie: `first` (in elements) and strides, in the tensor `root`.
struct SliceWalk {
  graph::ValueId root = graph::kNone;
  std::int64_t first = 0;
  Dims strides;
};

/// Of `value`, which the slices among `through` make, of one another. Of any other value: itself.
SliceWalk slice_walk(const graph::Graph& graph, graph::ValueId value, std::span<const graph::OpId> through);

/// One kernel of one load and one store for each part that has elements.
Result<std::vector<Lowered>> lower_copies(const graph::Graph& graph, const graph::Op& op);

}  // namespace tenfold::compiler
