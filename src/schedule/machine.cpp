// SPDX-License-Identifier: Apache-2.0
#include "schedule/machine.hpp"

namespace tenfold::schedule {
namespace {

/// All that were not measured, and AMD's Zen 4.
constexpr Machine kNear{
    .avx512_in_halves = true,
    .stores = {.around = {3, 4},
               .long_rows_around = {5, 8},
               .blocks_around = {5, 8},
               .kept_columns_around = {5, 8},
               .columns_around = {5, 8},
               .kept_long_rows_around = true},
    .streams = {.turns_of_long = true},
    .columns = {.whole_rows_of_memory = true,
                .long_rows_of_bytes = 4,
                .long_far_tiles = true,
                .near_pages = true,
                .blocks_ask = true},
    .packed = {.asks_far = true, .loose_words_ask_in_l2 = true},
    .flat = {.runs = {1, 1, true}, .expensive_runs = false},
    .staged_rows = {.words_ask_far = true, .functions_ask_beyond_l2 = true},
    .staged_columns = {.two_inputs_ask = {5, 8}, .short_blocks = true},
};

/// The same of several cores, which L3 gives twice as much, and memory hardly more: stores go through it longer.
constexpr Machine kNearOfCores = [] {
  Machine machine = kNear;
  machine.stores.around = {7, 4};
  machine.stores.long_rows_around = {1, 1};
  machine.stores.blocks_around = {3, 4};
  machine.stores.columns_around = {7, 8};
  machine.stores.kept_long_rows_around = false;
  return machine;
}();

/// Xeons of AVX-512.
constexpr Machine kFar{
    .fills_cache = kNever,
    .sums_of_f16_add = true,
    .stores = {.kept_rows_around = true, .one_pass_around = true, .claims = true},
    .streams = {.extremes_from_memory = 4, .in_half_of_l2 = 4},
    .columns = {.pages_of_long_rows = true,
                .direct_rows_of_memory_ask = 2,
                .keys_unasked_in_l2 = true,
                .places_unasked_in_l3 = true},
    .packed = {.asks = kNever, .tiny_rows_ask = true, .loose_rows_ask = true, .index_width = 200},
    .flat = {.runs = {1, 1, true}, .expensive_runs_beyond_l2 = true},
    .staged_rows = {.read_rows_take_turns = true, .asks_beyond_l2 = true, .expensive_rows_trail = true, .runs = true},
    .staged_columns = {.scratch_keeps = false,
                       .computes_again = {2, 1},
                       .avx512_computes_again = true,
                       .narrow_around = true,
                       .asks_around = false,
                       .asking_tile_bytes = 1},
};

/// AMD's from Zen 5 on.
constexpr Machine kFast{
    .fills_cache = kNever,
    .stores = {.around = {3, 4},
               .long_rows_around = {3, 4},
               .blocks_around = {3, 4},
               .kept_columns_around = {15, 16, true},
               .powers_around = {15, 16, true},
               .expensive_rows_claim = true},
    .streams = {.from_memory = 2, .one_row_of_words = true, .visits_runs_of_row = false, .turns_of_few = true},
    .columns = {.eight_rows_in_l2 = true,
                .whole_rows_in_l3 = true,
                .gapped_rows_alone = true,
                .direct_rows_ask = true,
                .pages_of_keys = true,
                .places_by_distance = true},
    .packed = {.asks = kNever, .row_bytes = 128, .cached_row_bytes = 128, .index_width = 200},
    .flat = {},
    .staged_rows = {.read_rows_take_turns = true,
                    .expensive_rows_take_turns = true,
                    .cheap_turns_around = true,
                    .pairs_around = true,
                    .asks_beyond_l2 = true},
    .staged_columns = {.avx512_computes_again = true,
                       .stores_rows_together = true,
                       .asks_around = false,
                       .few_in_order = true},
};

/// AMD's up to Zen 3.
constexpr Machine kLate{
    .fills_cache = {3, 8, true},
    .stores = {.around = {3, 4},
               .long_rows_around = {3, 4},
               .blocks_around = {3, 4},
               .kept_columns_around = {1, 1, true},
               .powers_around = {3, 4},
               .kept_rows_around = true},
    .streams = {.extremes_from_memory = 4, .one_row = {1, 4}, .four_rows_of_extremes = {9, 16, true}},
    .columns = {.long_parts = true,
                .eight_whole_rows = true,
                .rows_of_bytes = 4,
                .long_rows_of_bytes = 4,
                .direct_rows_of_memory_ask = 1,
                .near_places = true},
    .packed = {.asks = {1, 4, true}, .loose_rows_ask = true, .row_bytes = 160, .cached_row_bytes = 640},
    .flat = {.runs = {3, 4}},
    .staged_rows = {.read_rows_take_turns = true,
                    .cheap_turns_around = true,
                    .expensive_turns_around = true,
                    .asks = {1, 6, true},
                    .one_pass_asks = {1, 5, true},
                    .cheap_runs = true},
    .staged_columns = {.outputs_keep = true,
                       .rows_of_functions = 4,
                       .functions_ask = {1, 2},
                       .short_rows_ask = {1, 2},
                       .asking_tile_bytes = 1},
};

}  // namespace

const Machine& machine_of(const target::Target& target) noexcept {
  switch (target.l3) {
    case target::L3::far: return kFar;
    case target::L3::fast: return kFast;
    case target::L3::late: return kLate;
    case target::L3::near: break;
  }
  return target.cores > 1 ? kNearOfCores : kNear;
}

}  // namespace tenfold::schedule
