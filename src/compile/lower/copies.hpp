// SPDX-License-Identifier: Apache-2.0
//
// Ops that move elements as a whole: core.slice, and core.concat, which is a copy for each of its inputs. A slice of
// what another kernel has written need not be a copy: it is read there, with other strides.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compile/lower/lower.hpp"

namespace tenfold::compiler {

bool is_movement(const graph::Op& op) noexcept;

bool is_slice(const graph::Op& op) noexcept;
/// One that steps forward along each dim. (Backward ones are copied.)
bool is_forward_slice(const graph::Op& op);

/// What a copy walks: `shape`, with the steps and the first element of either side, in elements.
struct CopyWalk {
  Dims shape, from_strides, to_strides;
  std::int64_t from = 0, to = 0;
};

/// One load and one store. unsupported_* where no kernel has the dtype, or so many levels.
Result<Lowered> lower_copy(const graph::Graph& graph, graph::ValueId from, graph::ValueId to, const CopyWalk& walk);

/// One kernel of one load and one store for each part that has elements.
Result<std::vector<Lowered>> lower_copies(const graph::Graph& graph, const graph::Op& op);

}  // namespace tenfold::compiler
