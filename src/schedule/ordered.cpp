// SPDX-License-Identifier: Apache-2.0
#include "schedule/ordered.hpp"

#include <algorithm>

#include "schedule/around.hpp"
#include "schedule/levels.hpp"
#include "schedule/turned.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;
using kernel::Node;

constexpr std::int64_t kStep = 16;
/// Columns of a tile.
constexpr std::int64_t kLeastColumns = 64, kMostColumnsOfTile = 4096;
/// Lines of a turned tile: a place waits for the one before it, so that several vectors take turns. Sums do not; few
/// lines in long pieces are read and written in longer runs. Bytes of a piece.
constexpr std::int64_t kSummedLines = 16, kPlacedLines = 64, kSummedBytes = 512, kPlacedBytes = 256;

/// Of shorter lines the ends take longest, and lanes stay empty; of elements of 64 bits, and of narrower ones.
constexpr std::int64_t kLeastWideInLanes = 16, kLeastInLanes = 32;

/// Rows of a sweep share what it loads and stores of the lists, which is more than steps that are left out take.
constexpr std::int64_t kManyPlaces = 6;

/// Of all that a column keeps from row to row.
std::int64_t record_bytes(const KernelSpec& spec) {
  std::int64_t bytes = 0;
  for (const Node& node : spec.body) bytes += kernel::is_ordered(node) ? 8 : 0;
  return std::max<std::int64_t>(bytes, 8);
}

/// What is turned of one line.
std::int64_t turned_bytes(const KernelSpec& spec, const TurnedLevels& levels) {
  std::int64_t bytes = 0;
  for (const std::vector<kernel::Operand>* operands : {&spec.inputs, &spec.outputs})
    for (const kernel::Operand& operand : *operands)
      bytes += turned_width(spec, levels, operand) * byte_size(operand.dtype);
  return bytes;
}

/// Of a kept level: of lanes in whole lines of memory.
Cut tile_along(const KernelSpec& spec, int level, int lanes_level, std::int64_t columns, bool turned, int cores) {
  if (level < 0) return {};
  const std::int64_t extent = kernel::level(spec, level).extent;
  const std::int64_t unit = level != lanes_level ? 1 : turned ? columns : std::min(columns, kLeastColumns);
  const std::int64_t bytes = std::max<std::int64_t>(1, kernel::bytes_read(spec) / extent);
  const std::int64_t least =
      std::max(divide_up(extent, 4 * std::int64_t{cores}), divide_up(kTaskBytes / effort_of_byte(spec), bytes));
  const std::int64_t grain = divide_up(least, unit) * unit;
  return grain < extent ? Cut{level, grain} : Cut{};
}

/// Of the widest one; of the next, where lanes are too few for tasks.
Cut choose_tile(const KernelSpec& spec, int lanes_level, std::int64_t columns, bool turned, int cores) {
  const int widest = widest_level(spec, false);
  const Cut tile = tile_along(spec, widest, lanes_level, columns, turned, cores);
  return tile.level >= 0 ? tile
                         : tile_along(spec, widest_level(spec, false, widest), lanes_level, columns, turned, cores);
}

/// A lane's list changes some k ln(n / k) times in n elements that come in any order; what is asked first pays where a
/// step seldom has such a lane.
bool pays_to_skip(const KernelSpec& spec) {
  constexpr std::int64_t kLeastPlaces = 3, kLeastPerPlace = 16;
  const std::int64_t lanes = std::min(kStep, kernel::kept_count(spec)), places = places_of(spec);
  return places >= kLeastPlaces && kernel::reduced_count(spec) >= kLeastPerPlace * places * lanes;
}

}  // namespace

std::int64_t effort_of_byte(const KernelSpec& spec) {
  constexpr std::int64_t kOfSums = 4, kBesidePlaces = 2;
  if (!kernel::is_ordered(spec)) return 1;
  const std::int64_t places = places_of(spec);
  return places > 0 ? kBesidePlaces + places : kOfSums;
}

std::int64_t places_of(const KernelSpec& spec) {
  std::int64_t places = 0;
  for (const Node& node : spec.body)
    if (node.kind == Node::Kind::rank) places = std::max<std::int64_t>(places, node.index + 1);
  return places;
}

std::int64_t piece_of_line(const KernelSpec& spec) {
  const std::int64_t extent = spec.levels.back().extent;
  const std::int64_t most = (places_of(spec) > 0 ? kPlacedBytes : kSummedBytes) / byte_size(spec.inputs[0].dtype);
  if (extent <= most) return extent;
  std::int64_t best = most;
  for (std::int64_t piece = most; piece > most / 2; --piece)
    if (extent % piece < extent % best) best = piece;
  return best;
}

bool scans_in_lanes(const KernelSpec& spec) {
  const auto is_in_lanes = [](const Node& node) {
    return !kernel::is_ordered(node) || (node.kind == Node::Kind::scan && !node.reverse);
  };
  const bool wide = !spec.inputs.empty() && byte_size(spec.inputs[0].dtype) == 8;
  const std::int64_t least = wide ? kLeastWideInLanes : kLeastInLanes;
  const auto has_neighbours = [](const kernel::Operand& operand) { return operand.strides.back() == 1; };
  return kernel::is_ordered(spec) && std::ranges::all_of(spec.body, is_in_lanes) && spec.levels.back().reduced &&
         spec.levels.back().extent >= least && std::ranges::any_of(spec.inputs, has_neighbours) &&
         std::ranges::all_of(
             spec.inputs,
             [&](const kernel::Operand& input) { return has_neighbours(input) || input.strides.back() == 0; }) &&
         std::ranges::all_of(spec.outputs, has_neighbours);
}

Schedule choose_ordered(const KernelSpec& spec, const target::Target& target) {
  const TurnedLevels levels = turned_levels(spec);
  Schedule schedule;
  schedule.isa = target.isa;
  if (scans_in_lanes(spec)) {
    schedule.nest = Nest::staged_rows;
    schedule.unroll = 1;
    schedule.vector_level = static_cast<int>(spec.levels.size()) - 1;
    schedule.around = pays_around(spec, schedule.vector_level, target);
    schedule.claim = pays_to_claim(spec, schedule.vector_level, target);
    schedule.tile = choose_tile(spec, schedule.vector_level, 1, false, target.cores);
    return schedule;
  }
  schedule.nest = Nest::staged_columns;
  schedule.rows_at_once = 4;
  schedule.skips = pays_to_skip(spec);
  if (schedule.skips && target.isa != target::Isa::avx2 && places_of(spec) >= kManyPlaces) schedule.rows_at_once = 1;
  if (levels.found()) {
    schedule.vector_level = levels.rows;
    schedule.width = static_cast<int>(turned_width(spec, levels));
    const std::int64_t room = target.l1_bytes / (turned_bytes(spec, levels) + record_bytes(spec));
    schedule.columns = std::clamp(room / kStep * kStep, kStep, places_of(spec) > 0 ? kPlacedLines : kSummedLines);
  } else {
    schedule.vector_level = vector_level_of(spec, spec.inputs[0]);
    if (kernel::level(spec, schedule.vector_level).reduced) schedule.vector_level = kernel::innermost(spec, false);
    const std::int64_t room = target.l1_bytes / 2 / record_bytes(spec);
    schedule.columns = std::clamp(room / kStep * kStep, kLeastColumns, kMostColumnsOfTile);
  }
  schedule.ahead = levels.found() && kernel::bytes_read(spec) > target.l2_bytes;
  schedule.tile = choose_tile(spec, schedule.vector_level, schedule.columns, levels.found(), target.cores);
  return schedule;
}

}  // namespace tenfold::schedule
