// SPDX-License-Identifier: Apache-2.0
#include "compile/plan/piece_layout.hpp"

#include <algorithm>

#include "schedule/levels.hpp"

namespace tenfold::compiler {
namespace {

/// A shorter last piece is joined to the one before it: with one element there would be nothing to reduce.
constexpr std::int64_t kLeastPiece = 16;

}  // namespace

PieceLayout::PieceLayout(const kernel::KernelSpec& spec, const RowCut& cut)
    : levels_(spec.levels),
      cut_(cut),
      level_(static_cast<std::size_t>(kernel::innermost(spec, true))),
      vector_level_(static_cast<std::size_t>(schedule::vector_level_of(spec, spec.inputs[0]))),
      extent_(spec.levels[level_].extent) {
  if (cut_.apart) {
    const auto is_reduced = [](const kernel::Level& level) { return level.reduced; };
    const auto outer = std::find_if(levels_.begin(), levels_.end(), is_reduced);
    outer_level_ = static_cast<std::size_t>(outer - levels_.begin());
    outer_extent_ = outer->extent;
    pieces_ = extent_;
    ranges_.push_back({0, outer_extent_, pieces_, 0});
  } else {
    std::int64_t piece = in_turn() ? extent_ / cut.in_turn : cut.piece;
    if (!in_turn())
      while (piece < extent_ && extent_ % piece > 0 && extent_ % piece < kLeastPiece) piece += kLeastPiece;
    const std::int64_t whole = in_turn() ? cut.in_turn : extent_ / piece, rest = extent_ - whole * piece;
    if (whole > 0 && piece > 0) ranges_.push_back({0, piece, whole, 0});
    if (rest > 0) ranges_.push_back({whole * piece, rest, 1, ranges_.empty() ? 0 : whole});
    pieces_ = whole + (rest > 0 ? 1 : 0);
  }
  rows_ = dense_strides(false);
}

std::vector<std::int64_t> PieceLayout::dense_strides(bool of_pieces) const {
  std::vector<std::int64_t> strides(levels_.size(), 0);
  std::int64_t step = 1;
  for (std::size_t level = levels_.size(); level-- > 0;) {
    if (level == outer_level_ || (level == level_ && !of_pieces)) continue;
    strides[level] = step;
    step *= level == level_ ? pieces_ : levels_[level].extent;
  }
  return strides;
}

std::vector<std::int64_t> PieceLayout::partial_strides() const {
  if (repeats_rows()) return dense_strides(true);
  std::vector<std::int64_t> strides = rows_;
  if (!of_columns())
    for (std::int64_t& stride : strides) stride *= pieces_;
  std::int64_t kept = 1;
  for (const kernel::Level& level : levels_)
    if (!level.reduced) kept *= level.extent;
  strides[level_] = of_columns() ? kept : 1;
  return strides;
}

std::vector<std::int64_t> PieceLayout::partial_strides_of_pieces() const {
  std::vector<std::int64_t> strides = partial_strides();
  if (!cut_.apart) strides.insert(strides.begin() + level_of_piece(), 0);
  return strides;
}

Place PieceLayout::partials_of(const PieceRange& range, DType dtype, Place all) const {
  all.offset += range.number * partial_strides()[level_] * byte_size(dtype);
  return all;
}

std::vector<kernel::Level> PieceLayout::levels_of(const PieceRange& range) const {
  std::vector<kernel::Level> levels = levels_;
  if (cut_.apart) {
    levels[level_].reduced = false;
    return levels;
  }
  levels[level_].extent = range.piece;
  levels.insert(levels.begin() + level_of_pieces(), {range.pieces, false});
  return levels;
}

std::vector<kernel::Level> PieceLayout::kept_levels() const {
  std::vector<kernel::Level> levels = levels_;
  for (kernel::Level& level : levels) level.reduced = false;
  return levels;
}

std::vector<kernel::Level> PieceLayout::levels_of_pieces(bool reduced) const {
  std::vector<kernel::Level> levels = levels_;
  levels[level_] = {pieces_, reduced};
  if (cut_.apart) levels[outer_level_] = {1, false};
  return levels;
}

void PieceLayout::split_stride(std::vector<std::int64_t>& strides, const PieceRange& range) const {
  if (cut_.apart) return;
  const std::int64_t stride = strides[level_];
  strides[level_] = in_turn() ? stride * range.pieces : stride;
  strides.insert(strides.begin() + level_of_pieces(), in_turn() ? stride : stride * range.piece);
}

std::int64_t PieceLayout::take_range(kernel::Operand& operand, const PieceRange* range) const {
  if (range == nullptr) return 0;
  const std::int64_t first = range->first * operand.strides[level_] * byte_size(operand.dtype);
  split_stride(operand.strides, *range);
  return first;
}

}  // namespace tenfold::compiler
