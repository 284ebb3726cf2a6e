// SPDX-License-Identifier: Apache-2.0
#include "schedule/spread.hpp"

#include <algorithm>
#include <numeric>

#include "schedule/broken.hpp"
#include "schedule/levels.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Longer rows fill vectors by themselves; fewer are not worth a copy. Beside one element a row, which is stored in
/// pieces of rows first, rows of whole steps do so as well.
constexpr std::int64_t kMostWidth = 127, kMostWidthOfRows = 112, kLeastRows = 32;
/// Elements that are spread at a time, and what they may take of L1.
constexpr std::int64_t kElements = 1024, kMostBytes = 16 << 10;

struct LastTwo {
  std::int64_t rows, columns;
};
/// Of the two innermost levels.
LastTwo strides_of(const kernel::Operand& operand) {
  const std::size_t last = operand.strides.size() - 1;
  return {operand.strides[last - 1], operand.strides[last]};
}
LastTwo extents_of(const KernelSpec& spec) {
  const std::size_t last = spec.levels.size() - 1;
  return {spec.levels[last - 1].extent, spec.levels[last].extent};
}

bool has_all(const KernelSpec& spec, const kernel::Operand& operand) {
  const LastTwo strides = strides_of(operand);
  return strides.columns == 1 && strides.rows == extents_of(spec).columns;
}

bool is_one(const kernel::Operand& operand) {
  const LastTwo strides = strides_of(operand);
  return strides.columns == 0 && strides.rows == 0;
}

}  // namespace

Spread spread_of(const KernelSpec& spec, const kernel::Operand& operand) {
  if (has_all(spec, operand) || is_one(operand)) return Spread::none;
  return strides_of(operand).columns == 0 ? Spread::rows : Spread::columns;
}

int spread_width(const KernelSpec& spec) {
  if (!kernel::is_elementwise(spec) || spec.levels.size() < 2) return 0;
  const LastTwo extents = extents_of(spec);
  if (extents.columns < 2 || extents.columns > kMostWidth || extents.rows < kLeastRows) return 0;
  const auto can_spread = [&](const kernel::Operand& input) {
    const LastTwo strides = strides_of(input);
    return has_all(spec, input) || strides.columns == 0 || (strides.columns == 1 && strides.rows == 0);
  };
  const bool all = std::ranges::all_of(spec.inputs, can_spread) &&
                   std::ranges::all_of(spec.outputs, [&](const auto& output) { return has_all(spec, output); });
  const std::int64_t step = step_of_elements(spec);
  const bool fills_vectors = extents.columns > kMostWidthOfRows || extents.columns % step == 0;
  if (fills_vectors && extents.columns > step && std::ranges::any_of(spec.inputs, [&](const kernel::Operand& input) {
        return spread_of(spec, input) == Spread::rows;
      }))
    return 0;
  const bool any = std::ranges::any_of(
      spec.inputs, [&](const kernel::Operand& input) { return spread_of(spec, input) != Spread::none; });
  return all && any && choose_spread(spec) > 0 ? static_cast<int>(extents.columns) : 0;
}

KernelSpec joined(const KernelSpec& spec) {
  KernelSpec made = spec;
  const std::size_t last = spec.levels.size() - 1;
  made.levels[last - 1].extent *= made.levels[last].extent;
  made.levels.pop_back();
  for (std::vector<kernel::Operand>* operands : {&made.inputs, &made.outputs})
    for (kernel::Operand& operand : *operands) {
      if (operand.strides[last] != 0) operand.strides[last - 1] = operand.strides[last - 1] == 0 ? 0 : 1;
      operand.strides.pop_back();
    }
  return made;
}

std::int64_t choose_spread(const KernelSpec& spec) {
  std::int64_t element_bytes = 0;
  for (const kernel::Operand& input : spec.inputs)
    if (spread_of(spec, input) != Spread::none) element_bytes += byte_size(input.dtype);
  const LastTwo extents = extents_of(spec);
  const std::int64_t least = std::lcm(extents.columns, step_of_elements(spec));
  const std::int64_t most = kMostBytes / std::max<std::int64_t>(1, element_bytes);
  if (most < least) return 0;
  return std::max(least, std::min(most, kElements) / least * least);
}

Status check_spread(const KernelSpec& spec, const Schedule& schedule) {
  if (schedule.width == 0) return schedule.columns == 0 ? Status() : broken("columns without rows that are joined");
  if (schedule.width != spread_width(spec)) return broken("width is not that of rows that can be joined");
  if (schedule.vector_level + 1 != static_cast<int>(spec.levels.size()) || schedule.tile.level == schedule.vector_level)
    return broken("joined rows are whole, and innermost");
  if (schedule.columns != choose_spread(spec)) return broken("columns is not what is spread at a time");
  return {};
}

}  // namespace tenfold::schedule
