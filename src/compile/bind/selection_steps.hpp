// SPDX-License-Identifier: Apache-2.0
//
// The steps of a selection: kernels find the extremes of blocks, tasks of some lines each the first of all.
#pragma once

#include "compile/bind/buffers.hpp"
#include "compile/lower/selection.hpp"
#include "runtime/program.hpp"

namespace tenfold::compiler {

/// Writes the elements and indices that `selection` asks for; `extremes` is where those of its blocks are, if it has
/// blocks.
runtime::TaskStep selection_step(const Selection& selection, Buffers& buffers, const runtime::Location& extremes);

/// Bytes of those.
std::int64_t extreme_bytes(const Selection& selection);

}  // namespace tenfold::compiler
