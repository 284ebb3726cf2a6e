// SPDX-License-Identifier: Apache-2.0
#include "schedule/staged.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "kernel/moments.hpp"
#include "kernel/passes.hpp"
#include "schedule/around.hpp"
#include "schedule/body.hpp"
#include "schedule/broken.hpp"
#include "schedule/levels.hpp"
#include "schedule/machine.hpp"
#include "schedule/ordered.hpp"
#include "schedule/stage_traits.hpp"
#include "schedule/staged_columns.hpp"
#include "schedule/turned.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// A task for threads has at least so many columns. Those of less than a page of a row ask for the next rows.
constexpr std::int64_t kTaskColumns = 512;
/// Elements of 32 bits that scratch keeps of a row: what stays in L2 beside the row itself.
constexpr std::int64_t kKept = 16 << 10;
/// Rows up to this long take turns in pairs, as their ends wait for one another.
constexpr std::int64_t kShortRowBytes = 2048;
/// Of one pass only those that make so many reductions.
constexpr std::ptrdiff_t kManyReductions = 3;
/// Longer ones do up to so many elements and twice as many bytes where that makes no greater lumps of reads and writes:
/// where inputs are no more than an eighth of the last cache, and where the machine asks for the next rows.
constexpr std::int64_t kCachedShortRow = 1024;
constexpr std::int64_t kCachedPart = 8;
/// A row and the next one beside it are this much at most, which L2 has room for.
constexpr std::int64_t kMostNextRow = 128 << 10;
/// Rows with a pilot, which are read from L2 again, ask for the next one up to this length.
constexpr std::int64_t kMostPilotRow = 16 << 10;
/// Rows of functions that wait for their cache ask for the next one from this length on.
constexpr std::int64_t kLeastAskingRow = 8 << 10;
/// Operands of rows whose last pass trails.
constexpr std::size_t kMostOfTrailing = 4;
/// Rows in runs: so many and more, of so many bytes; of cheap ones alone from two pages on.
constexpr std::int64_t kLeastRunRows = 16, kLeastRunRow = 512, kLeastCheapRunRow = 2048, kMostRunRow = 128 << 10;

bool is_cached(const KernelSpec& spec, const target::Target& target) {
  return kCachedPart * kernel::bytes_read(spec) <= target.last_cache_bytes();
}

Cut tile_along(const KernelSpec& spec, const Schedule& schedule, int level, int cores) {
  if (level < 0) return {};
  const std::int64_t extent = kernel::level(spec, level).extent;
  if (extent == 0) return {};
  const std::int64_t unit_bytes = std::max<std::int64_t>(1, kernel::bytes_read(spec) / extent);
  // A task of columns reads parts of rows: one for each core.
  const bool parts = level == schedule.vector_level;
  std::int64_t grain =
      std::max(divide_up(extent, (parts ? 1 : 4) * std::int64_t{cores}), divide_up(kTaskBytes, unit_bytes));
  if (parts) grain = divide_up(grain, kTaskColumns) * kTaskColumns;
  if (grain >= extent) return {};
  return {level, grain};
}

/// Along the widest kept level; along the one outside, where columns are too few for that.
Cut choose_tile(const KernelSpec& spec, const Schedule& schedule, int cores) {
  const int widest = widest_level(spec, false);
  const Cut tile = tile_along(spec, schedule, widest, cores);
  return tile.level >= 0 ? tile : tile_along(spec, schedule, widest_level(spec, false, widest), cores);
}

/// How many steps the pilot of a row's centred moment is the mean of: a sixteenth of the row at least, as what f32
/// rounds grows with how often they fit in it. Along short rows the mean takes longer than another pass; long ones
/// would want more steps than a chain has.
int choose_pilot(const KernelSpec& spec) {
  constexpr std::int64_t kElementsOfStep = 256, kLeast = 512, kMost = kElementsOfStep * kChain;
  const std::int64_t count = kernel::reduced_count(spec);
  if (count < kLeast || count > kMost || kernel::reduced_levels(spec) != 1 || !reduces_one_at_a_time(spec)) return 0;
  const std::vector<int> sums = kernel::sums_beside_moments(spec);
  if (std::all_of(sums.begin(), sums.end(), [](int sum) { return sum < 0; })) return 0;
  return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(divide_up(count, kElementsOfStep))));
}

bool keeps_rows(const KernelSpec& spec) {
  return kernel::reduced_levels(spec) == 1 && kernel::reduced_count(spec) <= kKept && kernel::pass_count(spec) > 1 &&
         expensive_functions(spec) > 0;
}

/// Whether what follows from a row's reductions has a root or a longer function, one waiting for the other. Four rows
/// take it together then, a lane each; from farther away four long rows are too great a lump.
bool has_long_ends(const KernelSpec& spec) {
  const std::vector<bool> per_row = kernel::per_row(spec);
  const std::vector<int> pass = kernel::passes_of(spec);
  for (std::size_t i = 0; i < spec.body.size(); ++i) {
    const kernel::Node& node = spec.body[i];
    const bool is_root = node.kind == kernel::Node::Kind::apply && node.function == kernel::Function::sqrt;
    if (per_row[i] && pass[i] > 0 && (is_root || kernel::is_expensive(node))) return true;
  }
  return false;
}

/// Whether the ends of a row, which wait for one another, are long beside its elements, and there is another row.
bool has_short_rows(const KernelSpec& spec, const target::Target& target) {
  const int last = kernel::innermost(spec, false);
  if (last < 0 || kernel::level(spec, last).extent < 2) return false;
  const std::int64_t count = kernel::reduced_count(spec), bytes = count * byte_size(spec.inputs[0].dtype);
  if (kernel::pass_count(spec) < 2)
    return bytes <= kShortRowBytes && reductions(spec) >= kManyReductions && has_long_ends(spec);
  const Machine::StagedRows& machine = machine_of(target).staged_rows;
  const bool written = writes_elements(spec);
  const bool anywhere = (machine.read_rows_take_turns && !written) ||
                        (machine.expensive_rows_take_turns && expensive_functions(spec) > 0);
  return bytes <= kShortRowBytes || ((anywhere || (is_cached(spec, target) && written)) && count <= kCachedShortRow &&
                                     bytes <= 2 * kShortRowBytes);
}

bool takes_four(const KernelSpec& spec, const target::Target& target) {
  const std::int64_t row_bytes = kernel::reduced_count(spec) * byte_size(spec.inputs[0].dtype);
  const bool anywhere = machine_of(target).staged_rows.read_rows_take_turns && !writes_elements(spec);
  return has_long_ends(spec) && (is_cached(spec, target) || anywhere || 2 * row_bytes <= kShortRowBytes);
}

/// Whether the last pass has but elements to store, and there is a next row for it to go along with; an operand takes
/// a register, as do the places of two kept rows.
bool may_trail(const KernelSpec& spec, const Schedule& schedule) {
  const int last = kernel::pass_count(spec) - 1;
  if (last < 1 || !writes_elements(spec) || kernel::is_ordered(spec) || kernel::innermost(spec, false) < 0 ||
      kernel::reduced_levels(spec) != 1 || schedule.rows_at_once != 1 || schedule.runs ||
      spec.inputs.size() + spec.outputs.size() > kMostOfTrailing)
    return false;
  const std::vector<int> pass = kernel::passes_of(spec);
  for (std::size_t i = 0; i < spec.body.size(); ++i)
    if (spec.body[i].kind == kernel::Node::Kind::reduce && pass[i] > last) return false;
  return true;
}

/// Whether what is computed hides what stores wait for: 16-bit elements are bound by their conversions all the same,
/// and what a cache of the core's own takes is not waited for.
bool gains_by_trailing(const KernelSpec& spec, const target::Target& target) {
  return machine_of(target).staged_rows.expensive_rows_trail && expensive_functions(spec) > 0 &&
         byte_size(spec.inputs[0].dtype) >= 4 && kernel::bytes_read(spec) > target.l2_bytes;
}

/// Whether long rows of functions wait for the cache that they come from: those that are but read do, are stored past
/// the caches, or narrow. What is stored through them has L2 to itself.
bool waits_for_functions(const KernelSpec& spec, const Schedule& schedule, std::int64_t row_bytes) {
  const bool leaves_room = !writes_elements(spec) || schedule.around || byte_size(spec.inputs[0].dtype) < 4;
  return expensive_functions(spec) > 0 && leaves_room && row_bytes >= kLeastAskingRow;
}

/// Whether the second pass, or the only one, asks for the next row while its own is near: where what it computes would
/// wait for the cache that the row comes from.
bool asks_for_next_row(const KernelSpec& spec, const target::Target& target, const Schedule& schedule) {
  const std::int64_t bytes = kernel::bytes_read(spec);
  const std::int64_t row_bytes = kernel::reduced_count(spec) * byte_size(spec.inputs[0].dtype);
  if (kernel::innermost(spec, false) < 0 || kernel::reduced_levels(spec) != 1 || row_bytes > kMostNextRow) return false;
  const Machine::StagedRows& machine = machine_of(target).staged_rows;
  const bool one_pass = kernel::pass_count(spec) == 1;
  const bool computes = !one_pass || (writes_elements(spec) && expensive_functions(spec) > 0);
  const bool asks = machine.asks_beyond_l2 ||
                    (machine.functions_ask_beyond_l2 && !one_pass && waits_for_functions(spec, schedule, row_bytes));
  if (asks && computes && bytes > target.l2_bytes) return true;
  if (one_pass)
    return machine.one_pass_asks.reached_by(bytes, target) && moving_inputs(spec) * bytes <= target.last_cache_bytes();
  return machine.asks.reached_by(bytes, target) && (schedule.pilot == 0 || row_bytes <= kMostPilotRow);
}

/// Whether it is memory that is asked (Machine::StagedRows). Elements of 16 bits, whose rows take as long and are half
/// as much, are there in time.
bool next_row_is_far(const KernelSpec& spec, const target::Target& target) {
  return machine_of(target).staged_rows.words_ask_far && byte_size(spec.inputs[0].dtype) >= 4 &&
         expensive_functions(spec) > 0 && kernel::bytes_read(spec) >= target.last_cache_bytes();
}

/// Whether a row of each of four runs comes in turn, and asks for the next ones of all: of what memory delivers.
bool comes_in_runs(const KernelSpec& spec, const target::Target& target) {
  const int last = kernel::innermost(spec, false);
  if (last < 0 || kernel::level(spec, last).extent < kLeastRunRows || kernel::reduced_levels(spec) > 1) return false;
  const std::int64_t bytes = kernel::bytes_read(spec), cache = target.last_cache_bytes();
  const std::int64_t row_bytes = kernel::reduced_count(spec) * byte_size(spec.inputs[0].dtype);
  if (row_bytes < kLeastRunRow || row_bytes > kMostRunRow) return false;
  const Machine::StagedRows& machine = machine_of(target).staged_rows;
  const bool written = writes_elements(spec), one_read = moving_inputs(spec) == 1 && !written;
  const bool cheap = expensive_functions(spec) == 0 && row_bytes >= kLeastCheapRunRow;
  if (machine.cheap_runs && bytes >= cache && cheap && (one_read || written)) return true;
  const bool read_once = kernel::pass_count(spec) == 1 && one_read;
  return machine.runs && (bytes > cache || (read_once && bytes > target.l2_bytes));
}

/// Whether expensive elements of rows, which go through the caches, ask for the lines that they are stored to.
bool claims_lines_of_rows(const KernelSpec& spec, const Schedule& schedule, const target::Target& target) {
  return machine_of(target).stores.expensive_rows_claim && expensive_functions(spec) > 0 &&
         kernel::bytes_read(spec) > target.l2_bytes && may_claim(spec, schedule.vector_level);
}

/// Rows that are stored around the caches and ask for the next ones: short ones come in pairs, and the next of a few
/// KiB are asked for half as far again, without which they come too late. Longer rows gain by neither.
void store_rows_around(const KernelSpec& spec, const target::Target& target, Schedule& schedule) {
  constexpr std::int64_t kMostInTurns = 4 << 10, kLeastEarly = 1 << 10, kMostEarly = 8 << 10;
  const std::int64_t row_bytes = kernel::reduced_count(spec) * byte_size(spec.inputs[0].dtype);
  const bool pairs =
      machine_of(target).staged_rows.pairs_around && kernel::bytes_read(spec) < target.last_cache_bytes();
  if (pairs && row_bytes <= kMostInTurns) schedule.rows_at_once = std::max(schedule.rows_at_once, 2);
  const std::int64_t bytes = schedule.rows_at_once * row_bytes;
  schedule.early = kLeastEarly < bytes && bytes <= kMostEarly;
}

Status check_staged_rows(const KernelSpec& spec, const Schedule& schedule) {
  if (schedule.unroll != 1 && schedule.unroll != 2 && schedule.unroll != 4) return broken("unroll is not 1, 2 or 4");
  if (kernel::is_ordered(spec) && (!scans_in_lanes(spec) || schedule.unroll != 1))
    return broken("lanes run along a line in order, a step at a time, of sums from its first element on alone");
  const int rows = schedule.rows_at_once;
  if (rows != 1 && rows != 2 && rows != 4) return broken("rows is not 1, 2 or 4");
  const bool is_one = kernel::reduced_levels(spec) == static_cast<int>(spec.levels.size());
  if (rows > 1 && is_one) return broken("there is one row, not several in turns");
  if (schedule.ahead && is_one) return broken("there is no next row");
  if (schedule.far && (!schedule.ahead || schedule.runs)) return broken("far is for rows that ask for the next one");
  if (schedule.early && (!schedule.ahead || schedule.runs))
    return broken("early is for rows that ask for the next one");
  if (schedule.trails && !may_trail(spec, schedule))
    return broken("what trails stores elements behind reductions, of one row at a time, and few operands");
  if (schedule.runs && (!schedule.ahead || rows > 1 || kernel::reduced_levels(spec) > 1))
    return broken("runs are of rows of one level, and ask for the next ones");
  return {};
}

}  // namespace

Schedule choose_staged(const KernelSpec& spec, const target::Target& target) {
  if (turned_levels(spec).found() && !fill_lanes(spec, target.isa))
    return choose_turned(spec, target, keeps_columns(spec));
  Schedule schedule;
  schedule.isa = target.isa;
  schedule.vector_level = vector_level_of(spec, spec.inputs[0]);
  if (kernel::level(spec, schedule.vector_level).reduced) {
    schedule.nest = Nest::staged_rows;
    // Two sets side by side hide latencies; of long programs a vector has enough to do, and they fill the code cache.
    schedule.unroll = reduces_one_at_a_time(spec) && expensive_functions(spec) <= 1 ? 2 : 1;
    if (keeps_rows(spec)) schedule.keep = kKept;
    schedule.pilot = choose_pilot(spec);
    schedule.runs = comes_in_runs(spec, target);
    if (!schedule.runs && has_short_rows(spec, target)) schedule.rows_at_once = takes_four(spec, target) ? 4 : 2;
    const Machine& machine = machine_of(target);
    const bool turns_around = expensive_functions(spec) == 0 ? machine.staged_rows.cheap_turns_around
                                                             : machine.staged_rows.expensive_turns_around;
    const bool expensive_around = (schedule.keep > 0 && kept_rows_go_around(spec, schedule.vector_level, target)) ||
                                  (machine.stores.one_pass_around && kernel::pass_count(spec) == 1);
    const Expensive expensive = expensive_around ? Expensive::kept : Expensive::through;
    schedule.around =
        (schedule.rows_at_once == 1 || turns_around) && pays_around(spec, schedule.vector_level, target, expensive);
    schedule.ahead = schedule.runs || asks_for_next_row(spec, target, schedule);
    schedule.far = schedule.ahead && !schedule.runs && next_row_is_far(spec, target);
    if (schedule.around && schedule.ahead && !schedule.runs && turns_around) store_rows_around(spec, target, schedule);
    schedule.trails = gains_by_trailing(spec, target) && may_trail(spec, schedule);
  } else {
    choose_staged_columns(spec, target, schedule);
  }
  schedule.claim = pays_to_claim(spec, schedule.vector_level, target);
  if (schedule.nest == Nest::staged_rows && claims_lines_of_rows(spec, schedule, target)) schedule.claim = true;
  schedule.tile = choose_tile(spec, schedule, target.cores);
  if (schedule.tile.level == schedule.vector_level && schedule.tile.grain < kPageElements) schedule.ahead = true;
  return schedule;
}

Status check_staged(const KernelSpec& spec, const Schedule& schedule) {
  const int levels = static_cast<int>(spec.levels.size());
  if (schedule.vector_level < 0 || schedule.vector_level >= levels) return broken("no such vector level");
  const bool reduced = kernel::level(spec, schedule.vector_level).reduced;
  if (reduced != (schedule.nest == Nest::staged_rows)) return broken("the vector level is not of the nest's kind");
  if (spec.inputs.size() > static_cast<std::size_t>(kernel::kMaxInputs) ||
      spec.outputs.size() > static_cast<std::size_t>(kernel::most_outputs(spec)))
    return {Code::unsupported_shape, "too many operands for one kernel"};
  if (schedule.width != 0)
    if (Status status = check_turned(spec, schedule); !status.ok()) return status;
  const bool keeps = (!reduced || kernel::reduced_levels(spec) == 1) && kernel::reduced_count(spec) <= schedule.keep;
  if (schedule.skips && places_of(spec) == 0) return broken("no step can be left out");
  if (schedule.keep < 0 || (schedule.keep > 0 && !keeps)) return broken("scratch cannot keep a row");
  if (schedule.around && !may_go_around(spec, schedule.vector_level))
    return broken("no output can be stored around the caches");
  if (schedule.claim && !may_claim(spec, schedule.vector_level)) return broken("no output has lines to claim");
  if (schedule.pilot != 0 && schedule.pilot != choose_pilot(spec)) return broken("a pilot out of place");
  return reduced ? check_staged_rows(spec, schedule) : check_staged_columns(spec, schedule);
}

}  // namespace tenfold::schedule
