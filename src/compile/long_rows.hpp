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
// Which rows, and how they are cut, follows from the spec alone, as it decides bits.
#pragma once

#include <cstdint>
#include <vector>

#include "compile/place.hpp"
#include "kernel/spec.hpp"
#include "tenfold/status.hpp"

namespace tenfold::compiler {

/// Which rows are cut, and how; other numbers than these are for tests.
struct RowPieces {
  std::int64_t piece = 4096;  ///< elements, at least 32: a piece is in L1 when it is read again
  /// Rows of so many elements are cut. Where L2 holds them, one kernel is as fast: softmax of f32 [8, 524288] takes
  /// 2.15 and 2.14 ms on a Xeon, AVX2 and AVX-512, in pieces 2.34 and 2.13; [64, 524288] 33.9 and 36.0, and 20.0 and
  /// 18.0.
  std::int64_t from = 1 << 19;
  /// Less than eight rows of which no element is stored are cut from so many on, for the sake of threads, at a
  /// twentieth's cost where there is but one: the sum of x * y of f32 [262144] takes 28 us in one kernel, in pieces 29,
  /// and 10 on two.
  std::int64_t few_from = 1 << 18;
  /// Columns that sum exponentials of what is left of their maximum, which take but one pass so, are cut in pieces of
  /// adjacent rows: so many, or as many as have so many bytes, `piece` at most. From so many bytes on, and those of
  /// which elements are stored from so many.
  std::int64_t column_piece = 64, column_piece_bytes = 128 << 10;
  std::int64_t columns_from = 16 << 20, written_columns_from = 64 << 20;
};

struct LongRowKernel {
  kernel::KernelSpec spec;
  std::vector<Place> reads, writes;  ///< by input, and by output
  std::int64_t count = 0;            ///< what the spec's `count` is
};

struct LongRows {
  std::vector<LongRowKernel> kernels;  ///< in the order that they run in
  std::vector<std::int64_t> between;   ///< bytes of each buffer
};

/// Elements of the pieces in which rows of `spec`, a body in stages, are to be cut; 0: they are not.
std::int64_t long_row_piece(const kernel::KernelSpec& spec, const RowPieces& pieces = {});

/// Cuts them in pieces of `piece` elements, a few more where the last one would have less than 16. unsupported_op or
/// unsupported_shape with the reason where the body or its operands are not of a form that can be.
Result<LongRows> cut_long_rows(const kernel::KernelSpec& spec, std::int64_t piece = RowPieces{}.piece);

}  // namespace tenfold::compiler
