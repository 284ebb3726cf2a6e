// SPDX-License-Identifier: Apache-2.0
//
// Where the numbers come from: docs/measurements.md.
#include "schedule/columns.hpp"

#include <optional>

#include "schedule/arg_body.hpp"
#include "schedule/levels.hpp"
#include "schedule/machine.hpp"
#include "schedule/narrow.hpp"
#include "schedule/next_block.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Part of a row that a tile of long rows has, so that four of them and their records stay in L1, while the last cache
/// holds the tensor.
constexpr std::int64_t kTileRowBytes = 4096;
/// Tiles are strips for up to so many rows, which then are that many streams, unless these meet in the same sets of L1.
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
/// Rows between these ask ahead there all the same (Machine::Columns::near_pages), beyond L2 twice as long ones.
constexpr std::int64_t kShortestAskingRow = 64, kLeastUnaskedRow = 2048;
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

/// How rows are read: columns of a tile, rows of a sweep of it, and whether it asks for the next ones.
struct Tile {
  std::int64_t columns;
  int rows = kChainedStreams;
  bool ahead = false;
};

/// What the choice goes by.
struct ColumnsCase {
  const KernelSpec& spec;
  const target::Target& target;
  const Machine& machine;
  Lanes lanes;
  bool avx2;
  std::int64_t element;     ///< bytes of one
  std::int64_t step;        ///< elements of a vector step
  std::int64_t gap;         ///< from a column to the next, in elements
  std::int64_t row_bytes;   ///< of all columns of a row
  std::int64_t rows;        ///< that are reduced
  std::int64_t inner_rows;  ///< of the innermost reduced level, which are swept side by side
  int reduced_levels;
  std::int64_t bytes;  ///< that are read
  std::int64_t cache;  ///< of the last cache

  /// The last cache holds the tensor with room to spare.
  bool near() const { return bytes <= cache / kCachePart; }
  /// A tile that has `part` bytes of each row.
  Tile tile(std::int64_t part, int at_once = kChainedStreams, bool ahead = false) const {
    return {part / element, at_once, ahead};
  }
};

ColumnsCase case_of(const KernelSpec& spec, Lanes lanes, const target::Target& target, int vector_level) {
  const kernel::Operand& input = spec.inputs[0];
  const std::int64_t element = byte_size(input.dtype);
  const int inner = kernel::innermost(spec, true);
  return {.spec = spec,
          .target = target,
          .machine = machine_of(target),
          .lanes = lanes,
          .avx2 = target.isa == target::Isa::avx2,
          .element = element,
          .step = lanes_per_step(lanes, input.dtype),
          .gap = input.strides[static_cast<std::size_t>(vector_level)],
          .row_bytes = element * kernel::level(spec, vector_level).extent,
          .rows = kernel::reduced_count(spec),
          .inner_rows = inner < 0 ? 1 : kernel::level(spec, inner).extent,
          .reduced_levels = kernel::reduced_levels(spec),
          .bytes = kernel::bytes_read(spec),
          .cache = target.last_cache_bytes()};
}

/// What the last cache hardly holds comes in the longest runs (Machine::Columns), where rows are longer than a tile's.
bool has_long_tile(const ColumnsCase& of) {
  return of.machine.columns.long_far_tiles && !of.near() && of.row_bytes > kPartRowBytes;
}

bool takes_strips(const ColumnsCase& of) {
  if (of.machine.columns.long_far_tiles && of.bytes > of.cache) return false;
  return of.reduced_levels == 1 && of.rows <= kStripRows && of.row_bytes % kAliasBytes != 0;
}

/// Tiles of chained sums.
Tile chained_tile(const ColumnsCase& of) {
  if (takes_strips(of)) return {kStripSteps * of.step};
  if (has_long_tile(of)) return {kMostColumns};
  if (!of.near()) return of.tile(kPartRowBytes);
  if (of.machine.columns.long_parts && of.row_bytes > kPairRowBytes) return of.tile(kLongTileBytes);
  return of.tile(of.row_bytes <= kPairRowBytes ? kPairRowBytes : kTileRowBytes);
}

/// Rows of a sweep whose order is not free. Adjacent rows of f64 are added in their order: of short ones a
/// sweep of one is as good.
int rows_in_order(const ColumnsCase& of) {
  return of.lanes != Lanes::wide_f64 ? kChainedStreams : of.row_bytes >= kLeastWideRow ? 8 : 1;
}

/// Whether a tile has a page of each row, and asks for the next rows' beyond what the machine sees coming.
bool takes_pages(const ColumnsCase& of) {
  if (!of.machine.columns.pages_of_long_rows || of.row_bytes <= kPartRowBytes) return false;
  return of.inner_rows <= kFewRows || (of.row_bytes > kWholeRowBytes && (of.avx2 || of.element <= 2));
}

/// The tile of whole rows in L3 and beyond (Machine::Columns), which come in the order of memory; none where rows have
/// the same tiles there as on other machines.
std::optional<Tile> whole_rows_tile(const ColumnsCase& of) {
  if (of.bytes <= of.target.l2_bytes || of.row_bytes <= kShortRowBytes) return {};
  if (of.bytes <= of.cache) {
    if (!of.machine.columns.whole_rows_in_l3 || of.row_bytes > kLongTileBytes) return {};
    return of.tile(kLongTileBytes, !of.avx2 && of.element != 4 ? 8 : 4);
  }
  if (!of.machine.columns.whole_rows_in_l3 && of.element == 2 && of.row_bytes > kPairRowBytes) return {};
  const bool is_long = of.row_bytes > kWholeRowBytes, long_words = is_long && of.element == 4;
  if (of.element == 2 ? is_long : of.avx2 && !long_words) return {};
  return of.tile(kWholeRowBytes, long_words && (of.avx2 || of.row_bytes % kAliasBytes != 0) ? 8 : 4);
}

/// Whether columns have gaps between them, and lie in more than L2 with these.
bool spans_more_than_l2(const ColumnsCase& of) { return of.gap > 1 && of.bytes > of.target.l2_bytes / of.gap; }

/// Tiles of states whose order is free; `many`: eight rows at a time leave few over.
Tile exact_tile(const ColumnsCase& of, bool many) {
  const Machine::Columns& machine = of.machine.columns;
  const bool integers = of.lanes == Lanes::integer;
  const bool stays = of.bytes <= of.cache && !of.machine.fills_cache.reached_by(of.bytes, of.target);
  const bool in_l2 =
      of.bytes <= of.target.l2_bytes && (of.target.l1_bytes >= kL1OfEightRows || machine.eight_rows_in_l2);
  if (many && in_l2 && machine.eight_rows_in_l2 && of.row_bytes > kShortRowBytes)
    return of.tile(of.row_bytes > kTileRowBytes ? kPairRowBytes : kTileRowBytes, integers && of.element == 8 ? 4 : 8);
  if (many && (of.row_bytes <= kShortRowBytes || in_l2)) return of.tile(kTileRowBytes, 8);
  if (of.element == 1 && of.row_bytes >= kPairByteRow)
    return of.tile(kByteTile, of.row_bytes >= kByteTile ? machine.long_rows_of_bytes : machine.rows_of_bytes);
  if (of.row_bytes > kPairRowBytes) {
    if (of.near()) return of.tile(machine.long_parts ? kLongTileBytes : kPairRowBytes, many ? 8 : 4);
    if (many && takes_pages(of)) return of.tile(kTileRowBytes, 8, true);
    return of.tile(of.row_bytes <= kWholeRowBytes ? kWholeRowBytes : kPartRowBytes, many ? 8 : 4, !many);
  }
  if (many && !stays) return of.tile(kPairRowBytes, 8);
  if (of.row_bytes > kTileRowBytes || (integers && of.row_bytes >= kPairIntegerRow))
    return of.tile(kPairRowBytes, machine.eight_whole_rows && (!integers || of.element == 8) && many ? 8 : 2);
  return of.tile(kTileRowBytes, 4);
}

/// The same, but for columns with gaps, and for rows that are whole or ask for the next ones.
Tile exact_tile_of_rows(const ColumnsCase& of, bool narrow) {
  const Machine::Columns& machine = of.machine.columns;
  const bool many = of.inner_rows >= kRowsOfEight && !narrow, order = of.lanes == Lanes::order;
  if (machine.gapped_rows_alone && spans_more_than_l2(of) && !narrow) return of.tile(kLongTileBytes, 1);
  if (has_long_tile(of) && of.row_bytes > (of.element == 1 ? kByteTile : kWholeRowBytes))
    return {kMostColumns, of.element == 1 ? machine.long_rows_of_bytes : many ? 8 : 4, !many};
  if ((machine.whole_rows_in_l3 || machine.whole_rows_of_memory) && many && order)
    if (const std::optional<Tile> whole = whole_rows_tile(of)) return *whole;
  Tile tile = exact_tile(of, many);
  if (order && tile.rows == 8 && of.row_bytes <= kWholeRowBytes && of.bytes > of.cache && machine.pages_of_long_rows &&
      (of.avx2 || of.element >= 4))
    tile.ahead = true;
  return tile;
}

/// Few rows are seen coming without being asked for as far as so many times L2.
constexpr std::int64_t kSeenPart = 2;

/// Whether rows in registers ask for what comes next (Machine::Columns), where the machine's own prefetching loses
/// sight of many long rows, and of those whose lines meet in the same sets of L1. Where lines do not meet, the wider
/// elements of AVX-512 gain beyond L2 alone; indices, whose outputs are a stream as well, gain as soon as there are
/// three rows. What memory delivers has a rule of its own.
bool direct_asks_ahead(const ColumnsCase& of) {
  const Machine::Columns& machine = of.machine.columns;
  if (of.row_bytes < kPairRowBytes) return false;
  if (of.bytes > of.cache) {
    const int least = machine.direct_rows_of_memory_ask;
    return least > 0 && of.avx2 && of.element >= least;
  }
  if (gives_index(of.lanes) && of.rows <= 2 && of.bytes <= of.target.l2_bytes) return false;
  const bool seen =
      !of.avx2 && of.element > 2 && of.row_bytes % kAliasBytes != 0 && of.bytes <= kSeenPart * of.target.l2_bytes;
  return machine.direct_rows_ask && !seen;
}

/// How far ahead of itself a row is asked for, of long ones and of blocks of short ones.
constexpr int kLongRowAhead = 384, kShortRowAhead = 2048;
/// Whether the short rows of small blocks are asked for, which columns do not read in the order of memory: sums of
/// shorter rows than others, and none of a few bytes.
constexpr std::int64_t kMostBlockBytes = 4096, kLeastBlockRow = 16, kMostSummedRow = 256;

bool blocks_ask_ahead(const ColumnsCase& of) {
  const bool short_rows = of.row_bytes < kMostSummedRow || of.lanes != Lanes::chained_f32;
  return of.machine.fills_cache.reached_by(of.bytes, of.target) && short_rows && of.row_bytes >= kLeastBlockRow &&
         of.row_bytes * of.rows <= kMostBlockBytes;
}

/// Tiles of indices that go by how far away rows are, and whether they ask for the next rows. Of what is near,
/// prefetches only take time; of what is farther away they gain more, but for long rows.
Tile places_tile_by_distance(const ColumnsCase& of) {
  const bool near = of.bytes <= of.cache / kNearPart, far = of.bytes > of.cache;
  if (far && of.row_bytes > kLongTileBytes) return of.tile(kWholeRowBytes);
  // Whole rows, one behind the other, of which AVX2 takes no more than the machine's own prefetching brings.
  const bool seen_coming = of.avx2 && of.row_bytes <= kTileRowBytes && of.near();
  return of.tile((near && of.row_bytes > kTileRowBytes) || far ? kPairRowBytes : kTileRowBytes, kChainedStreams,
                 !near && !seen_coming);
}

/// Tiles of indices, and whether they ask for the next rows.
Tile places_tile(const ColumnsCase& of) {
  const Machine::Columns& machine = of.machine.columns;
  const bool near = machine.near_places && of.row_bytes >= kLeastNearRow && of.bytes <= of.cache / kNearPart;
  if ((machine.places_by_distance || near) && of.lanes == Lanes::arg) return places_tile_by_distance(of);
  if (machine.pages_of_keys && of.near()) return of.tile(kTileRowBytes);
  const std::int64_t least = (of.bytes <= of.target.l2_bytes ? 1 : 2) * kLeastUnaskedRow;
  const bool short_rows = of.row_bytes > kShortestAskingRow && of.row_bytes < least;
  if (machine.near_pages && of.bytes <= of.cache / kNearPart && !short_rows) return of.tile(kTileRowBytes);
  const bool far = of.lanes == Lanes::keys || of.row_bytes <= kNearArgRowBytes || of.bytes > kNearArgBytes;
  const bool in_l3 = of.bytes > of.target.l2_bytes && of.bytes <= of.cache;
  const bool seen_coming = machine.places_unasked_in_l3 && in_l3 && of.lanes == Lanes::arg &&
                           (!of.avx2 || is_floating(of.spec.inputs[0].dtype));
  const bool in_l2 = machine.keys_unasked_in_l2 && of.lanes == Lanes::keys && of.bytes <= of.target.l2_bytes;
  return {(far ? kArgTileRecords : kNearArgTileRecords) * of.step, kChainedStreams, far && !seen_coming && !in_l2};
}

/// Whether the columns of indices are so few that records, which are begun and ended for each block of rows, take
/// longer than to go down the rows once for each vector step.
bool is_short_block(const ColumnsCase& of) {
  return gives_index(of.lanes) && of.gap == 1 && of.row_bytes <= 2 * of.step * of.element;
}

/// Whether columns have no tile, but a row of accumulators in registers.
bool is_direct(const ColumnsCase& of) {
  // So many rows in registers, a multiple of a page apart, drive out what is prefetched of one another; eight at a time
  // fit a set. Indices, which sweep four at a time, are known to gain by it where a set has eight ways.
  const bool sweeps = is_exact(of.lanes) || (gives_index(of.lanes) && of.target.l1_bytes < kL1OfEightRows);
  const bool meets = sweeps && of.rows >= kRowsOfEight && of.row_bytes % kAliasBytes == 0;
  const std::int64_t most = is_short_block(of) ? most_rows_in_registers(of.lanes) : kChain;
  return of.reduced_levels <= 1 && of.rows <= most && !meets;
}

Tile tile_of(const ColumnsCase& of, bool narrow) {
  switch (of.lanes) {
    case Lanes::wide_f64: return {has_long_tile(of) ? kMostColumns : kTileRecords * of.step, rows_in_order(of)};
    case Lanes::arg:
    case Lanes::keys: return places_tile(of);
    case Lanes::chained_f32: return chained_tile(of);
    case Lanes::order:
    case Lanes::integer: break;
  }
  return exact_tile_of_rows(of, narrow);
}

/// So many rows gain more than the search costs, of elements of 8 and 16 bits twice as many; so many times as many
/// where L2 has no more than the columns that have just been read, or not even these.
constexpr std::int64_t kRowsWorthSearching = 512, kPassingRows = 4, kFarRows = 16;

/// Whether those of groups of narrow columns may be remembered: but for what AVX-512 reads from behind L2 as fast step
/// by step.
bool may_search_groups(const ColumnsCase& of) {
  return of.avx2 || of.lanes == Lanes::keys || of.bytes <= of.target.l2_bytes;
}

/// Whether the sweeps of tiles are remembered instead of rows. Narrow columns have a rule of their own.
bool searches_tiles(const ColumnsCase& of) {
  if (!remembers_sweeps(of.spec, of.lanes) || of.gap != 1 || of.reduced_levels != 1) return false;
  const std::int64_t worth = (of.lanes == Lanes::keys ? 2 : 1) * kRowsWorthSearching, l2 = of.target.l2_bytes;
  return of.rows >= worth * (of.bytes <= l2 ? 1 : of.rows * of.row_bytes <= l2 / 2 ? kPassingRows : kFarRows);
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
  const ColumnsCase of = case_of(spec, lanes, target, schedule.vector_level);
  if (is_direct(of)) {
    choose_blocks(spec, lanes, target, schedule);
    schedule.ahead = !schedule.blocks && (blocks_ask_ahead(of) || direct_asks_ahead(of));
    return;
  }
  Narrow narrow = narrow_columns(spec, lanes, schedule.vector_level, may_search_groups(of));
  // Groups of rows of indices lose to row by row, which asks for rows ahead, where the last cache hardly holds the
  // tensor.
  if (lanes == Lanes::arg && narrow.columns > of.step && !of.near()) narrow = {};
  schedule.searches = narrow.columns > 0 ? narrow.searches : searches_tiles(of);
  Tile tile = narrow.columns > 0 ? Tile{narrow.columns, rows_in_order(of)} : tile_of(of, narrow.width > 0);
  if (schedule.searches) tile = {tile.columns, kSearchedRows, tile.ahead && of.bytes > of.target.l2_bytes};
  schedule.width = narrow.width;
  schedule.columns = tile.columns;
  schedule.rows_at_once = tile.rows;
  choose_blocks(spec, lanes, target, schedule);
  schedule.ahead = tile.ahead && !schedule.blocks;
  if (of.machine.columns.gapped_rows_alone && lanes == Lanes::chained_f32 && of.gap != 1) schedule.turns = 1;
}

int direct_ahead_bytes(const KernelSpec& spec, int vector_level) {
  const std::int64_t row_bytes = byte_size(spec.inputs[0].dtype) * kernel::level(spec, vector_level).extent;
  return row_bytes >= kPairRowBytes ? kLongRowAhead : kShortRowAhead;
}

target::Isa isa_of_columns(const KernelSpec& spec, Lanes lanes, const Schedule& schedule, target::Isa isa) {
  const bool has_records = schedule.width > 0 || schedule.columns > 0;
  return lanes == Lanes::chained_f32 && has_records && byte_size(spec.inputs[0].dtype) == 2 ? target::Isa::avx2 : isa;
}

}  // namespace tenfold::schedule
