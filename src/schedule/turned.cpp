// SPDX-License-Identifier: Apache-2.0
#include "schedule/turned.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "kernel/passes.hpp"
#include "schedule/broken.hpp"
#include "schedule/levels.hpp"
#include "schedule/ordered.hpp"
#include "schedule/packed.hpp"
#include "schedule/stage_traits.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Longer blocks are better left alone, those that are read but once also where several inputs are turned.
constexpr std::int64_t kMostWidth = 64;
/// In the caches rows of 32 bits may be longer, and those of 16 bits and less, which pay for widening and for their
/// tails, still more.
constexpr std::int64_t kMostWidthOfWords = 80, kMostWidthOfNarrow = 112, kCachedBytes = 8 << 20;
/// Rows of several passes of which more is moved are read and written best in the order of memory: shorter ones where
/// words are stored, and longer where functions take the time.
constexpr std::int64_t kFarMoved = 32 << 20, kMostFarWidth = 47, kMostFarStored = 24, kMostFarComputed = 36;
/// Where the innermost level is kept and has so few elements, columns would leave many of their lanes empty: longer
/// blocks are turned then, but not those of whole steps.
constexpr std::int64_t kMostKept = 24, kVectorStep = 16, kMostWidthOfFew = 2048;
/// Fewer blocks would leave lanes empty, too.
constexpr std::int64_t kLeastRows = 32;
/// Lanes run along the innermost level outside if it has so many, as those lie closest to one another.
constexpr std::int64_t kEnoughRows = 64;
/// Bytes of a column's records: sets, totals and saved values.
constexpr std::int64_t kRecordBytes = 48;
constexpr std::int64_t kMostTurnedColumns = 256;

std::int64_t extent_of(const KernelSpec& spec, int level) { return kernel::level(spec, level).extent; }

std::ptrdiff_t turned_inputs(const KernelSpec& spec, const TurnedLevels& levels) {
  return std::count_if(spec.inputs.begin(), spec.inputs.end(),
                       [&](const kernel::Operand& input) { return turned_width(spec, levels, input) > 1; });
}

/// Of rows that memory delivers. By the spec alone, as the nest decides bits.
std::int64_t most_far_width(const KernelSpec& spec) {
  if (byte_size(spec.inputs[0].dtype) < 4 || !writes_elements(spec)) return kMostFarWidth;
  return expensive_functions(spec) > 0 ? kMostFarComputed : kMostFarStored;
}

/// Blocks of so many elements, all that are read counted, are turned.
std::int64_t most_width(const KernelSpec& spec) {
  const kernel::Level& last = spec.levels.back();
  if (!last.reduced) return last.extent <= kMostKept && last.extent != kVectorStep ? kMostWidthOfFew : kMostWidth;
  const int bytes = byte_size(spec.inputs[0].dtype);
  if (kernel::bytes_moved(spec) > kFarMoved && kernel::pass_count(spec) > 1 && bytes <= 4) return most_far_width(spec);
  if (kernel::bytes_read(spec) > kCachedBytes) return kMostWidth;
  return bytes <= 2 ? kMostWidthOfNarrow : bytes <= 4 ? kMostWidthOfWords : kMostWidth;
}

/// Plain reductions of elements of 1, 2, 4 and 8 bytes: the longest rows apart, and the largest blocks of up to three
/// kept elements, and of up to `some`, in the caches and beyond, that are turned. Rows inside other levels of a block,
/// of which a rows nest takes one at a time, may be longer.
struct MostOfPlain {
  std::int64_t row, few_near, few_far, some, some_near, some_far;
};
constexpr MostOfPlain kMostOfPlain[] = {
    {56, 640, 640, 7, 360, 360}, {56, 192, 192, 6, 256, 60}, {32, 160, 160, 6, 120, 48}, {16, 40, 40, 0, 0, 0}};
/// Of indices, which are turned back.
constexpr MostOfPlain kMostOfIndices[] = {
    {56, 640, 640, 8, 360, 360}, {56, 192, 192, 6, 256, 256}, {32, 192, 60, 6, 120, 0}, {24, 180, 40, 0, 0, 0}};
/// Of 64 bits shorter rows, and those from memory, are read as columns (columns.hpp).
constexpr std::int64_t kLeastRowOfWideIndices = 5;
constexpr std::int64_t kFewKept = 3, kNearBytes = 16 << 20;

/// What is but moved may have so much of L2: runs of pages are read and written better than runs of lines.
constexpr std::int64_t kMovedBytes = 128 << 10, kMovedPart = 4, kMostMovedColumns = 1024;

/// Tiles are whole steps.
std::int64_t columns_of_step(const KernelSpec& spec) {
  return reductions(spec) > 0 || kernel::is_ordered(spec) ? kVectorStep : step_of_elements(spec);
}

/// Blocks of a tile: as many as leave what is turned, and the records of columns, in L1.
std::int64_t choose_columns(const KernelSpec& spec, const TurnedLevels& levels, const target::Target& target) {
  std::int64_t bytes = kRecordBytes;
  for (const std::vector<kernel::Operand>* operands : {&spec.inputs, &spec.outputs})
    for (const kernel::Operand& operand : *operands)
      bytes += turned_width(spec, levels, operand) * byte_size(operand.dtype);
  const std::int64_t step = columns_of_step(spec);
  const auto in_steps = [&](std::int64_t room, std::int64_t most) {
    return std::clamp(room / bytes / step * step, step, most);
  };
  if (reductions(spec) == 0) return in_steps(std::min(target.l2_bytes / kMovedPart, kMovedBytes), kMostMovedColumns);
  return in_steps(target.l1_bytes / 2, kMostTurnedColumns);
}

/// How many rows a sweep takes: those left over come one by one.
int choose_sweep(const KernelSpec& spec) {
  const std::int64_t extent = extent_of(spec, kernel::innermost(spec, true));
  int best = 1;
  const auto sweeps = [&](int rows) { return extent / rows + 2 * (extent % rows); };
  for (const int rows : {2, 4, 8})
    if (sweeps(rows) <= sweeps(best)) best = rows;
  return best;
}

/// Tasks are cut from the widest level outside the blocks, of that of the lanes in whole tiles.
Cut choose_tile(const KernelSpec& spec, const TurnedLevels& levels, std::int64_t columns, int cores) {
  int level = 0;
  for (int other = 1; other < levels.inside; ++other)
    if (extent_of(spec, other) > extent_of(spec, level)) level = other;
  const std::int64_t extent = extent_of(spec, level), unit = level == levels.rows ? columns : 1;
  if (extent == 0) return {};
  const std::int64_t bytes = std::max<std::int64_t>(1, kernel::bytes_read(spec) / extent);
  const std::int64_t least = std::max(divide_up(extent, 4 * std::int64_t{cores}), divide_up(kTaskBytes, bytes));
  const std::int64_t grain = divide_up(least, unit) * unit;
  return grain < extent ? Cut{level, grain} : Cut{};
}

/// Of elements that are but moved, blocks of the innermost level: what lanes do not find side by side is turned.
TurnedLevels transposed_levels(const KernelSpec& spec, TurnedLevels levels) {
  levels.rows = levels.inside - 1;
  const std::int64_t width = turned_width(spec, levels);
  if (levels.inside + 1 != static_cast<int>(spec.levels.size()) || width < 2 || width > kMostTransposed ||
      extent_of(spec, levels.rows) < kLeastRows)
    return {};
  bool turns = false;
  for (const std::vector<kernel::Operand>* operands : {&spec.inputs, &spec.outputs})
    for (const kernel::Operand& operand : *operands) {
      const std::int64_t along = operand.strides[static_cast<std::size_t>(levels.rows)];
      const bool is_turned = turned_width(spec, levels, operand) == width;
      if (!is_turned && along != 0 && along != 1) return {};
      turns = turns || is_turned;
    }
  return turns ? levels : TurnedLevels{};
}

/// Of lines that have their elements side by side: a piece of each is a block.
TurnedLevels line_levels(const KernelSpec& spec, TurnedLevels levels) {
  if (levels.inside + 1 != static_cast<int>(spec.levels.size()) || spec.inputs[0].strides.back() != 1) return {};
  for (int level = 0; level < levels.inside; ++level)
    if (!levels.found() || extent_of(spec, level) >= std::min(kEnoughRows, extent_of(spec, levels.rows)))
      levels.rows = level;
  return turned_width(spec, levels, spec.inputs[0]) > 0 ? levels : TurnedLevels{};
}

}  // namespace

TurnedLevels turned_levels(const KernelSpec& spec) {
  TurnedLevels levels;
  const int first = kernel::outermost(spec, true);
  if (first <= 0) return {};
  levels.inside = first;
  if (kernel::is_ordered(spec)) return line_levels(spec, levels);
  if (reductions(spec) == 0) return transposed_levels(spec, levels);
  for (int level = 0; level < levels.inside; ++level)
    if (!levels.found() || extent_of(spec, level) >= std::min(kEnoughRows, extent_of(spec, levels.rows)))
      levels.rows = level;
  const std::int64_t width = turned_width(spec, levels);
  if (extent_of(spec, levels.rows) < kLeastRows || turned_width(spec, levels, spec.inputs[0]) != width) return {};
  const std::int64_t share = kernel::pass_count(spec) == 1 ? turned_inputs(spec, levels) : 1;
  return width * share <= most_width(spec) ? levels : TurnedLevels{};
}

bool turns_blocks(const KernelSpec& spec, const ReduceBody& body) {
  // Stages store what they have computed, and hand on no sums in f64.
  const bool index = gives_index(lanes_of(spec, body));
  if (!index && spec.inputs[0].dtype != spec.outputs[0].dtype) return false;
  if (packs(spec, body)) return false;
  const TurnedLevels levels = turned_levels(spec);
  if (!levels.found()) return false;
  const int last = static_cast<int>(spec.levels.size()) - 1;
  const std::int64_t width = turned_width(spec, levels), kept = extent_of(spec, last);
  const int of_bytes = std::countr_zero(static_cast<unsigned>(byte_size(spec.inputs[0].dtype)));
  const MostOfPlain& most = index ? kMostOfIndices[of_bytes] : kMostOfPlain[of_bytes];
  const bool near = kernel::bytes_read(spec) <= kNearBytes;
  if (kernel::level(spec, last).reduced) {
    if (index && byte_size(spec.inputs[0].dtype) == 8 && (!near || width < kLeastRowOfWideIndices)) return false;
    return width <= (levels.inside < last ? kMostWidth : most.row);
  }
  if (kept <= kFewKept) return width <= (near ? most.few_near : most.few_far);
  return kept <= most.some && width <= (near ? most.some_near : most.some_far);
}

std::int64_t turned_width(const KernelSpec& spec, const TurnedLevels& levels) {
  if (kernel::is_ordered(spec)) return piece_of_line(spec);
  std::int64_t width = 1;
  for (auto level = static_cast<std::size_t>(levels.inside); level < spec.levels.size(); ++level)
    width *= spec.levels[level].extent;
  return width;
}

std::int64_t turned_width(const KernelSpec& spec, const TurnedLevels& levels, const kernel::Operand& operand) {
  const std::int64_t along_rows = operand.strides[static_cast<std::size_t>(levels.rows)];
  if (along_rows == 0 || along_rows == 1) return 0;
  if (kernel::is_ordered(spec)) return operand.strides.back() == 1 ? turned_width(spec, levels) : 0;
  std::int64_t width = 1;
  for (auto level = spec.levels.size(); level-- > static_cast<std::size_t>(levels.inside);) {
    if (operand.strides[level] == 0) continue;
    if (operand.strides[level] != width) return 0;
    width *= spec.levels[level].extent;
  }
  return width > 1 ? width : 0;
}

bool fill_lanes(const KernelSpec& spec, target::Isa isa) {
  const kernel::Level& last = spec.levels.back();
  const std::int64_t lanes = divide_up(last.extent, kVectorStep) * kVectorStep;
  return isa != target::Isa::avx2 && !last.reduced && reductions(spec) > 0 &&
         turned_width(spec, turned_levels(spec)) > kMostWidth && 4 * last.extent >= 3 * lanes;
}

Schedule choose_turned(const KernelSpec& spec, const target::Target& target, bool keeps) {
  const TurnedLevels levels = turned_levels(spec);
  Schedule schedule;
  schedule.isa = target.isa;
  schedule.nest = Nest::staged_columns;
  schedule.vector_level = levels.rows;
  schedule.width = static_cast<int>(turned_width(spec, levels));
  schedule.columns = choose_columns(spec, levels, target);
  schedule.rows_at_once = choose_sweep(spec);
  // An output of f32 keeps in scratch what it will be.
  const bool output_keeps = std::any_of(spec.outputs.begin(), spec.outputs.end(), [&](const kernel::Operand& output) {
    return output.dtype == DType::f32 && turned_width(spec, levels, output) == schedule.width;
  });
  if (keeps && !output_keeps) {
    schedule.keep = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(kernel::reduced_count(spec))));
    schedule.part = schedule.columns;
  }
  schedule.tile = choose_tile(spec, levels, schedule.columns, target.cores);
  return schedule;
}

Status check_turned(const KernelSpec& spec, const Schedule& schedule) {
  const TurnedLevels levels = turned_levels(spec);
  if (!levels.found() || schedule.vector_level != levels.rows || schedule.width != turned_width(spec, levels))
    return broken("width is not that of turned rows");
  if (schedule.columns % columns_of_step(spec) != 0) return broken("columns of turned rows are no whole steps");
  if (schedule.tile.level >= levels.inside) return broken("a block of turned rows is cut");
  if (schedule.around || schedule.claim || schedule.serpentine || (schedule.ahead && !kernel::is_ordered(spec)))
    return broken("turned rows stay in L1");
  return {};
}

}  // namespace tenfold::schedule
