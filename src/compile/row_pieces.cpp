// SPDX-License-Identifier: Apache-2.0
#include "compile/row_pieces.hpp"

#include <algorithm>
#include <vector>

namespace tenfold::compiler {

using kernel::Function;
using kernel::KernelSpec;
using kernel::Monoid;
using kernel::Node;

namespace {

constexpr std::int64_t kFewRows = 8;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

std::ptrdiff_t reduced_levels(const KernelSpec& spec) {
  return std::count_if(spec.levels.begin(), spec.levels.end(),
                       [](const kernel::Level& level) { return level.reduced; });
}

bool sums_exponentials(const KernelSpec& spec) {
  for (int sum = 0; sum < static_cast<int>(spec.body.size()); ++sum)
    for (int max = 0; max < sum; ++max)
      if (is_sum_of_exponentials(spec, sum, max)) return true;
  return false;
}

}  // namespace

std::size_t reduced_level(const KernelSpec& spec) {
  return static_cast<std::size_t>(
      std::find_if(spec.levels.begin(), spec.levels.end(), [](const kernel::Level& level) { return level.reduced; }) -
      spec.levels.begin());
}

std::size_t level_of_neighbours(const KernelSpec& spec) {
  const std::vector<std::int64_t>& strides = spec.inputs[0].strides;
  return static_cast<std::size_t>(std::find(strides.begin(), strides.end(), 1) - strides.begin());
}

bool is_sum_of_exponentials(const KernelSpec& spec, int sum, int max) {
  const auto node = [&spec](int index) -> const Node& { return spec.body[at(index)]; };
  const auto reduces = [&](int index, Monoid monoid) {
    return node(index).kind == Node::Kind::reduce && node(index).monoid == monoid;
  };
  if (!reduces(sum, Monoid::sum) || !reduces(max, Monoid::max) || !is_floating(kernel::dtype_of(spec, sum)))
    return false;
  const Node& exponential = node(node(sum).args[0]);
  if (exponential.kind != Node::Kind::apply || exponential.function != Function::exp) return false;
  const Node& difference = node(exponential.args[0]);
  return difference.kind == Node::Kind::apply && difference.function == Function::sub &&
         difference.args == std::vector<int>{node(max).args[0], max};
}

std::int64_t long_row_piece(const KernelSpec& spec, const RowPieces& pieces) {
  if (reduced_levels(spec) != 1 || spec.levels.size() >= at(kernel::kMaxLevels)) return 0;
  const std::size_t level = reduced_level(spec), neighbours = level_of_neighbours(spec);
  const std::int64_t rows = kernel::kept_count(spec), elements = spec.levels[level].extent;
  if (rows == 0 || neighbours >= spec.levels.size()) return 0;
  const std::vector<bool> per_row = kernel::per_row(spec);
  const bool only_reduces = std::all_of(spec.stores.begin(), spec.stores.end(),
                                        [&](const kernel::Store& store) { return bool{per_row[at(store.node)]}; });
  if (neighbours != level) {
    const std::int64_t row_bytes = spec.levels[neighbours].extent * byte_size(spec.inputs[0].dtype);
    const std::int64_t piece = std::clamp(pieces.column_piece_bytes / row_bytes, pieces.column_piece, pieces.piece);
    const bool far = kernel::bytes_read(spec) >= (only_reduces ? pieces.columns_from : pieces.written_columns_from);
    return far && elements >= 2 * piece && sums_exponentials(spec) ? piece : 0;
  }
  return elements >= (only_reduces && rows < kFewRows ? pieces.few_from : pieces.from) ? pieces.piece : 0;
}

}  // namespace tenfold::compiler
