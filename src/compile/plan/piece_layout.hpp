// SPDX-License-Identifier: Apache-2.0
//
// Where the pieces of rows are (long_rows.hpp): which elements each has, and where what it gives lies beside what the
// others do. A kernel over pieces has two levels in place of the row's: of pieces, and within them. Rows of two levels
// apart have both already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compile/plan/kernel_cut.hpp"
#include "compile/plan/row_pieces.hpp"
#include "kernel/spec.hpp"

namespace tenfold::compiler {

/// Elements of each row from `first` on, in pieces of so many. `number`: that of its first piece.
struct PieceRange {
  std::int64_t first, piece, pieces, number;
};

class PieceLayout {
 public:
  PieceLayout(const kernel::KernelSpec& spec, const RowCut& cut);

  std::size_t level() const { return level_; }  ///< the reduced one, of the whole; of two the inner
  /// Of neighbours in memory: the reduced one, or else there are columns. `split`: of a kernel over pieces.
  std::size_t vector_level(bool split) const {
    return vector_level_ + (split && !cut_.apart && vector_level_ >= level_ ? 1 : 0);
  }
  std::int64_t extent() const { return extent_ * outer_extent_; }  ///< elements of a row
  std::int64_t pieces() const { return pieces_; }
  bool in_turn() const { return cut_.in_turn > 0; }
  bool apart() const { return cut_.apart; }
  /// Columns of pieces lie between those of other rows, so that what they are reduced by must be there for each.
  bool repeats_rows() const { return in_turn() || apart(); }
  const std::vector<PieceRange>& ranges() const { return ranges_; }

  /// Strides over the levels of the whole, of a dense buffer over the kept ones.
  const std::vector<std::int64_t>& row_strides() const { return rows_; }
  /// Of what the pieces gave, level() being that of the pieces: rows have theirs side by side, columns those of a
  /// piece, and of pieces in turn those of a block of columns.
  std::vector<std::int64_t> partial_strides() const;
  /// The same over the levels of a kernel over pieces.
  std::vector<std::int64_t> partial_strides_of_pieces() const;
  /// Where what the pieces of `range` gave begins in the buffer of all.
  Place partials_of(const PieceRange& range, DType dtype, Place all) const;

  /// Levels of a kernel over the pieces of `range`, and the strides along both in place of the one along the row.
  std::vector<kernel::Level> levels_of(const PieceRange& range) const;
  /// Those of the whole, for a kernel that reduces nothing.
  std::vector<kernel::Level> kept_levels() const;
  /// Those of the whole with pieces in place of the elements of a row.
  std::vector<kernel::Level> levels_of_pieces(bool reduced) const;
  void split_stride(std::vector<std::int64_t>& strides, const PieceRange& range) const;
  /// An operand of the whole in a kernel over the pieces of `range`, if there is one; gives the byte that it begins at.
  std::int64_t take_range(kernel::Operand& operand, const PieceRange* range) const;

 private:
  bool of_columns() const { return vector_level_ != level_; }
  std::vector<std::int64_t> dense_strides(bool of_pieces) const;
  /// The level of pieces comes before the one within them, or after it where pieces take elements in turn.
  std::ptrdiff_t level_of_pieces() const { return static_cast<std::ptrdiff_t>(level_) + (in_turn() ? 1 : 0); }
  std::ptrdiff_t level_of_piece() const { return static_cast<std::ptrdiff_t>(level_) + (in_turn() ? 0 : 1); }

  std::vector<kernel::Level> levels_;
  RowCut cut_;
  std::size_t level_, vector_level_;
  std::size_t outer_level_ = kernel::kMaxLevels;  ///< of two that are apart
  std::int64_t extent_, outer_extent_ = 1, pieces_ = 0;
  std::vector<PieceRange> ranges_;
  std::vector<std::int64_t> rows_;
};

}  // namespace tenfold::compiler
