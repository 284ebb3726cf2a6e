// SPDX-License-Identifier: Apache-2.0
//
// What the heuristics do differently by the kind of machine, beyond what its cache sizes say: one row of a table for
// each kind of last cache (target::L3). A new kind of machine is a new row. What each value was measured by is in
// docs/measurements.md, of a near last cache in docs/kernels/memory.md. "Expensive" is what takes a polynomial to
// compute.
#pragma once

#include <cstdint>

#include "target/target.hpp"

namespace tenfold::schedule {

/// A part of what the process can count on of the last cache (Target::last_cache_bytes).
struct Share {
  std::int64_t numerator, denominator;
  bool exceeded = false;  ///< reached by more than that alone

  /// Whether `bytes` are as much, or more.
  constexpr bool reached_by(std::int64_t bytes, const target::Target& target) const {
    const std::int64_t own = denominator * bytes, least = numerator * target.last_cache_bytes();
    return denominator > 0 && (exceeded ? own > least : own >= least);
  }
  friend constexpr bool operator==(const Share&, const Share&) = default;
};
inline constexpr Share kNever{1, 0};

struct Machine {
  /// The last cache hardly holds so much: rows and columns are read as from memory.
  Share fills_cache = kNever;

  bool avx512_in_halves = false;  ///< 512-bit operations take two turns: what gains nothing by them speaks AVX2
  bool sums_of_f16_add = false;   ///< products with 1 wait for the ports of conversions, which are better whole

  /// Stores around the caches, and stores that claim their lines ahead (around.hpp).
  struct Stores {
    Share around{1, 1};                  ///< stores go around from so much on, inputs and outputs together
    Share long_rows_around{1, 1};        ///< likewise those of long rows, and of columns
    Share blocks_around{1, 1};           ///< those of columns inside a kept level
    Share kept_columns_around{1, 1};     ///< likewise those of columns that scratch or an output keeps
    Share powers_around{1, 1};           ///< those of columns whose last pass computes exponentials again (Powers)
    Share columns_around{2, 1};          ///< words that columns of few rows put out, which store no elements
    bool kept_rows_around = false;       ///< expensive elements of rows that scratch keeps go around as well
    bool kept_long_rows_around = false;  ///< those of long rows do
    bool one_pass_around = false;        ///< likewise those of kernels of one pass
    bool claims = false;                 ///< stores beyond a core's own caches claim their lines
    bool expensive_rows_claim = false;   ///< those of expensive rows do, beyond L2
  } stores;

  /// Streams of rows, and runs of one row, that are read side by side (streams.hpp).
  struct Streams {
    int from_memory = 4;                   ///< streams, at most, of what the last cache does not hold
    int extremes_from_memory = 2;          ///< those of extremes and indices
    int in_half_of_l2 = 2;                 ///< streams, at most, up to half of L2
    Share one_row = kNever;                ///< one row whose order is free comes in runs from so much on
    bool one_row_of_words = false;         ///< one of 32-bit extremes does beyond L1, with AVX-512 beyond L2
    bool visits_runs_of_row = true;        ///< runs of one row are visited in turns, not stepped together
    Share four_rows_of_extremes = kNever;  ///< rows of floating-point extremes come four at a time from so much on
    bool turns_of_few = false;             ///< outputs of but four rows take turns, if these are long
    bool turns_of_long = false;            ///< outputs of some rows do, if they read much
  } streams;

  /// Tiles of columns (columns.hpp).
  struct Columns {
    bool eight_rows_in_l2 = false;  ///< rows of extremes in L2 come eight at a time, however many ways L1 has
    bool whole_rows_in_l3 = false;  ///< rows of extremes are whole in L3 and beyond, as long as L1 has their records
    bool whole_rows_of_memory = false;  ///< likewise beyond L3 alone, those of 16 bits up to 8 KiB
    bool long_parts = false;            ///< parts of long rows in L3 are of 16 KiB
    bool eight_whole_rows = false;      ///< whole rows in L3 come eight at a time, not in pairs
    int rows_of_bytes = 2;              ///< rows of elements of one byte come so many at a time
    int long_rows_of_bytes = 2;         ///< and long ones so many
    bool gapped_rows_alone = false;     ///< rows of elements apart come one at a time beyond L2, those of sums anywhere
    bool long_far_tiles = false;        ///< long rows beyond half of L3 have the longest tiles, and beyond it no strips
    bool pages_of_long_rows = false;    ///< long rows beyond L3 come in pages, eight at a time, which ask ahead
    bool direct_rows_ask = false;       ///< long rows in registers ask ahead, where the last cache holds them
    int direct_rows_of_memory_ask = 0;  ///< those of memory do, with AVX2, if elements have so many bytes
    bool pages_of_keys = false;       ///< keys have tiles of a page, and do not ask ahead, up to half of the last cache
    bool places_by_distance = false;  ///< tiles of indices go by how far away rows are
    bool near_places = false;         ///< those of no more than a quarter of the last cache do
    bool near_pages = false;          ///< indices have tiles of a page, and do not ask ahead, up to a quarter of it
    bool blocks_ask = false;          ///< rows of blocks ask for those of the next one (next_block.hpp)
    bool keys_unasked_in_l2 = false;  ///< tiles of keys do not ask ahead in L2
    bool places_unasked_in_l3 = false;  ///< tiles of indices do not ask ahead in L3; of integers with AVX-512 alone
  } columns;

  /// Blocks of packed rows that ask ahead (packed.hpp).
  struct Packed {
    Share asks = {1, 2, true};           ///< from so much on; kNever: from three quarters of L2 on
    bool asks_far = false;               ///< long ones of narrow lanes, from half of the last cache on, as memory is
    bool tiny_rows_ask = false;          ///< rows of few bytes do in L2 as well
    bool loose_words_ask_in_l2 = false;  ///< short ones of floating-point words do there
    bool loose_rows_ask = false;         ///< so do short ones with gaps, and those of cells anywhere
    std::int64_t row_bytes = 64;         ///< up to rows so long
    std::int64_t cached_row_bytes = 64;  ///< up to rows so long of what leaves room in the last cache
    int index_width = 1024;  ///< rows of 32 bits whose index is wanted, with AVX-512, up to so many elements
  } packed;

  /// Elementwise kernels that come in four runs (flat.hpp).
  struct Flat {
    Share runs = kNever;                    ///< from so much on
    bool expensive_runs = true;             ///< expensive ones do as well
    bool expensive_runs_beyond_l2 = false;  ///< and beyond L2
  } flat;

  /// Rows of bodies in stages (staged.hpp).
  struct StagedRows {
    bool read_rows_take_turns = false;       ///< rows that store no element take turns wherever they are, up to 4 KiB
    bool expensive_rows_take_turns = false;  ///< and so do expensive ones
    bool cheap_turns_around = false;         ///< cheap rows that go around take turns, and may ask early
    bool expensive_turns_around = false;     ///< and so do expensive ones
    bool pairs_around = false;               ///< rows that go around come in pairs where L3 holds what they read
    bool words_ask_far = false;              ///< expensive words that ask for memory's next row ask for it in L2
    bool asks_beyond_l2 = false;             ///< what computes asks for the next row, beyond L2
    bool functions_ask_beyond_l2 = false;    ///< long expensive rows do that leave L2 to what is read
    bool expensive_rows_trail = false;       ///< the last pass over expensive words trails, beyond L2
    Share asks = kNever;                     ///< rows of several passes do from so much on
    Share one_pass_asks = kNever;            ///< rows of one pass do from so much on
    bool runs = false;                       ///< rows from memory come in four runs
    bool cheap_runs = false;                 ///< those of 2 KiB and more do, if they are cheap
  } staged_rows;

  /// Columns of bodies in stages (staged_columns.hpp).
  struct StagedColumns {
    bool scratch_keeps = true;           ///< what is expensive is kept in scratch
    bool outputs_keep = false;           ///< or in an output, even if scratch has room for a whole tile
    Share computes_again = kNever;       ///< or computed again, from so much on
    bool avx512_computes_again = false;  ///< or with AVX-512, where it goes around
    bool narrow_around = false;          ///< few expensive rows that go around have narrow tiles
    bool stores_rows_together = false;   ///< sweeps that go around store several rows at once
    bool asks_around = true;             ///< sweeps that go around ask for the next rows
    bool few_in_order = false;           ///< two or three inputs that are but read come in order, unasked, or in pages
    int rows_of_functions = 8;           ///< rows of a sweep of what is expensive
    Share two_inputs_ask = kNever;       ///< two inputs that are but read ask from so much on, both together
    bool short_blocks = false;     ///< rows of up to 256 columns inside a kept level have tiles and sweeps of their own
    Share functions_ask = kNever;  ///< sweeps of what is expensive and but read ask from so much on
    Share short_rows_ask = kNever;  ///< sweeps of what is cheap and but read do, of rows of a page or less
    /// Narrow tiles ask for the next one if a column has so much of each row.
    std::int64_t asking_tile_bytes = 4;
  } staged_columns;
};

/// The row of the kind of last cache that `target` has.
const Machine& machine_of(const target::Target& target) noexcept;

}  // namespace tenfold::schedule
