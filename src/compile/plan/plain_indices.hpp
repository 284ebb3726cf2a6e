// SPDX-License-Identifier: Apache-2.0
//
// Arg-reductions of an input beside other things: the index of a row's greatest element and whether it is the one that
// was expected, or softmax of the same row. Alone, elements of 8 and 16 bits stay in lanes of their own width, and
// short rows are read several at a time; so where that pays each is a kernel of its own, and what is left follows, with
// the indices as an input.
#pragma once

#include "compile/plan/kernel_cut.hpp"
#include "compile/plan/row_pieces.hpp"
#include "kernel/spec.hpp"

namespace tenfold::compiler {

/// The arg-reductions of inputs in `spec`, then what is left of it, if anything; no kernels where that does not pay. By
/// the shape and the body alone. What is left is a spec that may be cut again.
KernelCut cut_off_indices(const kernel::KernelSpec& spec, const RowPieces& pieces);

/// Whether an arg-reduction of `spec` is of narrow elements that the kernel computes, and faster where these have been
/// written: in the caches, of rows, of what takes another pass, is reduced once more or is stored anyway. Neighbours
/// along the reduced level are read as they lie then, short rows several at a time.
/// Columns that leave lanes empty are slow whatever the elements.
bool has_slow_index(const kernel::KernelSpec& spec);

/// Whether an arg-reduction of an input of `spec` is cut for threads alone, in pieces of rows or columns that are few
/// and long, but would not be beside what else there is.
bool is_shared_alone(const kernel::KernelSpec& spec);

}  // namespace tenfold::compiler
