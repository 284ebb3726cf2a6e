// SPDX-License-Identifier: Apache-2.0
//
// Schedule: how a kernel is to be run. A plain value that the heuristic (choose) and the tuner produce; the emitter
// follows it, and decides nothing that a result depends on. Its text form is one line:
//
//   avx2 rows level=1 unroll=4 tile=0:256
//   avx2 rows level=1 unroll=2 rows=4
//   avx512_core columns level=2 rows=4 ahead=1 columns=1024 tile=0:8 split=1:4096
//   avx2 packed level=1 width=13 tile=0:65536
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernel/spec.hpp"
#include "target/target.hpp"
#include "tenfold/status.hpp"

namespace tenfold::schedule {

enum class Nest : std::uint8_t {
  rows,            ///< the vector level is reduced: each output folds whole vectors, then lanes
  columns,         ///< the vector level is kept: lanes are neighbouring outputs, reduced levels are walked outside
  packed,          ///< the vector level is reduced and short: several rows, one after another in memory, at once
  flat,            ///< nothing is reduced: lanes are elements
  staged_rows,     ///< rows of a body in stages: several inputs, or reductions that feed each other
  staged_columns,  ///< columns of one, or its short rows, which are turned into columns
};

/// A range of one level that is run as one task.
struct Cut {
  int level = -1;          ///< -1: not cut
  std::int64_t grain = 0;  ///< extent of each piece; the last may be shorter
  friend bool operator==(const Cut&, const Cut&) = default;
};

struct Schedule {
  target::Isa isa = target::Isa::avx2;
  Nest nest = Nest::rows;
  int vector_level = 0;  ///< the level that lanes run along
  int unroll = 4;        ///< rows: accumulators of 64 bytes in flight (order states: sets of three)
  /// Streams of rows read side by side or in turns, in columns by a sweep of the tile, and of one row runs of it;
  /// staged rows: adjacent rows whose passes take turns.
  int rows_at_once = 1;
  int stored = 1;  ///< staged columns: rows of a sweep that does nothing but store elements around the caches
  int pilot = 0;   ///< staged rows: steps that the pilot of a centred moment is the mean of; 0: it takes two passes
  /// Rows: outputs that take turns, a row of each; 0: one output at a time. Columns of sums whose elements lie apart:
  /// 1: so do streams, a row of each over the whole tile; 0: they are read side by side.
  int turns = 0;
  /// Columns: sweeps prefetch the next one's rows. Staged columns of narrow tiles: the last pass prefetches the next
  /// tile's. Packed: blocks prefetch others. Rows: streams beyond the state's sets take turns, each asking for the
  /// next. Staged rows: the second pass, or the only one, prefetches the next row.
  bool ahead = false;
  /// Columns: rows ask for those of the next block, which lie as far behind them as a step of the kept level outside.
  bool blocks = false;
  /// With `ahead` or `blocks`: it is memory that is asked, farther ahead, for lines that wait in L2: of L1's requests
  /// too few are under way at a time. Columns' blocks, packed and staged rows.
  bool far = false;
  bool early = false;  ///< staged rows, with `ahead`: half as far again, for what would not be there in time
  /// Staged rows: the last pass, which stores, goes over a row along with the last reductions of the next one, so that
  /// what it waits for is waited for while those are computed.
  bool trails = false;
  /// Rows and columns of sums of f16: chains take elements, not products of them with 1, and these come in vectors of
  /// 64 bytes with AVX-512, for machines on which products wait for the ports of conversions.
  bool adds = false;
  /// Flat, staged: elements that no later pass reads are stored past the caches, by non-temporal stores. Columns:
  /// outputs are.
  bool around = false;
  /// Flat, staged: what is stored through the caches prefetches the lines of later stores, to own them (prefetchw).
  bool claim = false;
  /// Staged columns: passes go down the rows of a tile and up again by turns, where their results do not depend on it.
  bool serpentine = false;
  /// Staged columns of ranks: a step is left out where no lane has an element among the first of its line so far.
  bool skips = false;
  /// Columns of an index: of an extreme the sweep alone is remembered, whose rows are searched in the end.
  bool searches = false;
  /// Four runs in turn. Flat: a few lines of each. Staged rows, with `ahead`: a row of each.
  bool runs = false;
  std::int64_t keep = 0;  ///< staged: elements of a row (columns: of each) that scratch may keep for a later pass
  std::int64_t part = 0;  ///< staged columns that keep: columns of a tile that scratch has room for at a time
  /// Columns: lanes per tile at most, whose accumulators stay in L1; 0: in registers. Flat: elements of rows that are
  /// joined, at a time.
  std::int64_t columns = 0;
  /// Elements that the code has built in: packed, narrow columns: of a row; flat: of one that is joined to others
  /// (spread.hpp); staged columns: of a block that is turned (turned.hpp). 0 for others.
  int width = 0;
  Cut tile;   ///< cut of a kept level into tasks: never changes a bit of the result
  Cut split;  ///< cut of a reduced level into partial results; of sums and products it depends on the shape alone
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// The heuristic choice for `spec` on `target`. What decides bits (which elements share a lane, the runs of a row and
/// the split of sums and products, the pilot of moments) depends on the spec alone, never on target or threads, so that
/// results have the same bits everywhere.
Schedule choose(const kernel::KernelSpec& spec, const target::Target& target);
/// The same for one of two kernels of a reduction, which is not split any further.
Schedule choose_whole(const kernel::KernelSpec& spec, const target::Target& target);

/// Proves that the emitter can follow `schedule`: internal_error or unsupported_shape with the reason otherwise.
Status check(const kernel::KernelSpec& spec, const Schedule& schedule);

std::string print(const Schedule& schedule);
Result<Schedule> parse(std::string_view text);

std::string_view to_string(Nest nest) noexcept;
constexpr bool is_staged(Nest nest) { return nest == Nest::staged_rows || nest == Nest::staged_columns; }

}  // namespace tenfold::schedule
