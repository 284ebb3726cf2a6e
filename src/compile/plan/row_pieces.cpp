// SPDX-License-Identifier: Apache-2.0
#include "compile/plan/row_pieces.hpp"

#include <algorithm>
#include <vector>

#include "kernel/exponentials.hpp"
#include "kernel/moments.hpp"
#include "schedule/levels.hpp"
#include "schedule/stage_traits.hpp"
#include "schedule/turned.hpp"

namespace tenfold::compiler {

using kernel::KernelSpec;

namespace {

bool sums_exponentials(const KernelSpec& spec) {
  for (int sum = 0; sum < static_cast<int>(spec.body.size()); ++sum)
    for (int max = 0; max < sum; ++max)
      if (kernel::is_sum_of_exponentials(spec, sum, max)) return true;
  return false;
}

std::int64_t long_row_piece(const KernelSpec& spec, const RowPieces& pieces) {
  if (kernel::reduced_levels(spec) != 1 || spec.levels.size() >= kernel::kMaxLevels) return 0;
  const int level = kernel::innermost(spec, true), neighbours = schedule::vector_level_of(spec, spec.inputs[0]);
  const std::int64_t rows = kernel::kept_count(spec), elements = kernel::level(spec, level).extent;
  if (rows == 0 || spec.inputs[0].strides[static_cast<std::size_t>(neighbours)] != 1) return 0;
  if (neighbours != level) {
    const std::int64_t row_bytes = kernel::level(spec, neighbours).extent * byte_size(spec.inputs[0].dtype);
    const std::int64_t piece =
        std::min(pieces.piece, std::max(pieces.column_piece, pieces.column_piece_bytes / row_bytes));
    const bool far = kernel::bytes_read(spec) >=
                     (schedule::writes_elements(spec) ? pieces.written_columns_from : pieces.columns_from);
    return far && elements >= 2 * piece && sums_exponentials(spec) ? piece : 0;
  }
  return elements >= (!schedule::writes_elements(spec) && rows < kFewRows ? pieces.few_from : pieces.from)
             ? pieces.piece
             : 0;
}

/// Which narrow columns have pieces that take rows in turn.
struct Narrow {
  std::int64_t row;   ///< those of rows of less than so many elements
  std::int64_t from;  ///< from so many elements of a block on
};
Narrow narrow_of(const KernelSpec& spec, const RowPieces& pieces) {
  const bool written = schedule::writes_elements(spec);
  if (written && sums_exponentials(spec) && byte_size(spec.outputs[0].dtype) <= 2)
    return {pieces.narrow_row / 4, pieces.narrow_from};
  const std::vector<int> sums = kernel::sums_beside_moments(spec);
  const std::int64_t bytes = byte_size(spec.inputs[0].dtype);
  if (std::all_of(sums.begin(), sums.end(), [](int sum) { return sum < 0; }) || (written && bytes <= 2))
    return {pieces.narrow_row, pieces.narrow_from};
  if (written) return {std::min(pieces.narrow_row, pieces.moments_row), pieces.narrow_from};
  const bool far = kernel::bytes_read(spec) >= pieces.far_moments_from;
  return {far ? pieces.far_moments_row_bytes / bytes : pieces.moments_row, pieces.moments_from};
}

/// Where vectors of columns have empty lanes: g rows, one after another, are one of so many times as many columns then.
std::int64_t pieces_in_turn(const KernelSpec& spec, const RowPieces& pieces) {
  constexpr std::int64_t kStep = 16, kRowsForThreads = 256, kMostColumns = 4096;
  const std::size_t levels = spec.levels.size();
  if (levels < 2 || levels >= kernel::kMaxLevels || kernel::reduced_levels(spec) != 1 || kernel::kept_count(spec) == 0)
    return 0;
  const std::int64_t width = spec.levels[levels - 1].extent, rows = spec.levels[levels - 2].extent;
  const std::vector<std::int64_t>& strides = spec.inputs[0].strides;
  if (!spec.levels[levels - 2].reduced || strides[levels - 1] != 1 || strides[levels - 2] != width) return 0;
  const Narrow narrow = narrow_of(spec, pieces);
  if (width >= narrow.row || width % kStep == 0 || width * rows < narrow.from || schedule::turned_levels(spec).found())
    return 0;
  // Of many rows as many as give threads tasks.
  const std::int64_t columns = std::clamp(width * rows / kRowsForThreads, pieces.narrow_columns, kMostColumns);
  std::int64_t in_turn = std::min(columns / width, rows / pieces.narrow_least_rows);
  // A row that is left over has nothing to reduce.
  while (in_turn > 1 && rows % in_turn == 1) --in_turn;
  return in_turn > 1 ? in_turn : 0;
}

/// Rows of two levels with a kept one between them, the inner one short, as the groups of a group norm whose channels
/// come last.
bool has_rows_apart(const KernelSpec& spec, const RowPieces& pieces) {
  const std::size_t levels = spec.levels.size();
  if (kernel::reduced_levels(spec) != 2 || kernel::kept_count(spec) * kernel::reduced_count(spec) == 0) return false;
  const kernel::Level &inner = spec.levels[levels - 1], &between = spec.levels[levels - 2];
  if (!inner.reduced || between.reduced || spec.inputs[0].strides[levels - 1] != 1) return false;
  const std::int64_t outer = kernel::reduced_count(spec) / inner.extent;
  const bool again = schedule::writes_elements(spec) && sums_exponentials(spec);
  return inner.extent <= (again ? pieces.apart_exponentials : pieces.apart_row) &&
         outer >=
             std::max(pieces.apart_least, again ? pieces.apart_exponentials_rows * inner.extent : inner.extent / 2);
}

}  // namespace

RowCut row_cut(const KernelSpec& spec, const RowPieces& pieces) {
  if (has_rows_apart(spec, pieces)) return {0, 0, true};
  if (const std::int64_t in_turn = pieces_in_turn(spec, pieces); in_turn > 0) return {0, in_turn};
  return {long_row_piece(spec, pieces), 0};
}

}  // namespace tenfold::compiler
