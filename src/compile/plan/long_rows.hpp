// SPDX-License-Identifier: Apache-2.0
//
// Rows that no cache holds, or that are too few for all cores, of a body in stages (softmax, norms, several reductions
// of one tensor): pieces of a row are rows of their own, which kernels take one by one and in any number at once.
//
//   of each stage   a kernel that reduces pieces, and a small one that combines what they gave, row by row, and makes
//                   of it what the elements ask for: means, roots, divisors
//   at last         a kernel without reductions, for what is stored of every element
//
// So memory is read once a stage and once more for what is stored. Two stages are one where pieces can be reduced by
// values of their own, and what they gave moved to the row's:
//
//   max, sum of e^(x - max)     sum of s e^(m - max), with m and s a piece's: the online softmax, a block at a time
//   mean, sum of (x - mean)^2   sum of q + n (mean of the piece - mean)^2, with q and n a piece's
//
// Rows of two levels with a kept one between them have pieces that are columns of the outer level, one for each element
// of the inner. All that is stored of elements asks for the rows' values beside these columns.
//
// Columns that are narrow have pieces that take rows in turn: piece j of g has rows j, j + g, j + 2 g, ... So g rows
// are one of g times as many columns, which fill vectors. Mean and moment take two stages then, the second about a
// pilot that the first has made; what is reduced by a row's value has it beside each of these columns.
//
// How they are cut follows from the spec and the piece alone, as it decides bits.
#pragma once

#include "compile/plan/kernel_cut.hpp"
#include "compile/plan/row_pieces.hpp"
#include "kernel/spec.hpp"
#include "tenfold/status.hpp"

namespace tenfold::compiler {

/// Cuts the rows of `spec`, a body in stages, as `cut` says, in pieces of a few elements more where the last one would
/// have less than 16. unsupported_op or unsupported_shape with the reason where the body or its operands are not of a
/// form that can be.
Result<KernelCut> cut_long_rows(const kernel::KernelSpec& spec, const RowCut& cut);

}  // namespace tenfold::compiler
