// SPDX-License-Identifier: Apache-2.0
#include "compile/plan/piece_layout.hpp"

#include "schedule/levels.hpp"

namespace tenfold::compiler {
namespace {

/// A shorter last piece is joined to the one before it: with one element there would be nothing to reduce.
constexpr std::int64_t kLeastPiece = 16;

}  // namespace

PieceLayout::PieceLayout(const kernel::KernelSpec& spec, const RowCut& cut)
    : levels_(spec.levels),
      level_(static_cast<std::size_t>(kernel::innermost(spec, true))),
      vector_level_(static_cast<std::size_t>(schedule::vector_level_of(spec, spec.inputs[0]))),
      extent_(spec.levels[level_].extent),
      in_turn_(cut.in_turn > 0) {
  std::int64_t piece = in_turn_ ? extent_ / cut.in_turn : cut.piece;
  if (!in_turn_)
    while (piece < extent_ && extent_ % piece > 0 && extent_ % piece < kLeastPiece) piece += kLeastPiece;
  const std::int64_t whole = in_turn_ ? cut.in_turn : extent_ / piece, rest = extent_ - whole * piece;
  if (whole > 0 && piece > 0) ranges_.push_back({0, piece, whole, 0});
  if (rest > 0) ranges_.push_back({whole * piece, rest, 1, ranges_.empty() ? 0 : whole});
  pieces_ = whole + (rest > 0 ? 1 : 0);
  rows_ = dense_strides(level_);
}

std::vector<std::int64_t> PieceLayout::dense_strides(std::size_t without) const {
  std::vector<std::int64_t> strides(levels_.size(), 0);
  std::int64_t step = 1;
  for (std::size_t level = levels_.size(); level-- > 0;) {
    if (level == without) continue;
    strides[level] = step;
    step *= level == level_ ? pieces_ : levels_[level].extent;
  }
  return strides;
}

std::vector<std::int64_t> PieceLayout::partial_strides() const {
  if (in_turn_) return dense_strides(levels_.size());
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
  strides.insert(strides.begin() + level_of_piece(), 0);
  return strides;
}

Place PieceLayout::partials_of(const PieceRange& range, DType dtype, Place all) const {
  all.offset += range.number * partial_strides()[level_] * byte_size(dtype);
  return all;
}

std::vector<kernel::Level> PieceLayout::levels_of(const PieceRange& range) const {
  std::vector<kernel::Level> levels = levels_;
  levels[level_].extent = range.piece;
  levels.insert(levels.begin() + level_of_pieces(), {range.pieces, false});
  return levels;
}

std::vector<kernel::Level> PieceLayout::levels_of_pieces(bool reduced) const {
  std::vector<kernel::Level> levels = levels_;
  levels[level_] = {pieces_, reduced};
  return levels;
}

void PieceLayout::split_stride(std::vector<std::int64_t>& strides, const PieceRange& range) const {
  const std::int64_t stride = strides[level_];
  strides[level_] = in_turn_ ? stride * range.pieces : stride;
  strides.insert(strides.begin() + level_of_pieces(), in_turn_ ? stride : stride * range.piece);
}

std::int64_t PieceLayout::take_range(kernel::Operand& operand, const PieceRange* range) const {
  if (range == nullptr) return 0;
  const std::int64_t first = range->first * operand.strides[level_] * byte_size(operand.dtype);
  split_stride(operand.strides, *range);
  return first;
}

}  // namespace tenfold::compiler
