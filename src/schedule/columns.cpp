// SPDX-License-Identifier: Apache-2.0
//
// Where the numbers come from: docs/measurements.md.
#include "schedule/columns.hpp"

#include <algorithm>

#include "schedule/arg_body.hpp"
#include "schedule/machine.hpp"
#include "schedule/narrow.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Part of a row that a tile of long rows has, so that four of them and their records stay in L1, while the last cache
/// holds the tensor.
constexpr std::int64_t kTileRowBytes = 4096;
/// Tiles of so many vector steps are strips, whose chains run in registers: for up to so many rows, which then are that
/// many streams, unless these meet in the same sets of L1.
constexpr int kStripTileSteps = 4;
constexpr std::int64_t kStripRows = 32, kAliasBytes = 4096;
/// Rows of up to this much are whole. Where the order is free they are read two at a time.
constexpr std::int64_t kPairRowBytes = 8192;
/// Integers from this row length on likewise, as what they do with a line is short enough for two streams.
constexpr std::int64_t kPairIntegerRow = 1024;
/// Rows of elements of one byte from this length on have the longest tiles; of shorter ones four come at a time.
constexpr std::int64_t kPairByteRow = 256;
constexpr std::int64_t kByteTile = 16384;
/// What fills more than this part of the last cache comes in longer runs. Then rows are whole and read eight at a time,
/// up to so many bytes, as one sweep reads eight times what its records have.
constexpr std::int64_t kCachePart = 2;
constexpr std::int64_t kWholeRowBytes = 65536;
/// Rows that are longer still have tiles of half as much, and sums have tiles of no more.
constexpr std::int64_t kPartRowBytes = 32768;
/// Where long rows come in pages (Machine::Columns): up to so many, or the longest.
constexpr std::int64_t kFewRows = 128;
/// Eight rows at once need so many for the ones left over, which are read fewer at a time, not to matter. What the last
/// cache does not hold is read so whatever its rows' length.
constexpr std::int64_t kRowsOfEight = 16;
/// So do rows in L2 where L1 has 12 ways, which keep eight rows pages apart and their records.
constexpr std::int64_t kL1OfEightRows = 48 << 10;
/// And rows of few records, which are loaded and stored half as often then.
constexpr std::int64_t kShortRowBytes = 128;
/// Rows of f64 from this length on, which are added up eight at a time: their records are as long as they are.
constexpr std::int64_t kLeastWideRow = 2048;
/// The longest rows whose records L1 holds: whole in L3 and beyond, or the longest parts there (Machine::Columns).
constexpr std::int64_t kLongTileBytes = 16384;
/// Indices of what is no more than so small a part of the last cache are near; in rows of so many bytes and more where
/// only those go by it (Machine::Columns).
constexpr std::int64_t kNearPart = 4, kLeastNearRow = 1024;
/// Vector steps of a tile of arg-reductions, which read adjacent rows: the longer the part of a row, the rarer a stream
/// starts anew, and records may then spill into L2.
constexpr int kArgTileRecords = 256;
/// What lies as near as this begins a stream at little cost. Then L1 keeps four rows of a tile and its records (8 KiB
/// of 24), and prefetches only take time.
constexpr std::int64_t kNearArgBytes = 4 << 20, kNearArgRowBytes = 8192;
constexpr int kNearArgTileRecords = 64;

/// Indices of short rows of 64 bits, which no places are packed beside, are those of columns, whose elements are copied
/// together.
constexpr std::int64_t kMostAcross = 10, kLeastAcross = 8;

/// Extent of the innermost reduced level, whose rows are swept side by side.
std::int64_t inner_rows(const KernelSpec& spec) {
  const int level = kernel::innermost(spec, true);
  return level < 0 ? 1 : kernel::level(spec, level).extent;
}

/// Bytes of each row that a tile has: chained sums.
std::int64_t chained_tile(std::int64_t row_bytes, bool near, const target::Target& target) {
  if (!near) return kPartRowBytes;
  if (machine_of(target).columns.long_parts && row_bytes > kPairRowBytes) return kLongTileBytes;
  return row_bytes <= kPairRowBytes ? kPairRowBytes : kTileRowBytes;
}

/// Adjacent rows of f64 that a sweep adds, in their order: of short ones a sweep of one is as good.
int rows_of_doubles(std::int64_t row_bytes) { return row_bytes >= kLeastWideRow ? 8 : 1; }

/// Whether a tile has a page of each row, and asks for the next rows' beyond what the machine sees coming.
bool takes_pages(const KernelSpec& spec, std::int64_t row_bytes, const target::Target& target) {
  if (!machine_of(target).columns.pages_of_long_rows || row_bytes <= kPartRowBytes) return false;
  if (inner_rows(spec) <= kFewRows) return true;
  return row_bytes > kWholeRowBytes && (target.isa == target::Isa::avx2 || byte_size(spec.inputs[0].dtype) <= 2);
}

/// The tile of whole rows in L3 and beyond (Machine::Columns), which come in the order of memory; false where rows have
/// the same tiles there as on other machines.
bool choose_whole_rows(const KernelSpec& spec, std::int64_t row_bytes, const target::Target& target,
                       Schedule& schedule) {
  const std::int64_t element = byte_size(spec.inputs[0].dtype), bytes = kernel::bytes_read(spec);
  const bool wide = target.isa != target::Isa::avx2;
  if (bytes <= target.l2_bytes || row_bytes <= kShortRowBytes) return false;
  if (bytes <= target.last_cache_bytes()) {
    if (row_bytes > kLongTileBytes) return false;
    schedule.columns = kLongTileBytes / element;
    schedule.rows_at_once = wide && element != 4 ? 8 : 4;
    return true;
  }
  const bool is_long = row_bytes > kWholeRowBytes;
  if (element == 2 ? is_long : !wide && !(is_long && element == 4)) return false;
  schedule.columns = kWholeRowBytes / element;
  schedule.rows_at_once = is_long && element == 4 && !(wide && row_bytes % kAliasBytes == 0) ? 8 : 4;
  return true;
}

/// Whether columns have gaps between them, and lie in more than L2 with these.
bool spans_more_than_l2(const KernelSpec& spec, int vector_level, const target::Target& target) {
  const std::int64_t gap = spec.inputs[0].strides[static_cast<std::size_t>(vector_level)];
  return gap > 1 && kernel::bytes_read(spec) > target.l2_bytes / gap;
}

/// Tiles of states whose order is free, how many rows they take at once, and whether they ask for the next ones.
void choose_exact_tile(const KernelSpec& spec, Lanes lanes, std::int64_t row_bytes, bool near,
                       const target::Target& target, Schedule& schedule) {
  const Machine::Columns& machine = machine_of(target).columns;
  const std::int64_t bytes = kernel::bytes_read(spec);
  const bool in_cache = bytes <= target.last_cache_bytes();
  const bool stays = in_cache && !machine_of(target).fills_cache.reached_by(bytes, target);
  const bool in_l2 = bytes <= target.l2_bytes && (target.l1_bytes >= kL1OfEightRows || machine.eight_rows_in_l2);
  const std::int64_t element = byte_size(spec.inputs[0].dtype);
  const bool many = inner_rows(spec) >= kRowsOfEight && schedule.width == 0;
  if (machine.gapped_rows_alone && spans_more_than_l2(spec, schedule.vector_level, target) && schedule.width == 0) {
    schedule.columns = kLongTileBytes / element;
    schedule.rows_at_once = 1;
    return;
  }
  const bool whole_rows = machine.whole_rows_in_l3 && many && lanes == Lanes::order;
  if (whole_rows && choose_whole_rows(spec, row_bytes, target, schedule)) return;
  const bool pairs = row_bytes > kTileRowBytes || (lanes == Lanes::integer && row_bytes >= kPairIntegerRow);
  const auto tile = [&](std::int64_t part, int rows) {
    schedule.columns = part / element;
    schedule.rows_at_once = rows;
  };
  if (many && in_l2 && machine.eight_rows_in_l2 && row_bytes > kShortRowBytes) {
    tile(row_bytes > kTileRowBytes ? kPairRowBytes : kTileRowBytes, lanes == Lanes::integer && element == 8 ? 4 : 8);
  } else if (many && (row_bytes <= kShortRowBytes || in_l2)) {
    tile(kTileRowBytes, 8);
  } else if (element == 1 && row_bytes >= kPairByteRow) {
    tile(kByteTile, machine.rows_of_bytes);
  } else if (row_bytes > kPairRowBytes && near) {
    tile(machine.long_parts ? kLongTileBytes : kPairRowBytes, many ? 8 : 4);
  } else if (many && row_bytes > kPairRowBytes && takes_pages(spec, row_bytes, target)) {
    tile(kTileRowBytes, 8);
    schedule.ahead = true;
  } else if (row_bytes > kPairRowBytes) {
    tile(row_bytes <= kWholeRowBytes ? kWholeRowBytes : kPartRowBytes, many ? 8 : 4);
    schedule.ahead = !many;
  } else if (many && !stays) {
    tile(kPairRowBytes, 8);
  } else if (pairs) {
    tile(kPairRowBytes, machine.eight_whole_rows && (lanes == Lanes::order || element == 8) && many ? 8 : 2);
  } else {
    tile(kTileRowBytes, 4);
  }
  if (lanes == Lanes::order && schedule.rows_at_once == 8 && row_bytes <= kWholeRowBytes && !in_cache &&
      machine.pages_of_long_rows && (target.isa == target::Isa::avx2 || element >= 4))
    schedule.ahead = true;
}

/// Few rows are seen coming without being asked for as far as so many times L2.
constexpr std::int64_t kSeenPart = 2;

/// Whether rows in registers ask for what comes next (Machine::Columns), where the machine's own prefetching loses
/// sight of many long rows, and of those whose lines meet in the same sets of L1. Where lines do not meet, the wider
/// elements of AVX-512 gain beyond L2 alone; indices, whose outputs are a stream as well, gain as soon as there are
/// three rows.
bool direct_asks_ahead(const KernelSpec& spec, Lanes lanes, std::int64_t row_bytes, const target::Target& target) {
  const std::int64_t bytes = kernel::bytes_read(spec);
  if (gives_index(lanes) && kernel::reduced_count(spec) <= 2 && bytes <= target.l2_bytes) return false;
  const bool seen = target.isa != target::Isa::avx2 && byte_size(spec.inputs[0].dtype) > 2 &&
                    row_bytes % kAliasBytes != 0 && bytes <= kSeenPart * target.l2_bytes;
  return machine_of(target).columns.direct_rows_ask && row_bytes >= kPairRowBytes &&
         bytes <= target.last_cache_bytes() && !seen;
}

/// How far ahead of itself a row is asked for, of long ones and of blocks of short ones.
constexpr int kLongRowAhead = 384, kShortRowAhead = 2048;
/// Whether the short rows of small blocks are asked for, which columns do not read in the order of memory: sums of
/// shorter rows than others, and none of a few bytes.
constexpr std::int64_t kMostBlockBytes = 4096, kLeastBlockRow = 16, kMostSummedRow = 256;

bool blocks_ask_ahead(const KernelSpec& spec, Lanes lanes, std::int64_t row_bytes, const target::Target& target) {
  const bool short_rows = row_bytes < kMostSummedRow || lanes != Lanes::chained_f32;
  return machine_of(target).fills_cache.reached_by(kernel::bytes_read(spec), target) && short_rows &&
         row_bytes >= kLeastBlockRow && row_bytes * kernel::reduced_count(spec) <= kMostBlockBytes;
}

/// Tiles of indices that go by how far away rows are, and whether they ask for the next rows. Of what is near,
/// prefetches only take time; of what is farther away they gain more, but for long rows.
void choose_places_by_distance(const KernelSpec& spec, std::int64_t row_bytes, const target::Target& target,
                               Schedule& schedule) {
  const std::int64_t element = byte_size(spec.inputs[0].dtype), bytes = kernel::bytes_read(spec);
  const std::int64_t cache = target.last_cache_bytes();
  const bool near = bytes <= cache / kNearPart, far = bytes > cache;
  // Whole rows, one behind the other, of which AVX2 takes no more than the machine's own prefetching brings.
  const bool seen_coming = target.isa == target::Isa::avx2 && row_bytes <= kTileRowBytes && bytes <= cache / kCachePart;
  if (far && row_bytes > kLongTileBytes) {
    schedule.columns = kWholeRowBytes / element;
  } else {
    schedule.ahead = !near && !seen_coming;
    schedule.columns = ((near && row_bytes > kTileRowBytes) || far ? kPairRowBytes : kTileRowBytes) / element;
  }
}

/// Tiles of indices, and whether they ask for the next rows.
void choose_places_tile(const KernelSpec& spec, Lanes lanes, std::int64_t row_bytes, std::int64_t step,
                        const target::Target& target, Schedule& schedule) {
  const std::int64_t bytes = kernel::bytes_read(spec);
  const Machine::Columns& machine = machine_of(target).columns;
  const bool near = machine.near_places && row_bytes >= kLeastNearRow && bytes <= target.last_cache_bytes() / kNearPart;
  if ((machine.places_by_distance || near) && lanes == Lanes::arg)
    return choose_places_by_distance(spec, row_bytes, target, schedule);
  if (machine.pages_of_keys && bytes <= target.last_cache_bytes() / kCachePart) {
    schedule.columns = kTileRowBytes / byte_size(spec.inputs[0].dtype);
    return;
  }
  schedule.ahead = lanes == Lanes::keys || row_bytes <= kNearArgRowBytes || bytes > kNearArgBytes;
  schedule.columns = (schedule.ahead ? kArgTileRecords : kNearArgTileRecords) * step;
}

/// Whether columns that are no whole vector step may be taken as one.
bool may_end_unmasked(const KernelSpec& spec, Lanes lanes, const Schedule& schedule) {
  const auto level = static_cast<std::size_t>(schedule.vector_level);
  const auto contiguous = [level](const kernel::Operand& operand) { return operand.strides[level] == 1; };
  const bool by_masks =
      schedule.isa != target::Isa::avx2 &&
      (lanes == Lanes::integer || (lanes == Lanes::chained_f32 && spec.inputs[0].dtype == DType::f32));
  return schedule.nest == Nest::columns && schedule.tile.level != schedule.vector_level && !by_masks &&
         contiguous(spec.inputs[0]) && std::all_of(spec.outputs.begin(), spec.outputs.end(), contiguous);
}

}  // namespace

bool takes_lanes_across(const KernelSpec& spec, int vector_level) {
  if (!has_arg_reduction(spec) || byte_size(spec.inputs[0].dtype) != 8 || spec.levels.size() < 2) return false;
  const std::size_t last = spec.levels.size() - 1;
  const kernel::Level& rows = spec.levels[last - 1];
  return vector_level == static_cast<int>(last) && spec.levels[last].reduced && !rows.reduced &&
         rows.extent >= kLeastAcross && spec.levels[last].extent <= kMostAcross;
}

void choose_columns(const KernelSpec& spec, Lanes lanes, const target::Target& target, Schedule& schedule) {
  const int reduced_levels = kernel::reduced_levels(spec);
  const std::int64_t step = lanes_per_step(lanes, spec.inputs[0].dtype);
  const std::int64_t element = byte_size(spec.inputs[0].dtype);
  const std::int64_t row_bytes = element * kernel::level(spec, schedule.vector_level).extent;
  const std::int64_t reduced = kernel::reduced_count(spec);
  // So many rows in registers, a multiple of a page apart, drive out what is prefetched of one another; eight at a time
  // fit a set.
  const bool meets = is_exact(lanes) && reduced >= kRowsOfEight && row_bytes % kAliasBytes == 0;
  const bool direct = reduced_levels <= 1 && reduced <= kChain && !meets;
  schedule.columns = 0;
  if (direct) {
    schedule.ahead =
        blocks_ask_ahead(spec, lanes, row_bytes, target) || direct_asks_ahead(spec, lanes, row_bytes, target);
    return;
  }
  const bool near = kernel::bytes_read(spec) <= target.last_cache_bytes() / kCachePart;
  Narrow narrow = narrow_columns(spec, lanes, schedule.vector_level);
  // Groups of rows of indices lose to row by row, which asks for rows ahead, where the last cache hardly holds the
  // tensor.
  if (lanes == Lanes::arg && narrow.columns > step && !near) narrow = {};
  schedule.width = narrow.width;
  schedule.rows_at_once = lanes == Lanes::wide_f64 ? rows_of_doubles(row_bytes) : kChainedStreams;
  if (narrow.columns > 0) {
    schedule.columns = narrow.columns;
    return;
  }
  switch (lanes) {
    case Lanes::wide_f64: schedule.columns = kTileRecords * step; return;
    case Lanes::arg:
    case Lanes::keys: choose_places_tile(spec, lanes, row_bytes, step, target, schedule); return;
    case Lanes::chained_f32: {
      const bool strips =
          reduced_levels == 1 && kernel::reduced_count(spec) <= kStripRows && row_bytes % kAliasBytes != 0;
      schedule.columns = strips ? kStripTileSteps * step : chained_tile(row_bytes, near, target) / element;
      return;
    }
    case Lanes::order:
    case Lanes::integer: choose_exact_tile(spec, lanes, row_bytes, near, target, schedule); return;
  }
}

int direct_ahead_bytes(const KernelSpec& spec, int vector_level) {
  const std::int64_t row_bytes = byte_size(spec.inputs[0].dtype) * kernel::level(spec, vector_level).extent;
  return row_bytes >= kPairRowBytes ? kLongRowAhead : kShortRowAhead;
}

bool ends_whole(const KernelSpec& spec, Lanes lanes, const Schedule& schedule) {
  const auto level = static_cast<std::size_t>(schedule.vector_level);
  return may_end_unmasked(spec, lanes, schedule) && schedule.width == 0 &&
         spec.levels[level].extent >= lanes_per_step(lanes, spec.inputs[0].dtype);
}

bool runs_over(const KernelSpec& spec, Lanes lanes, const Schedule& schedule) {
  if (!may_end_unmasked(spec, lanes, schedule) || ends_whole(spec, lanes, schedule)) return false;
  if (schedule.vector_level + 1 != static_cast<int>(spec.levels.size())) return false;
  int blocks = schedule.vector_level - 1;
  while (blocks >= 0 && kernel::level(spec, blocks).reduced) --blocks;
  const std::int64_t width = spec.levels.back().extent;
  if (blocks < 0 || width % lanes_per_step(lanes, spec.inputs[0].dtype) == 0) return false;
  std::int64_t block = 1;
  for (std::size_t level = spec.levels.size() - 1; level > static_cast<std::size_t>(blocks); --level) {
    if (spec.inputs[0].strides[level] != block) return false;
    block *= spec.levels[level].extent;
  }
  const auto level = static_cast<std::size_t>(blocks);
  return spec.inputs[0].strides[level] == block &&
         std::all_of(spec.outputs.begin(), spec.outputs.end(),
                     [&](const kernel::Operand& output) { return output.strides[level] == width; });
}

target::Isa isa_of_columns(const KernelSpec& spec, Lanes lanes, const Schedule& schedule, target::Isa isa) {
  const bool has_records = schedule.width > 0 || schedule.columns > 0;
  return lanes == Lanes::chained_f32 && has_records && byte_size(spec.inputs[0].dtype) == 2 ? target::Isa::avx2 : isa;
}

}  // namespace tenfold::schedule
