// SPDX-License-Identifier: Apache-2.0
//
// Every number here says where it comes from: least times on AVX2, of sums and maxima over axis 0.
#include "schedule/columns.hpp"

#include <algorithm>

#include "schedule/narrow.hpp"
#include "schedule/streams.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Part of a row that a tile of long rows has, so that four of them and their records stay in L1, while the last cache
/// holds the tensor: ReduceSum f32 [256, 4096] takes 72 us, in whole rows 79; [64, 16384] 86 and 97. Prefetches cost
/// a tenth.
constexpr std::int64_t kTileRowBytes = 4096;
/// Tiles of so many vector steps are strips, whose chains run in registers: for up to so many rows, which then are that
/// many streams, unless these meet in the same sets of L1. ReduceSum f32 [17, 61680] takes 71 us instead of 89,
/// [31, 33825] 77 instead of 91; [24, 32768] would take 70 instead of 61, [48, 20000] 74 instead of 65.
constexpr int kStripTileSteps = 4;
constexpr std::int64_t kStripRows = 32, kAliasBytes = 4096;
/// Rows of up to this much are whole: ReduceSum f32 [1000, 1048] takes 67 us, in tiles of 4 KiB 81. Where the order is
/// free they are read two at a time: ReduceMax s64 [2048, 1024] reaches 0.97 of the roof, with four half rows 0.8.
constexpr std::int64_t kPairRowBytes = 8192;
/// Integers from this row length on likewise, as what they do with a line is short enough for two streams: ReduceMax
/// s32 [4096, 1024] reaches 0.98 of the roof, s16 0.92; four at a time 0.91 and 0.85. Floats gain nothing.
constexpr std::int64_t kPairIntegerRow = 1024;
/// Rows of elements of one byte from this length on are read two at a time, in the longest tiles: ReduceMax s8
/// [4096, 1024] takes 57 us instead of 72, [1024, 16384] 230 instead of 350. Of shorter ones four are better: of
/// [100000, 64] 122 us instead of 209.
constexpr std::int64_t kPairByteRow = 256;
constexpr std::int64_t kByteTile = 16384;
/// What fills more than this part of the last cache comes in longer runs. Then rows are whole and read eight at a time,
/// up to so many bytes, as one sweep reads eight times what its records have: ReduceMax s64 [1024, 4096] takes 1.07 ms,
/// four at a time 1.11, in tiles of 4 KiB and four 1.77.
constexpr std::int64_t kCachePart = 2;
constexpr std::int64_t kWholeRowBytes = 65536;
/// Of rows that are longer still, tiles of half as much: ReduceMax f32 [256, 65536] takes 2.65 ms, in tiles of 8 KiB
/// 2.83, four rows at a time 3.15. Sums have tiles of no more: ReduceSum f32 [4096, 4096] takes 2.4 ms, in tiles of
/// 4 KiB 3.4, those with prefetches 2.6.
constexpr std::int64_t kPartRowBytes = 32768;
/// On a Xeon, tiles of a page of each row instead, and requests for the next sweep's, which machine prefetching sees
/// too late: ReduceMax f32 [100, 960, 1280] takes 30.2 and 30.4 ms so with AVX2 and AVX-512 instead of 34.0 and 31.7,
/// [32, 64, 10000] over axis 1 3.0 and 3.0 instead of 3.3 and 3.3, bf16 [100, 1228800] 14.1 and 13.2 instead of 16.4
/// and 14.5. Of more rows than these the longest only, with AVX-512 of 16 bits: f32 [4, 512, 10000] would take 3.2
/// instead of 2.9, [2048, 32768] 15.1 and 16.2 instead of 17.2 and 15.5.
constexpr std::int64_t kFewRows = 128;
/// Eight rows at once need so many for the ones left over, which are read fewer at a time, not to matter: ReduceMax f32
/// [23, 45000] takes 85 us, four at a time 86; of 15 rows of 65536 it takes 124 and 106. What the last cache does not
/// hold is read so whatever its rows' length: f32 [65536, 1024] takes 11.3 ms, four at a time 11.6; s64 [32768, 1024]
/// 11.4, in pairs 13.4.
/// On a Xeon they ask for the next ones: f32 [65536, 1024] takes 16.9 ms so instead of 19.1, with AVX-512 16.6 instead
/// of 18.1, [8192, 8192] 18.4 and 18.0 instead of 19.4 and 18.2, bf16 [65536, 1024] 6.1 instead of 7.2; but with
/// AVX-512 7.8 instead of 7.1.
constexpr std::int64_t kRowsOfEight = 16;
/// In L2 as well where L1 has 12 ways, which keep eight rows pages apart and their records: ReduceMax [256, 1024] on a
/// Xeon, AVX2 and AVX-512, f32 9.7 us instead of 11.1 and 10.9, s32 7.2 and 6.5 instead of 9.7 and 7.6, s8 1.9 and 1.6
/// instead of 2.5 and 2.0.
///
/// Zen 5 does not say that it has such an L1; rows of more than a page have tiles of two there. Of the time of two or
/// four rows, ReduceMax with AVX2 and AVX-512, f32 [100, 2000] 0.88 and 0.53, [32, 256] 1.0 and 0.72, [20, 64] 0.84 and
/// 0.81, bf16 [256, 1024] 1.0 and 0.57, [100, 3000] 0.85 and 0.56 (in tiles of one page 0.72), s8 [1024, 1024] 0.77 and
/// 0.88, [64, 256] 0.49 and 0.39, s32 [100, 2000] 0.82 and 0.95, f64 [128, 1024] 0.98 and 0.66; but s64 [128, 1024] 0.9
/// and 1.1, four at a time 0.9 and 0.98.
constexpr std::int64_t kL1OfEightRows = 48 << 10;
/// And so are rows of few records, which are loaded and stored half as often then: ReduceMax f32 [8, 32, 32, 32] over
/// axes 0 and 2 takes 18.5 us, four at a time 21.
constexpr std::int64_t kShortRowBytes = 128;
/// Zen 5 reads what is in order fastest, so that L3's rows of up to so much, whose records L1 holds, are whole, and
/// come four at a time, with AVX-512 those of f64 and of 16 bits eight (f64 [1024, 1024] takes 0.85 and 1.03 of the
/// time four at a time, [2048, 1024] 0.93 and 1.02). ReduceMax f32 [1024, 4096] takes 196 and 203 us so with AVX2 and
/// AVX-512 instead of 223 and 279, [1000, 1048] 48 and 48 instead of 48 and 59, bf16 [1024, 4096] 93 instead of 113,
/// [1024, 1024] 22 instead of 27, f64 [1024, 1024] 100 and 89 instead of 112 and 115. Beyond the last cache rows are
/// whole as well: bf16 [65536, 1024] 3.0 ms instead of 3.8, [16384, 4096] 3.0 instead of 4.0, f32 with AVX-512 8.3
/// instead of 8.9, and 8.2 instead of 9.2, [100, 1228800] 15.6 instead of 19.4; but with AVX2 7.7 instead of 7.4, 8.7
/// instead of 7.6, and of bf16 [100, 1228800] 9.0 instead of 8.6. Of f32 rows longer than that, parts of 64 KiB come
/// eight at a time: [35, 255780] takes 0.87 and 0.68 of the time of 32 KiB with AVX2, and of four with AVX-512, [100,
/// 300000] 0.78 and 1.0; where rows meet in the same sets of L1, AVX-512 would take 1.08 ([256, 65536]).
constexpr std::int64_t kFastWholeRow = 16384;
/// Zen 3 reads tiles of as much of longer rows in its L3, sums as well: of the time of one page, or two for extremes,
/// ReduceSum f32 over axis 0 of [1024, 4096] takes 0.9, [256, 4096] 0.9, [64, 65536] 0.92, [16, 64, 64, 64] over axes 0
/// and 1 0.87; ReduceMax [1024, 4096] 0.87, [64, 16384] 0.97, [64, 64, 1024] 0.99, [64, 65536] 1.02. Rows of floats
/// that are whole in two pages come eight at a time, not in pairs: [1000, 1048] 0.83, [256, 2000] 0.67, [2000, 1100]
/// 0.94, bf16 [1000, 3000] 0.93; of s64 as well, [1024, 1024] 1.0 to 0.87, [512, 1024] 1.0 to 0.86; of bytes four: u8
/// [4096, 1024] 0.95, [256, 65536] 0.68. Where its L3 is nearly full, all do: s64 [2048, 1024] 0.65, s32 [4096, 1024]
/// 0.7 to 0.8, [4000, 1000] 1.0, f16 [8192, 1024] 0.85 to 1.0, f32 [4096, 1024] 0.9.
/// What is no more than so small a part of that cache is near for indices; on Zen 3 in rows of so many bytes and more.
constexpr std::int64_t kFastNearPart = 4, kLeastLateRow = 1024;
/// Vector steps of a tile of arg-reductions, which read adjacent rows: the longer the part of a row, the rarer a stream
/// starts anew, and records may then spill into L2. f32 [1024, 4096]: 0.70 of the roof with 64 to 256 records.
constexpr int kArgTileRecords = 256;
/// What lies as near as this begins a stream at little cost. Then L1 keeps four rows of a tile and its records (8 KiB
/// of 24), and prefetches only take time: ArgMax f32 [64, 3136] over axis 0 is 1.14 times as fast, s32 [64, 16384] 1.14
/// to 1.21 times (of Zen 4).
constexpr std::int64_t kNearArgBytes = 4 << 20, kNearArgRowBytes = 8192;
constexpr int kNearArgTileRecords = 64;

/// Extent of the innermost reduced level, whose rows are swept side by side.
std::int64_t inner_rows(const KernelSpec& spec) {
  std::int64_t rows = 1;
  for (const kernel::Level& level : spec.levels)
    if (level.reduced) rows = level.extent;
  return rows;
}

/// Bytes of each row that a tile has: chained sums.
std::int64_t chained_tile(std::int64_t row_bytes, bool near, const target::Target& target) {
  if (!near) return kPartRowBytes;
  if (target.late_l3() && row_bytes > kPairRowBytes) return kFastWholeRow;
  return row_bytes <= kPairRowBytes ? kPairRowBytes : kTileRowBytes;
}

/// Whether a tile has a page of each row, and asks for the next rows' beyond what the machine sees coming.
bool takes_pages(const KernelSpec& spec, std::int64_t row_bytes, const target::Target& target) {
  if (!target.far_l3() || row_bytes <= kPartRowBytes) return false;
  if (inner_rows(spec) <= kFewRows) return true;
  return row_bytes > kWholeRowBytes && (target.isa == target::Isa::avx2 || byte_size(spec.inputs[0].dtype) <= 2);
}

/// The tile of a last cache that is fast, and of what is behind it; false where it has none of its own.
bool choose_fast_tile(const KernelSpec& spec, std::int64_t row_bytes, const target::Target& target,
                      Schedule& schedule) {
  const std::int64_t element = byte_size(spec.inputs[0].dtype), bytes = kernel::bytes_read(spec);
  const bool wide = target.isa != target::Isa::avx2;
  if (bytes <= target.l2_bytes || row_bytes <= kShortRowBytes) return false;
  if (bytes <= target.last_cache_bytes()) {
    if (row_bytes > kFastWholeRow) return false;
    schedule.columns = kFastWholeRow / element;
    schedule.rows_at_once = wide && element != 4 ? 8 : 4;
    return true;
  }
  const bool is_long = row_bytes > kWholeRowBytes;
  if (element == 2 ? is_long : !wide && !(is_long && element == 4)) return false;
  schedule.columns = kWholeRowBytes / element;
  schedule.rows_at_once = is_long && element == 4 && !(wide && row_bytes % kAliasBytes == 0) ? 8 : 4;
  return true;
}

/// Tiles of states whose order is free, how many rows they take at once, and whether they ask for the next ones.
void choose_exact_tile(const KernelSpec& spec, Lanes lanes, std::int64_t row_bytes, bool near,
                       const target::Target& target, Schedule& schedule) {
  const std::int64_t bytes = kernel::bytes_read(spec);
  const bool in_cache = bytes <= target.last_cache_bytes();
  const bool stays = in_cache && !fills_late_cache(spec, target);
  const bool in_l2 = bytes <= target.l2_bytes && (target.l1_bytes >= kL1OfEightRows || target.fast_l3());
  const std::int64_t element = byte_size(spec.inputs[0].dtype);
  const bool many = inner_rows(spec) >= kRowsOfEight && schedule.width == 0;
  if (target.fast_l3() && many && lanes == Lanes::order && choose_fast_tile(spec, row_bytes, target, schedule)) return;
  const bool pairs = row_bytes > kTileRowBytes || (lanes == Lanes::integer && row_bytes >= kPairIntegerRow);
  const auto tile = [&](std::int64_t part, int rows) {
    schedule.columns = part / element;
    schedule.rows_at_once = rows;
  };
  if (many && in_l2 && target.fast_l3() && row_bytes > kShortRowBytes) {
    tile(row_bytes > kTileRowBytes ? kPairRowBytes : kTileRowBytes, lanes == Lanes::integer && element == 8 ? 4 : 8);
  } else if (many && (row_bytes <= kShortRowBytes || in_l2)) {
    tile(kTileRowBytes, 8);
  } else if (element == 1 && row_bytes >= kPairByteRow) {
    tile(kByteTile, target.late_l3() ? 4 : 2);
  } else if (row_bytes > kPairRowBytes && near) {
    tile(target.late_l3() ? kFastWholeRow : kPairRowBytes, many ? 8 : 4);
  } else if (many && row_bytes > kPairRowBytes && takes_pages(spec, row_bytes, target)) {
    tile(kTileRowBytes, 8);
    schedule.ahead = true;
  } else if (row_bytes > kPairRowBytes) {
    tile(row_bytes <= kWholeRowBytes ? kWholeRowBytes : kPartRowBytes, many ? 8 : 4);
    schedule.ahead = !many;
  } else if (many && !stays) {
    tile(kPairRowBytes, 8);
  } else if (pairs) {
    tile(kPairRowBytes, target.late_l3() && (lanes == Lanes::order || element == 8) && many ? 8 : 2);
  } else {
    tile(kTileRowBytes, 4);
  }
  if (lanes == Lanes::order && schedule.rows_at_once == 8 && row_bytes <= kWholeRowBytes && !in_cache &&
      target.far_l3() && (target.isa == target::Isa::avx2 || element >= 4))
    schedule.ahead = true;
}

/// Few rows are seen coming without being asked for as far as so many times L2.
constexpr std::int64_t kSeenPart = 2;

/// Whether rows in registers ask for what comes next: on Zen 5, whose prefetching loses sight of many long rows, and of
/// those whose lines meet in the same sets of L1. Over axis 0, AVX2 and AVX-512, ReduceSum bf16 [8, 131072] takes 56
/// and 35 us so instead of 84 and 67, f32 [16, 65536] 87 and 86 instead of 130 and 103, ReduceMax f32 [5, 200000] with
/// AVX2 66 instead of 81. Where lines do not meet, f32 and f64 with AVX-512 gain beyond L2, of f32 [13, 80659]
/// ReduceMax 0.89 of the time, [8, 255780] 0.83, ReduceSum [16, 60000] 0.89, [7, 149796] 0.95; not in it ([12,
/// 10000] 1.06).
bool direct_asks_ahead(const KernelSpec& spec, std::int64_t row_bytes, const target::Target& target) {
  const std::int64_t bytes = kernel::bytes_read(spec);
  const bool seen = target.isa != target::Isa::avx2 && byte_size(spec.inputs[0].dtype) > 2 &&
                    row_bytes % kAliasBytes != 0 && bytes <= kSeenPart * target.l2_bytes;
  return target.fast_l3() && row_bytes >= kPairRowBytes && bytes <= target.last_cache_bytes() && !seen;
}

/// How far ahead of itself a row is asked for, of long ones and of blocks of short ones.
constexpr int kLongRowAhead = 384, kShortRowAhead = 2048;
/// Whether the short rows of small blocks are asked for, which columns do not read in the order of memory: on Zen 3,
/// where L3 is nearly full, and beyond. Of the time unasked, f32 over axis 1, of 16 and 64 MiB: ReduceMax [N, 9, 9]
/// 0.7 and 0.8, [N, 6, 40] 0.73 and 0.8, [N, 8, 128] 0.75 and 0.96, ArgMax 0.76, 0.76, 0.75 and 0.74, ReduceMax bf16
/// [N, 6, 40] 0.7 from memory; ReduceSum [N, 4, 32] 0.74 and 1.04, but of rows from 256 bytes on 1.0 and 1.2, of some
/// bytes ReduceMax bf16 [N, 13, 2] 1.2.
constexpr std::int64_t kMostBlockBytes = 4096, kLeastBlockRow = 16, kMostSummedRow = 256;

bool blocks_ask_ahead(const KernelSpec& spec, Lanes lanes, std::int64_t row_bytes, const target::Target& target) {
  const bool short_rows = row_bytes < kMostSummedRow || lanes != Lanes::chained_f32;
  return fills_late_cache(spec, target) && short_rows && row_bytes >= kLeastBlockRow &&
         row_bytes * kernel::reduced_count(spec) <= kMostBlockBytes;
}

/// Tiles of indices on Zen 5, and whether they ask for the next rows. As far as L2 and a quarter of L3 reach,
/// prefetches only take time; farther away they gain more, but for long rows. Over axis 0, AVX2 and AVX-512, of the
/// time of 256 records and prefetches (from memory: of whole rows without), ArgMax f32 in two pages of a row [256,
/// 1024] 0.78 and 0.83, [512, 4096] 0.73 and 0.71, s64 [1024, 1024] 0.75 and 0.82; in one page, asked for, f32 [1024,
/// 4096] 0.86 and 0.83, [2048, 4096] 0.77 and 0.79, [64, 65536] 0.83 and 0.87, s32 [1024, 4096] 0.87 and 0.90, f64 0.82
/// and 0.79; in two, f32 [16384, 1024] 0.68 and 0.84, [4096, 4096] 0.75 and 0.86, but [2048, 16384] 1.10 and 1.20. What
/// is near gains on Zen 3 as well: f32 [256, 1024] 0.72, [64, 1024] 0.83, [512, 2048] 0.71, [1024, 1024] 0.92, f64
/// [512, 512] 0.74, but not of rows that are short: [8192, 64] 1.06.
void choose_fast_places(const KernelSpec& spec, std::int64_t row_bytes, const target::Target& target,
                        Schedule& schedule) {
  const std::int64_t element = byte_size(spec.inputs[0].dtype), bytes = kernel::bytes_read(spec);
  const std::int64_t cache = target.last_cache_bytes();
  const bool near = bytes <= cache / kFastNearPart, far = bytes > cache;
  if (far && row_bytes > kFastWholeRow) {
    schedule.columns = kWholeRowBytes / element;
  } else {
    schedule.ahead = !near;
    schedule.columns = ((near && row_bytes > kTileRowBytes) || far ? kPairRowBytes : kTileRowBytes) / element;
  }
}

/// Tiles of indices, and whether they ask for the next rows. On Zen 5 keys take a page of each row from L2 and L3
/// without prefetches: ArgMax s8 [4096, 1024] over axis 0 takes 58 us instead of 80, [64, 16384] 18 instead of 26, bf16
/// 160 instead of 172 and 44 instead of 53; f32 [100, 307200] 4.4 and 4.6 ms in long parts instead of 5.5 and 5.4 with
/// AVX2 and AVX-512.
void choose_places_tile(const KernelSpec& spec, Lanes lanes, std::int64_t row_bytes, std::int64_t step,
                        const target::Target& target, Schedule& schedule) {
  const std::int64_t bytes = kernel::bytes_read(spec);
  const bool late =
      target.late_l3() && row_bytes >= kLeastLateRow && bytes <= target.last_cache_bytes() / kFastNearPart;
  if ((target.fast_l3() || late) && lanes == Lanes::arg) return choose_fast_places(spec, row_bytes, target, schedule);
  if (target.fast_l3() && bytes <= target.last_cache_bytes() / kCachePart) {
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

void choose_columns(const KernelSpec& spec, Lanes lanes, const target::Target& target, Schedule& schedule) {
  int reduced_levels = 0;
  for (const kernel::Level& level : spec.levels) reduced_levels += level.reduced ? 1 : 0;
  const std::int64_t step = lanes_per_step(lanes, spec.inputs[0].dtype);
  const std::int64_t element = byte_size(spec.inputs[0].dtype);
  const std::int64_t row_bytes = element * spec.levels[static_cast<std::size_t>(schedule.vector_level)].extent;
  const std::int64_t reduced = kernel::reduced_count(spec);
  // So many rows in registers, a multiple of a page apart, drive out what is prefetched of one another; eight at a time
  // fit a set. ReduceMax f32 [16, 8192] takes 9.4 us instead of 14.7, s32 [16, 65536] 71 instead of 89.
  const bool meets = is_exact(lanes) && reduced >= kRowsOfEight && row_bytes % kAliasBytes == 0;
  const bool direct = reduced_levels <= 1 && reduced <= kChain && !meets;
  schedule.columns = 0;
  if (direct) {
    schedule.ahead = blocks_ask_ahead(spec, lanes, row_bytes, target) ||
                     (!gives_index(lanes) && direct_asks_ahead(spec, row_bytes, target));
    return;
  }
  const bool near = kernel::bytes_read(spec) <= target.last_cache_bytes() / kCachePart;
  Narrow narrow = narrow_columns(spec, lanes, schedule.vector_level);
  // Groups of rows of indices lose to row by row, which asks for rows ahead, where the last cache hardly holds the
  // tensor: ArgMax f32 [512, 512, 24] over axis 1 takes 2.6 ms in groups, row by row 1.04; [64, 512, 24] 73 us and 122.
  if (lanes == Lanes::arg && narrow.columns > step && !near) narrow = {};
  schedule.width = narrow.width;
  if (lanes != Lanes::wide_f64) schedule.rows_at_once = kChainedStreams;
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
  const std::int64_t row_bytes =
      byte_size(spec.inputs[0].dtype) * spec.levels[static_cast<std::size_t>(vector_level)].extent;
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
  while (blocks >= 0 && spec.levels[static_cast<std::size_t>(blocks)].reduced) --blocks;
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

}  // namespace tenfold::schedule
