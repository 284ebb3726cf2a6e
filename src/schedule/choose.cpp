// SPDX-License-Identifier: Apache-2.0
//
// The heuristic. Where its numbers come from: docs/measurements.md.
#include <algorithm>
#include <string>

#include "schedule/around.hpp"
#include "schedule/body.hpp"
#include "schedule/broken.hpp"
#include "schedule/columns.hpp"
#include "schedule/fields.hpp"
#include "schedule/flat.hpp"
#include "schedule/isa.hpp"
#include "schedule/levels.hpp"
#include "schedule/machine.hpp"
#include "schedule/narrow.hpp"
#include "schedule/next_block.hpp"
#include "schedule/ordered.hpp"
#include "schedule/packed.hpp"
#include "schedule/schedule.hpp"
#include "schedule/stage_traits.hpp"
#include "schedule/staged.hpp"
#include "schedule/streams.hpp"
#include "schedule/turned.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Below this a reduction runs whole: two tasks of less than 256 KiB gain nothing over the fork-join (docs/threads.md).
constexpr std::int64_t kSplitBytes = 512 << 10;
/// Pieces of a split. Fixed where it decides bits: 8 cores are fed. Else no more than there are cores, as each piece of
/// columns starts four streams anew.
constexpr std::int64_t kSplitPieces = 8;
/// So many rows are whole lines, however long they are. Where any cut gives the same bits, no piece of narrow columns
/// begins within a line then.
constexpr std::int64_t kRowsOfLines = 64;
/// With this many tasks or more from kept levels alone nothing is split.
constexpr std::int64_t kEnoughTasks = 16;
/// Indices come in pieces from here on: less is read by one thread in some 20 us.
constexpr std::int64_t kIndexSplitBytes = 1 << 20;
/// Partial results may cost no more than this part of the bytes read.
constexpr std::int64_t kPartialsPart = 32;
/// Outputs that take turns: so many records fit the stack. They do where an output would have this many rows to read
/// side by side and more; fewer are streams of their own.
constexpr int kMostTurns = 64;
constexpr std::int64_t kLeastRowsOfTurns = 32;
/// Where few are enough (Machine::Streams), so many of so many bytes each, or together with their rows.
constexpr std::int64_t kLeastOfFewTurns = 4, kLeastRowOfFewTurns = 1024, kLeastRowOfFewTurnsOfAvx512 = 1536;
constexpr std::int64_t kLongOutputBytes = 64 << 10, kSomeRowsOfTurns = 16, kOutputBytesOfSomeRows = 10000;
/// Up to so much, which the caches of two cores hold, tasks may read such parts of rows: what is too little for partial
/// results.
constexpr std::int64_t kSliverBytes = 2 << 20, kSliverRowBytes = 1 << 10;
/// Rows of arg-reductions from so many steps on are taken in groups of four. Shorter ones are not, as a row ends with a
/// look at where its extreme was.
constexpr std::int64_t kLeastStepsOfGroups = 24;

/// Kept levels outside the vector level: how many outputs, or rows of outputs, are independent tasks.
std::int64_t outer_tasks(const KernelSpec& spec, int vector_level) {
  std::int64_t tasks = 1;
  for (std::size_t level = 0; level < spec.levels.size(); ++level)
    if (!spec.levels[level].reduced && static_cast<int>(level) != vector_level) tasks *= spec.levels[level].extent;
  return tasks;
}

/// Whether each core has a sliver of columns that is wide enough, and that its L2 has room for, though parts of pages
/// lie in half of its sets.
bool takes_slivers(const KernelSpec& spec, int vector_level, const target::Target& target) {
  const std::int64_t row_bytes = kernel::level(spec, vector_level).extent * byte_size(spec.inputs[0].dtype);
  return 2 * kernel::bytes_read(spec) <= target.l2_bytes && row_bytes >= target.cores * kSliverRowBytes;
}

/// Whether outputs can take turns: the innermost level but that of the rows is kept, and reduced ones lie outside it,
/// in memory too.
bool takes_turns(const KernelSpec& spec, Lanes lanes) {
  if (spec.levels.size() < 3 || gives_index(lanes)) return false;
  const std::vector<std::int64_t>& strides = spec.inputs[0].strides;
  const std::size_t level = spec.levels.size() - 2;
  if (spec.levels[level].reduced || strides.back() != 1) return false;
  bool outside = false;
  for (std::size_t other = 0; other < level; ++other) {
    if (!spec.levels[other].reduced) continue;
    if (strides[other] < strides[level]) return false;
    outside = true;
  }
  return outside;
}

/// Cuts a reduced level when the kept levels give too few tasks: the widest one, or where outputs can take turns the
/// outermost, so that a piece is read in the order of memory. Grains are whole blocks of a row (pages), or whole chains
/// of a column, so that no piece ends inside one.
Cut choose_split(const KernelSpec& spec, const Schedule& schedule, Lanes lanes, const target::Target& target) {
  // Packed rows are many.
  if (kernel::bytes_read(spec) < kSplitBytes || schedule.nest == Nest::packed) return {};
  std::int64_t tasks = outer_tasks(spec, schedule.vector_level);
  const bool columns = schedule.nest == Nest::columns;
  const std::int64_t kept = kernel::kept_count(spec);
  const std::int64_t lanes_of_tile = std::int64_t{kTileRecords} * lanes_per_step(lanes, spec.inputs[0].dtype);
  if (columns) tasks *= std::max<std::int64_t>(1, kept / tasks / lanes_of_tile / 4);
  const int outermost = kernel::outermost(spec, true);
  const bool between_rows =
      !columns && takes_turns(spec, lanes) && kernel::level(spec, outermost).extent >= kSplitPieces;
  const int level = between_rows ? outermost : widest_level(spec, true);
  if (tasks >= kEnoughTasks || level < 0) return {};
  if (columns && is_exact(lanes) && takes_slivers(spec, schedule.vector_level, target)) return {};
  const std::int64_t extent = kernel::level(spec, level).extent;
  static_assert(kPageElements % (kChain * kChainedUnroll * 16) == 0);
  const std::int64_t of_columns = is_exact(lanes) ? kRowsOfLines : kChain;
  const std::int64_t whole = between_rows ? 1 : level == schedule.vector_level ? kPageElements : of_columns;
  const std::int64_t wanted = is_exact(lanes) ? std::clamp<std::int64_t>(target.cores, 2, kSplitPieces) : kSplitPieces;
  const std::int64_t grain = divide_up(divide_up(extent, wanted), whole) * whole;
  const std::int64_t pieces = divide_up(extent, grain);
  const std::int64_t partial_bytes =
      2 * pieces * kept * (lanes == Lanes::chained_f32 ? 8 : byte_size(spec.outputs[0].dtype));
  if (pieces < 2 || partial_bytes * kPartialsPart > kernel::bytes_read(spec)) return {};
  return {level, grain};
}

/// Pieces of an arg-reduction, for threads alone, where tiles give too few tasks: rows that are long and few, and
/// narrow columns. Two steps of the caller's come with them (compile/bind/index_pieces.hpp), so there must be enough to
/// read.
Cut choose_index_split(const KernelSpec& spec, const Schedule& schedule, const ReduceBody& body, int cores) {
  const std::int64_t bytes = kernel::bytes_read(spec);
  if (cores < 2 || bytes < kIndexSplitBytes || body.stores_extreme || schedule.nest == Nest::packed) return {};
  if (schedule.tile.level >= 0 &&
      divide_up(kernel::level(spec, schedule.tile.level).extent, schedule.tile.grain) >= cores)
    return {};
  const int level = widest_level(spec, true);
  // What is reduced over one element has no level left to cut.
  if (level < 0) return {};
  const std::int64_t extent = kernel::level(spec, level).extent;
  const std::int64_t pieces = std::clamp<std::int64_t>(cores, 2, kSplitPieces);
  const std::int64_t grain = divide_up(divide_up(extent, pieces), kPageElements) * kPageElements;
  // Of each piece and output: an index, and an element that is fetched from where the piece has it.
  const std::int64_t partial_bytes = divide_up(extent, grain) * kernel::kept_count(spec) * 64;
  if (grain >= extent || partial_bytes * kPartialsPart > bytes) return {};
  return {level, grain};
}

/// Tasks for threads: cut the widest kept level into a few pieces per core, no smaller than kTaskBytes.
Cut choose_tile(const KernelSpec& spec, const Schedule& schedule, Lanes lanes, int cores) {
  int level = widest_level(spec, false, schedule.vector_level);
  std::int64_t grain_unit = 1, per_core = 4;
  const bool few_outside = level < 0 || kernel::level(spec, level).extent < 2 * cores;
  if (few_outside && schedule.nest == Nest::columns) {
    // Rows of narrow columns are whole.
    if (schedule.width > 0) return {};
    level = schedule.vector_level;
    // A tile of whole cache lines of outputs, and at least 4 KiB of each row, keeps the reads streaming. What cannot be
    // split instead takes slivers.
    const bool slivers = kernel::bytes_read(spec) <= kSliverBytes || gives_index(lanes);
    grain_unit = slivers ? kSliverRowBytes / byte_size(spec.inputs[0].dtype) : kPageElements;
    per_core = 1;
  }
  if (level < 0) return {};
  const std::int64_t extent = kernel::level(spec, level).extent;
  const std::int64_t unit_bytes =
      std::max<std::int64_t>(1, kernel::bytes_read(spec) / std::max<std::int64_t>(1, extent));
  std::int64_t grain = std::max(divide_up(extent, per_core * cores), divide_up(kTaskBytes, unit_bytes));
  grain = divide_up(grain, grain_unit) * grain_unit;
  if (grain >= extent) return {};
  return {level, grain};
}

int most_arg_unroll(const KernelSpec& spec, const ReduceBody& body) {
  return remembers_groups(spec.inputs[0].dtype, body) ? kGroupSteps : body.stores_extreme ? 1 : 2;
}

/// Order states have three vectors a set, of which AVX2 has room for two. With AVX-512 sets share the flags of a pair,
/// which take four cycles to be combined with.
int most_order_unroll(target::Isa isa) { return isa == target::Isa::avx2 ? 2 : 4; }

int choose_arg_unroll(const KernelSpec& spec, int vector_level, const ReduceBody& body) {
  const int most = most_arg_unroll(spec, body);
  const std::int64_t extent = kernel::level(spec, vector_level).extent;
  const std::int64_t steps = extent / lanes_per_step(Lanes::arg, spec.inputs[0].dtype);
  return most == kGroupSteps && steps < kLeastStepsOfGroups ? 2 : most;
}

/// Splits the reduced levels, or else tiles the kept ones.
void cut(const KernelSpec& spec, const ReduceBody& body, const target::Target& target, bool may_split,
         Schedule& schedule) {
  const int cores = target.cores;
  const Lanes lanes = lanes_of(spec, body);
  if (gives_index(lanes)) {
    schedule.tile = choose_tile(spec, schedule, lanes, cores);
    if (may_split) schedule.split = choose_index_split(spec, schedule, body, cores);
    if (schedule.split.level >= 0) schedule.tile = {};
    return;
  }
  // Pieces of what comes out the same however it is cut are for threads alone.
  if (may_split && (!is_exact(lanes) || cores > 1)) schedule.split = choose_split(spec, schedule, lanes, target);
  if (schedule.split.level < 0) schedule.tile = choose_tile(spec, schedule, lanes, cores);
}

bool gains_by_turns(const KernelSpec& spec, const target::Target& target) {
  if (kernel::bytes_read(spec) <= target.l2_bytes) return false;
  const Machine::Streams& machine = machine_of(target).streams;
  const std::int64_t width = spec.levels.back().extent, rows = kernel::reduced_count(spec) / width;
  const std::int64_t row_bytes = width * byte_size(spec.inputs[0].dtype), output_bytes = rows * row_bytes;
  if (rows >= kLeastRowsOfTurns) return true;
  if (machine.turns_of_long && rows >= kSomeRowsOfTurns && output_bytes >= kOutputBytesOfSomeRows) return true;
  if (machine.turns_of_long && rows >= kLeastOfFewTurns && output_bytes >= kLongOutputBytes) return true;
  const std::int64_t least = target.isa == target::Isa::avx2 ? kLeastRowOfFewTurns : kLeastRowOfFewTurnsOfAvx512;
  return machine.turns_of_few && rows >= kLeastOfFewTurns && row_bytes >= least;
}

/// Whether there are sums of f16, which Schedule::adds is of.
bool may_add(const KernelSpec& spec, const ReduceBody& body) {
  return body.monoid == kernel::Monoid::sum && spec.inputs[0].dtype == DType::f16;
}

target::Target with_avx2(target::Target target) {
  target.isa = target::Isa::avx2;
  return target;
}

Schedule choose(const KernelSpec& spec, const target::Target& target, bool may_split) {
  if (kernel::is_elementwise(spec)) return choose_flat(spec, target);
  if (kernel::is_ordered(spec)) return choose_ordered(spec, target);
  Schedule schedule;
  schedule.isa = target.isa;
  const Result<ReduceBody> body = read_body(spec);
  if (!body.ok() || turns_blocks(spec, body.value())) return choose_staged(spec, target);
  const Lanes lanes = lanes_of(spec, body.value());
  const bool packed = packs(spec, body.value()) && pays_to_pack(spec, lanes, target);
  schedule.vector_level = packed ? packed_rows(spec).level : vector_level_of(spec, spec.inputs[0]);
  if (!packed && takes_lanes_across(spec, schedule.vector_level)) --schedule.vector_level;
  if (!packed && speaks_avx2(spec, lanes, schedule.vector_level, target))
    return choose(spec, with_avx2(target), may_split);
  const bool reduced = kernel::level(spec, schedule.vector_level).reduced;
  schedule.nest = packed ? Nest::packed : reduced ? Nest::rows : Nest::columns;
  if (schedule.nest == Nest::packed) {
    schedule.width = packed_rows(spec).width();
    choose_packed_asks(spec, lanes, target, schedule);
  } else if (schedule.nest == Nest::rows) {
    // Order states: integer max and min have a latency of one cycle, so two sets of three keep every port busy.
    // Integer sums and products have up to ten; f64 totals are four registers on AVX2 already.
    // Arg-reductions hold two vectors a set, or three beside the extreme, and the running index; of groups there is one
    // set, and what a group costs besides its extreme is shared by four steps.
    // Steps of keys all go to one set.
    schedule.unroll = lanes == Lanes::order      ? most_order_unroll(target.isa)
                      : lanes == Lanes::wide_f64 ? 1
                                                 : kChainedUnroll;
    if (lanes == Lanes::arg) schedule.unroll = choose_arg_unroll(spec, schedule.vector_level, body.value());
    schedule.rows_at_once = choose_streams(spec, lanes, schedule.unroll, target);
    schedule.ahead = visits_in_turns(spec, lanes, schedule.rows_at_once, target);
    if (takes_turns(spec, lanes) && gains_by_turns(spec, target)) schedule.turns = kMostTurns;
  } else {
    choose_columns(spec, lanes, target, schedule);
    schedule.around = pays_to_store_columns_around(spec, lanes, schedule, target);
    schedule.isa = isa_of_columns(spec, lanes, schedule, target.isa);
  }
  schedule.adds = machine_of(target).sums_of_f16_add && schedule.nest != Nest::packed && may_add(spec, body.value());
  cut(spec, body.value(), target, may_split, schedule);
  return schedule;
}

/// Whether a cut is of a level that is there, and of the kind.
Status check_cut(const KernelSpec& spec, const Cut& cut, bool reduced) {
  if (cut.level < 0) return {};
  if (cut.level >= static_cast<int>(spec.levels.size()) || cut.grain < 1) return broken("no such cut");
  if (kernel::level(spec, cut.level).reduced != reduced)
    return broken("a tile is of a kept level, a split of a reduced one");
  return {};
}

Status check_rows(const KernelSpec& spec, const ReduceBody& body, const Schedule& schedule) {
  const Lanes lanes = lanes_of(spec, body);
  const int unroll = schedule.unroll;
  if (lanes == Lanes::wide_f64 && unroll != 1) return broken("rows of f64 sums unroll by 1");
  if (lanes == Lanes::chained_f32 && unroll != kChainedUnroll) return broken("chained rows unroll by 4");
  if (unroll != 1 && unroll != 2 && unroll != 4) return broken("unroll is not 1, 2 or 4");
  // 8 vectors of 64 bytes on AVX2: sets, two totals or none, one loaded vector, one for the layer itself.
  if (lanes == Lanes::order && unroll > most_order_unroll(schedule.isa))
    return broken("order states unroll by 1 or 2, with AVX-512 by 4");
  if (Status status = check_streams(spec, lanes, schedule); !status.ok()) return status;
  if (schedule.turns < 0 || schedule.turns > kMostTurns || (schedule.turns > 0 && !takes_turns(spec, lanes)))
    return broken("turns is for rows of outputs that lie side by side inside what is reduced");
  if (lanes == Lanes::arg && unroll > most_arg_unroll(spec, body))
    return broken("arg-reductions unroll by 1 or 2, beside the extreme by 1, in groups by 1, 2 or 4");
  return {};
}

bool may_take_streams_in_turn(const KernelSpec& spec, Lanes lanes, const Schedule& schedule) {
  return lanes == Lanes::chained_f32 && schedule.columns > 0 &&
         spec.inputs[0].strides[static_cast<std::size_t>(schedule.vector_level)] != 1;
}

bool may_search_rows(const KernelSpec& spec, Lanes lanes, const Schedule& schedule) {
  const std::int64_t least = schedule.width > 0 ? lanes_per_step(lanes, spec.inputs[0].dtype) + 1 : 1;
  return remembers_sweeps(spec, lanes) && kernel::reduced_levels(spec) == 1 && schedule.columns >= least &&
         schedule.rows_at_once >= kChainedStreams &&
         spec.inputs[0].strides[static_cast<std::size_t>(schedule.vector_level)] == 1;
}

Status check_columns(const KernelSpec& spec, const ReduceBody& body, const Schedule& schedule) {
  const Lanes lanes = lanes_of(spec, body);
  if (schedule.around && !may_store_columns_around(spec, lanes, schedule))
    return broken("around is for columns of few rows that store whole lines");
  const int rows = schedule.rows_at_once;
  if (rows != 1 && rows != 2 && rows != 4 && rows != 8) return broken("rows is not 1, 2, 4 or 8");
  if (rows == 8 && !is_exact(lanes) && lanes != Lanes::wide_f64 && !schedule.searches)
    return broken("8 rows are for exact states, sums of f64 and indices whose rows are searched");
  if (schedule.searches && !may_search_rows(spec, lanes, schedule))
    return broken("searches is for indices of one reduced level, in sweeps over tiles or groups of rows");
  if (lanes == Lanes::chained_f32 && schedule.columns > 0 && rows != kChainedStreams)
    return broken("chained columns run in 4 streams");
  if (schedule.turns != 0 && (schedule.turns != 1 || !may_take_streams_in_turn(spec, lanes, schedule)))
    return broken("turns is 1 for streams of sums over tiles of columns whose elements lie apart");
  if (schedule.ahead && schedule.columns != 0 && rows < 4)
    return broken("ahead is for tiles of 4 or 8 rows at once, and rows in registers");
  if (schedule.blocks && next_block_bytes(spec, schedule.vector_level) == 0)
    return broken("blocks is for columns inside a kept level, a short way from one another");
  if (schedule.far && !schedule.blocks) return broken("far is for columns that ask for the next block");
  if (schedule.columns % lanes_per_step(lanes, spec.inputs[0].dtype) != 0)
    return broken("columns is not a multiple of the lanes");
  const Narrow narrow = narrow_columns(spec, lanes, schedule.vector_level, schedule.searches);
  if (schedule.width != 0 && (schedule.columns == 0 || schedule.ahead || schedule.width != narrow.width ||
                              (narrow.columns > 0 && schedule.columns != narrow.columns)))
    return broken("width is not that of narrow columns");
  if (schedule.columns == 0 &&
      (kernel::reduced_levels(spec) > 1 || kernel::reduced_count(spec) > most_rows_in_registers(lanes)))
    return broken("columns in registers are for one reduced level of at most 16, of indices 64");
  return {};
}

}  // namespace

Schedule choose(const KernelSpec& spec, const target::Target& target) { return choose(spec, target, true); }

Schedule choose_whole(const KernelSpec& spec, const target::Target& target) { return choose(spec, target, false); }

Status check(const kernel::KernelSpec& spec, const Schedule& schedule) {
  if (Status status = kernel::check(spec); !status.ok()) return status;
  if (spec.levels.size() > kernel::kMaxLevels) return broken("too many levels");
  if (schedule.isa == target::Isa::reference) return {Code::unsupported_target, "the reference target has no kernels"};
  if (Status status = check_cut(spec, schedule.tile, false); !status.ok()) return status;
  if (Status status = check_cut(spec, schedule.split, true); !status.ok()) return status;
  if (Status status = check_fields(schedule); !status.ok()) return status;
  if (schedule.columns < 0 || schedule.columns > kMostColumns)
    return broken("columns is not from 0 to " + std::to_string(kMostColumns));
  if (kernel::is_elementwise(spec)) return check_flat(spec, schedule);
  if (schedule.nest == Nest::flat) return broken("a flat kernel reduces nothing");
  if (is_staged(schedule.nest)) return check_staged(spec, schedule);
  const Result<ReduceBody> body = read_body(spec);
  if (!body.ok()) return body.status();
  if (schedule.nest == Nest::packed) return check_packed(spec, body.value(), schedule);
  if (schedule.vector_level < 0 || schedule.vector_level >= static_cast<int>(spec.levels.size()))
    return broken("no such vector level");
  const bool reduced = kernel::level(spec, schedule.vector_level).reduced;
  if (reduced != (schedule.nest == Nest::rows)) return broken("the vector level is not of the nest's kind");
  if (schedule.adds && !may_add(spec, body.value())) return broken("adds is for sums of f16");
  return reduced ? check_rows(spec, body.value(), schedule) : check_columns(spec, body.value(), schedule);
}

}  // namespace tenfold::schedule
