// SPDX-License-Identifier: Apache-2.0
//
// One kernel would take short rows far from one another for each output, and end each of them by itself. Of
// [16, 64, 64, 64] over {1, 3} these are rows of 64 elements, 4096 apart. With {3} kept, the first kernel has columns
// of 4096 elements, which it reads in order, and the second one 1024 rows of 64 numbers.
//
// Over {0, 3} that would leave a sixteenth as many partial results as elements. So {3} comes first, as packed rows,
// which are read in order, too, and then 16 rows of 4096 numbers. Rows of more elements than are packed lose as often
// as they gain, and where both ways are open the first one does better by most dtypes.
//
// Where the innermost level is kept, columns of few rows end once for each of the outer ones: [100, 24, 12, 3] over
// {0, 2} takes 12 rows of 3 elements 2400 times. The outermost reduced level comes first then, alone: it has columns as
// wide as all that is inside it. More than 15 rows in line are long enough, but of bytes, and where the blocks that an
// output is made of are short.
//
// Measured: docs/measurements.md.
#include "schedule/apart.hpp"

#include <algorithm>

#include "schedule/packed.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Below this there is too little for a second call, of 20 ns.
constexpr std::int64_t kLeastBytes = 128;
/// Rows from this length on hide their ends.
constexpr std::int64_t kLongRowBytes = 1024;
/// So many rows of columns, one after another, are worth their end.
constexpr std::int64_t kRowsInLine = 16;
/// Each partial result stands for as many elements, as it is written and read once.
constexpr std::int64_t kElementsOfPartial = 32;

/// Visits of one output in one kernel are of blocks: all that is reduced in line, times what lies innermost. Blocks of
/// up to so many bytes for each of the outermost reduced level's elements take longer to begin and end than partial
/// results to be written and read again, if there are so many of them.
constexpr std::int64_t kBlockBytes = 128, kLeastBlocks = 5;

bool has_short_blocks(const KernelSpec& spec, std::int64_t outermost, std::int64_t inside) {
  const std::int64_t row = spec.levels.back().extent;
  return inside * row * byte_size(spec.inputs[0].dtype) <= kBlockBytes * outermost &&
         kernel::kept_count(spec) >= kLeastBlocks * row;
}

/// The other reduced levels, behind the outermost one.
std::vector<int> levels_inside(const KernelSpec& spec) {
  std::vector<int> reduced;
  for (int level = 0; level < static_cast<int>(spec.levels.size()); ++level)
    if (kernel::level(spec, level).reduced) reduced.push_back(level);
  if (reduced.size() < 2) return {};
  const std::int64_t outermost = kernel::level(spec, reduced.front()).extent;
  const std::int64_t inside = kernel::reduced_count(spec) / outermost;
  const bool few = inside < kRowsInLine || byte_size(spec.inputs[0].dtype) == 1;
  if (!(outermost >= kElementsOfPartial && few) && !has_short_blocks(spec, outermost, inside)) return {};
  return {reduced.begin() + 1, reduced.end()};
}

}  // namespace

DType partial_dtype(const KernelSpec& spec, const ReduceBody& body) {
  return lanes_of(spec, body) == Lanes::chained_f32 ? DType::f64 : spec.outputs[0].dtype;
}

std::vector<int> levels_apart(const KernelSpec& spec) {
  const Result<ReduceBody> body = read_body(spec);
  if (!body.ok() || lanes_of(spec, body.value()) == Lanes::arg) return {};
  // Packed rows, which the second kernel of f64 may have, divide by their own width.
  if (body.value().divide_by_count && spec.inputs[0].dtype == DType::f64) return {};
  const int last = static_cast<int>(spec.levels.size()) - 1;
  const std::int64_t element = byte_size(spec.inputs[0].dtype), row = spec.levels.back().extent;
  const std::int64_t reduced = kernel::reduced_count(spec);
  if (spec.inputs[0].strides.back() != 1 || kernel::kept_count(spec) * reduced * element < kLeastBytes) return {};
  if (!spec.levels.back().reduced) return levels_inside(spec);
  if (row * element >= kLongRowBytes) return {};
  if (reduced / row >= kElementsOfPartial) return {last};
  std::vector<int> others;
  for (int level = 0; level < last; ++level)
    if (kernel::level(spec, level).reduced) others.push_back(level);
  // Longer rows of words are packed, but are better off in one kernel here.
  std::int64_t most = most_packed_width(lanes_of(spec, body.value()), spec.inputs[0].dtype);
  if (element == 4) most = std::min(most, std::int64_t{kMostPackedSum});
  return row >= kLeastPackedWidth && row <= most ? others : std::vector<int>{};
}

}  // namespace tenfold::schedule
