// SPDX-License-Identifier: Apache-2.0
#include "schedule/narrow.hpp"

#include <algorithm>
#include <numeric>

#include "schedule/stage_traits.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Rows of more are no narrow columns.
constexpr std::int64_t kMostRowElements = 4096;
/// Accumulators of chained columns that registers hold, beside two totals and a loaded vector.
constexpr int kStepsInRegisters = 4;
/// Bytes of rows that are taken as one: so many where there are enough rows, or else what makes whole vector steps, if
/// it stays in L1 with its accumulators.
constexpr std::int64_t kGroupBytes = 2048, kMostGroupBytes = 8192;
/// Rows of whole vector steps gain nothing by groups from this length on, and of bytes they lose.
constexpr std::int64_t kPlainRowBytes = 256;
/// Extremes and sums of integers, of up to so many bytes, are taken step by step wherever steps lie.
constexpr std::int64_t kNearBytes = 48 << 10;
/// Four streams have a group each; it takes many to make groups longer than they must be.
constexpr std::int64_t kLeastGroups = 4, kManyGroups = 128;

/// Of rows of so many elements one after another, how many are taken as one, so that they are whole vector steps: a
/// power of two, as the lanes are; 1 for none.
std::int64_t rows_of_group(const KernelSpec& spec, std::int64_t width, std::int64_t rows, std::int64_t step) {
  const std::int64_t row_bytes = width * byte_size(spec.inputs[0].dtype);
  std::int64_t group = step / std::gcd(step, width);
  if (group == 1 && row_bytes >= kPlainRowBytes) return 1;
  if (group * row_bytes > kMostGroupBytes || rows < group * kLeastGroups) return 1;
  while (2 * group * row_bytes <= kGroupBytes && rows >= 2 * group * kManyGroups) group *= 2;
  return group;
}

/// Indices: bytes of rows that are taken as one, so that a sweep of them has enough to do, where there are so many
/// groups that what it takes to search them does not matter.
constexpr std::int64_t kSearchedBytes = 256, kSearchedGroups = 1024;

/// How many rows are taken as one then; 1 where they are not.
std::int64_t rows_of_searched_group(const KernelSpec& spec, std::int64_t width, std::int64_t rows, std::int64_t step) {
  const std::int64_t row_bytes = width * byte_size(spec.inputs[0].dtype);
  if (width % step == 0 && row_bytes >= kSearchedBytes) return 1;
  std::int64_t group = step / std::gcd(step, width);
  while (group * row_bytes < kSearchedBytes) group *= 2;
  return group * row_bytes <= kMostGroupBytes && rows >= group * kSearchedGroups ? group : 1;
}

/// A run of rows that others follow, elsewhere in memory, is folded by itself. What makes few groups is then better
/// taken row by row, up to so many: of extremes, of those whose rows are long, of integers. Elements of 8 and 16 bits
/// lose.
constexpr std::int64_t kGroupsOfRun = 16, kGroupsOfLongRows = 32, kGroupsOfIntegers = 8, kLongRowBytes = 192;

bool has_short_runs(const KernelSpec& spec, Lanes lanes, std::int64_t width, std::int64_t groups) {
  const std::int64_t element = byte_size(spec.inputs[0].dtype);
  if (kernel::reduced_levels(spec) < 2 || element < 4) return false;
  if (lanes == Lanes::integer) return groups <= kGroupsOfIntegers;
  return lanes == Lanes::order && groups <= (width * element >= kLongRowBytes ? kGroupsOfLongRows : kGroupsOfRun);
}

/// Indices: to begin the lanes of a group, and to bring those of a column together in the end, takes as long as many
/// groups do, of keys, which are short until then, the longest. What groups gain are the lanes of a row's last step
/// that are no column: the fewer these are, the more groups it takes, but no more than `most`.
struct Fold {
  std::int64_t groups;  ///< where a row has as many such lanes as columns
  std::int64_t most;
};
constexpr Fold kFoldOfKeys{16, 128}, kFoldOfPlaces{8, 64};

bool folds_too_often(Lanes lanes, std::int64_t width, std::int64_t groups, std::int64_t step) {
  if (!gives_index(lanes)) return false;
  const Fold& fold = lanes == Lanes::keys ? kFoldOfKeys : kFoldOfPlaces;
  const std::int64_t empty = step - width % step;
  return groups < std::min(fold.groups * width / empty, fold.most);
}

/// Rows of two steps that make fewer groups than this are taken with a set for each step. f64, whose steps in registers
/// are dearer, gains nothing.
constexpr std::int64_t kFewGroups = 16;
/// Extremes of rows of two whole steps are taken so as well, up to so many bytes. What no cache holds comes faster from
/// the four streams of groups.
constexpr std::int64_t kTwoStepBytes = std::int64_t{16} << 20;

}  // namespace

Narrow narrow_columns(const KernelSpec& spec, Lanes lanes, int vector_level, bool may_search) {
  const std::int64_t width = kernel::level(spec, vector_level).extent;
  if (width < 1 || width > kMostRowElements) return {};
  const int inner = kernel::innermost(spec, true);
  const std::vector<std::int64_t>& strides = spec.inputs[0].strides;
  const bool dense = inner >= 0 && strides[static_cast<std::size_t>(vector_level)] == 1 &&
                     strides[static_cast<std::size_t>(inner)] == width;
  if (!dense) return {};
  const std::int64_t step = lanes_per_step(lanes, spec.inputs[0].dtype);
  const int built_in = static_cast<int>(width);
  if (lanes == Lanes::chained_f32) return width <= kStepsInRegisters * step ? Narrow{built_in, 0} : Narrow{};
  if (lanes == Lanes::wide_f64) return width <= step ? Narrow{built_in, step} : Narrow{};
  const std::int64_t rows = kernel::level(spec, inner).extent;
  if (may_search && remembers_sweeps(spec, lanes) && kernel::reduced_levels(spec) == 1) {
    const std::int64_t group = rows_of_searched_group(spec, width, rows, step);
    if (group > 1) return {built_in, group * width, true};
  }
  // Whole rows that fill three quarters of a step are as good as groups, and need no records; but not where most steps
  // lie across two lines, and L1 does not have them.
  const bool crosses =
      is_exact(lanes) && step % width != 0 && rows * width * byte_size(spec.inputs[0].dtype) > kNearBytes;
  if (step / width * width >= step * 3 / 4 && !crosses) return {built_in, step};
  // Indices of whole steps come row by row.
  if (gives_index(lanes) && width % step == 0) return {};
  const std::int64_t group = rows_of_group(spec, width, rows, step);
  const bool cheap = lanes == Lanes::integer || byte_size(spec.inputs[0].dtype) < 8;
  const bool few = rows < group * kFewGroups && width > step && width <= 2 * step;
  const bool whole = lanes == Lanes::order && width == 2 * step && kernel::bytes_read(spec) <= kTwoStepBytes;
  if (!gives_index(lanes) && (few || whole) && cheap) return {built_in, 2 * step};
  if (group > 1 && has_short_runs(spec, lanes, width, rows / group)) return {};
  if (group > 1 && !folds_too_often(lanes, width, rows / group, step)) return {built_in, group * width};
  return width <= step ? Narrow{built_in, step} : Narrow{};
}

}  // namespace tenfold::schedule
