// SPDX-License-Identifier: Apache-2.0
//
// Which rows are run in pieces (long_rows.hpp): by the shape and the body alone, as it decides bits.
#pragma once

#include <cstdint>

#include "kernel/spec.hpp"

namespace tenfold::compiler {

/// Rows that give threads no tasks.
inline constexpr std::int64_t kFewRows = 8;

/// Which rows are cut, and how; other numbers than these are for tests.
struct RowPieces {
  std::int64_t piece = 4096;  ///< elements, at least 16: a piece is in L1 when it is read again
  /// Rows of so many elements are cut. Where L2 holds them, one kernel is as fast: softmax of f32 [8, 524288] takes
  /// 2.15 and 2.14 ms on a Xeon, AVX2 and AVX-512, in pieces 2.34 and 2.13; [64, 524288] 33.9 and 36.0, and 20.0 and
  /// 18.0.
  std::int64_t from = 1 << 19;
  /// Less than eight rows of which no element is stored are cut from so many on, for the sake of threads, at a
  /// twentieth's cost where there is but one: the sum of x * y of f32 [262144] takes 28 us in one kernel, in pieces 29,
  /// and 10 on two.
  std::int64_t few_from = 1 << 18;
  /// Columns that sum exponentials of what is left of their maximum, which pieces can be moved to, are cut in pieces of
  /// adjacent rows: so many, or as many as have so many bytes, `piece` at most. From so many bytes on, and those of
  /// which elements are stored from so many.
  std::int64_t column_piece = 2048, column_piece_bytes = 1 << 20;
  std::int64_t columns_from = 16 << 20, written_columns_from = 64 << 20;
  /// Columns of rows of less than so many elements, from so many elements of a block of them on, have pieces that take
  /// rows in turn, as many as make so many columns, if each has as many rows at least. Softmax over axis 0 of f32
  /// [1024, 8] takes 0.25 of the time of columns so on Zen 3, over axis 1 of [16, 1000, 20] 0.61, [16, 100, 30] 0.95;
  /// of [8, 100, 9] with 4 rows each 0.76, log-sum-exp 1.6, with 8 0.57 and 1.05.
  std::int64_t narrow_row = 30, narrow_from = 1000, narrow_columns = 256, narrow_least_rows = 8;
  /// Means and moments, which pieces in turn read twice, if rows are shorter still (variance of f32 [20000, 28] 1.1),
  /// but for those of 8 and 16 bits that give elements; where they give none, from more elements on (of [300, 4] 1.1)
  /// and, of so many bytes, if rows have less than so many: variance of f32 [131072, 8] takes 0.6 on Zen 5, of
  /// [2000000, 3] 0.5, of [1000000, 12] 1.4, and 1.7 with AVX-512.
  std::int64_t moments_row = 24, moments_from = 2000, far_moments_from = 16 << 20, far_moments_row_bytes = 24;
  /// Rows of two levels with a kept one between them are columns of the outer level, if the inner one has at most so
  /// many elements, and the outer one at least so many, and half as many as the inner one. Where exponentials that are
  /// summed are stored, which are computed twice then, the inner one has at most so many, and the outer one so many
  /// times as many.
  std::int64_t apart_row = 64, apart_least = 16, apart_exponentials = 16, apart_exponentials_rows = 4;
  /// Plain reductions are kernels of their own where that pays (plain_reductions.hpp).
  bool plain_apart = true;
};

/// How rows are cut: in pieces of elements side by side, in so many that take elements in turn, or, of rows whose two
/// levels have a kept one between them, in columns of the outer level, one for each element of the inner. None: not at
/// all.
struct RowCut {
  std::int64_t piece = 0;
  std::int64_t in_turn = 0;
  bool apart = false;
  bool cuts() const { return piece > 0 || in_turn > 0 || apart; }
};

/// That of the rows of `spec`, a body in stages.
RowCut row_cut(const kernel::KernelSpec& spec, const RowPieces& pieces = {});

}  // namespace tenfold::compiler
