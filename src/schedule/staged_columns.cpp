// SPDX-License-Identifier: Apache-2.0
#include "schedule/staged_columns.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "kernel/passes.hpp"
#include "schedule/around.hpp"
#include "schedule/broken.hpp"
#include "schedule/machine.hpp"
#include "schedule/ordered.hpp"
#include "schedule/stage_traits.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Columns of a tile at most. Wide parts of rows stream best, even where the next pass then finds nothing in the cache:
/// rows whose distance is a multiple of the page meet in few sets of it, so that narrow tiles do not stay there either.
constexpr std::int64_t kTileColumns = 4096;
/// Where elements are written, the values of their rows should stay in L1 beside them.
constexpr std::int64_t kWrittenColumns = 1024;
/// Two inputs come a page of a row at a time, if their rows are longer than so much.
constexpr std::int64_t kPageBytes = 4096, kShortRowBytes = 1024;
/// Rows of blocks, and of two inputs, that are asked for where the machine says so (Machine::StagedColumns).
constexpr std::int64_t kLeastAskedRow = 512;
/// Of few rows of functions, read once more and stored around the caches, fewer columns still.
constexpr std::int64_t kAroundColumns = 512, kFewRowsAround = 256;
/// Passes of functions that are but read have tiles of few rows (kFewRowsColumns) in L2 as well, up to so many rows.
constexpr std::int64_t kFewRowsOfFunctions = 128;
/// Rows of a sweep, of all inputs together: as many lines as a set of L1 holds, as those of rows a multiple of the page
/// apart are all in one.
constexpr int kLinesAtOnce = 8;
/// Of each of three inputs that come in order, where the last cache does not hold them with room to spare.
constexpr int kThreeInOrder = 4;
/// Columns keep so many elements of 32 bits at most, and of so many columns at least. Narrow parts of rows are read
/// slowly, and all of L3 is no place for what is read again.
constexpr std::int64_t kKeptOfColumns = 512 << 10, kLeastPart = 64;
/// Operands of columns that keep: their pointers leave a register for the kept elements.
constexpr std::size_t kMostBesideKept = 4;

/// As many columns as have room beside one another, and kernels for all numbers of rows up to a power of two. Where the
/// last cache holds it all, an output of f32 keeps as well as parts of tiles do, or whole tiles.
void choose_part(const KernelSpec& spec, const target::Target& target, Schedule& schedule) {
  const auto rows = static_cast<std::uint64_t>(kernel::reduced_count(spec));
  schedule.keep =
      std::max<std::int64_t>(static_cast<std::int64_t>(std::bit_ceil(rows)), kKeptOfColumns / schedule.columns);
  schedule.part = kKeptOfColumns / schedule.keep;
  const bool output_keeps = std::any_of(spec.outputs.begin(), spec.outputs.end(),
                                        [](const kernel::Operand& output) { return output.dtype == DType::f32; });
  const bool instead = schedule.part < schedule.columns || machine_of(target).staged_columns.outputs_keep;
  if (output_keeps && instead && !pays_around(spec, schedule.vector_level, target, Expensive::kept))
    schedule.keep = schedule.part = 0;
}

/// With AVX-512 functions are as soon computed again as they are read, unless rows are few and parts of tiles wide.
constexpr std::int64_t kAgainRows = 128;

/// Whether what scratch could keep is computed again instead.
bool computes_again(const KernelSpec& spec, const Schedule& schedule, const target::Target& target) {
  const Machine::StagedColumns& machine = machine_of(target).staged_columns;
  if (machine.computes_again.reached_by(kernel::bytes_read(spec), target)) return true;
  return machine.avx512_computes_again && target.isa != target::Isa::avx2 && kernel::reduced_count(spec) > kAgainRows &&
         pays_around(spec, schedule.vector_level, target, Expensive::kept);
}

/// Whether exponentials are summed before the maximum is known: they are no values that a later pass asks for.
bool reduces_powers(const KernelSpec& spec) {
  return std::ranges::any_of(maxima_in_one_pass(spec), [](int max) { return max >= 0; });
}

/// Inputs of which a sweep of columns reads a line for each step of a row; not those with one element a row.
int moving_lines(const KernelSpec& spec, int vector_level) {
  return static_cast<int>(std::count_if(spec.inputs.begin(), spec.inputs.end(), [&](const kernel::Operand& input) {
    return kernel::moves_along_reduced(spec, input) && input.strides[static_cast<std::size_t>(vector_level)] != 0;
  }));
}

/// Of all inputs that move along what is reduced, per column and row.
std::int64_t moving_bytes(const KernelSpec& spec) {
  std::int64_t bytes = 0;
  for (const kernel::Operand& input : spec.inputs)
    if (kernel::moves_along_reduced(spec, input)) bytes += byte_size(input.dtype);
  return bytes;
}

/// Two inputs that are but read: whether they come a page of a row at a time, instead of in order. Not where a load
/// takes a line of each, nor as long as the last cache holds them with room to spare, nor where a record is more than
/// one reduction's or rows have values of their own besides: those gain by more rows for a record.
bool come_in_pages(const KernelSpec& spec, int vector_level, const target::Target& target) {
  if (spec.inputs.size() != 2 || reductions(spec) != 1) return false;
  const std::int64_t bytes = moving_bytes(spec), width = kernel::level(spec, vector_level).extent;
  const bool loads_lines = target.isa != target::Isa::avx2 && bytes >= 2 * byte_size(DType::f32);
  return !loads_lines && bytes * width > 2 * kShortRowBytes &&
         4 * bytes * kernel::reduced_count(spec) * kernel::kept_count(spec) >= 3 * target.last_cache_bytes();
}

/// Narrow tiles that are but read and compute long ask for the next tile as soon as L2 does not hold all, where that
/// cache is slow to answer.
bool asks_for_next_tile(const KernelSpec& spec, const Schedule& schedule, const target::Target& target) {
  return moving_bytes(spec) >= machine_of(target).staged_columns.asking_tile_bytes && kernel::pass_count(spec) > 1 &&
         expensive_functions(spec) > 0 && !writes_elements(spec) && schedule.columns == kFewRowsColumns &&
         kernel::bytes_read(spec) > target.l2_bytes;
}

/// Two or three inputs that are but read, and come in order, unasked; some pairs in pages, asked for.
void choose_few_in_order(const KernelSpec& spec, int inputs, const target::Target& target, Schedule& schedule) {
  schedule.ahead = asks_for_next_tile(spec, schedule, target);
  if (inputs == 3) {
    schedule.rows_at_once = 2 * inputs * kernel::bytes_read(spec) > target.last_cache_bytes() ? kThreeInOrder : 2;
  } else if (come_in_pages(spec, schedule.vector_level, target)) {
    const auto columns = static_cast<std::uint64_t>(2 * kPageBytes / moving_bytes(spec));
    schedule.columns = std::min(schedule.columns, static_cast<std::int64_t>(std::bit_floor(columns)));
    schedule.rows_at_once = 2;
    schedule.ahead = true;
  } else {
    schedule.rows_at_once = kLinesAtOnce / inputs;
  }
}

std::int64_t moving_row_bytes(const KernelSpec& spec, int vector_level) {
  return moving_bytes(spec) * kernel::level(spec, vector_level).extent;
}

/// Whether one input that is but read asks for its next rows while the last cache may hold it (machine.hpp).
bool asks_in_cache(const KernelSpec& spec, int vector_level, const target::Target& target) {
  const Machine::StagedColumns& machine = machine_of(target).staged_columns;
  if (writes_elements(spec) || moving_lines(spec, vector_level) != 1) return false;
  const std::int64_t bytes = kernel::bytes_read(spec);
  if (expensive_functions(spec) > 0) return machine.functions_ask.reached_by(bytes, target);
  return moving_row_bytes(spec, vector_level) <= kPageBytes && machine.short_rows_ask.reached_by(bytes, target);
}

/// Rows of a sweep of one input. All lines of rows that are a page apart meet in one set of L1, those asked for as
/// well.
int rows_of_one_input(const KernelSpec& spec, int vector_level, const target::Target& target) {
  if (expensive_functions(spec) > 0) return machine_of(target).staged_columns.rows_of_functions;
  const bool fill_set = asks_in_cache(spec, vector_level, target) && moving_row_bytes(spec, vector_level) == kPageBytes;
  return fill_set ? kLinesAtOnce / 2 : kLinesAtOnce;
}

/// Which are seen coming, however many there are.
bool has_tiny_rows(const KernelSpec& spec, int vector_level) {
  return kernel::level(spec, vector_level).extent * byte_size(spec.inputs[0].dtype) < kLeastAskedRow;
}

/// Whether columns lie inside a kept level, in rows that no tile has to be cut from (Machine::StagedColumns).
bool has_short_blocks(const KernelSpec& spec, int vector_level, const target::Target& target) {
  const bool inside = kernel::outermost(spec, false) < vector_level;
  return machine_of(target).staged_columns.short_blocks && inside &&
         kernel::level(spec, vector_level).extent <= kFewRowsColumns && !has_tiny_rows(spec, vector_level);
}

/// How many rows a sweep takes, and whether it asks for the next ones: what comes from memory, or goes there, does
/// better so. Beyond the last cache two inputs leave the set of L1 room for their next lines. One input that is only
/// read asks from half the last cache on, all of which it hardly ever has to itself.
void choose_sweep(const KernelSpec& spec, const target::Target& target, Schedule& schedule) {
  const Machine::StagedColumns& machine = machine_of(target).staged_columns;
  const std::int64_t bytes = kernel::bytes_read(spec);
  const bool written = writes_elements(spec);
  const int inputs = moving_lines(spec, schedule.vector_level);
  if (machine.few_in_order && (inputs == 2 || inputs == 3) && !written)
    return choose_few_in_order(spec, inputs, target, schedule);
  const bool from_memory = inputs * bytes >= target.l3_bytes;
  if (inputs <= 1)
    schedule.rows_at_once = rows_of_one_input(spec, schedule.vector_level, target);
  else
    schedule.rows_at_once = inputs > 2 ? 2 : (from_memory ? kLinesAtOnce / 2 : kLinesAtOnce) / inputs;
  if (inputs == 2 && has_short_blocks(spec, schedule.vector_level, target)) schedule.rows_at_once = kLinesAtOnce / 2;
  const bool hardly_cached = !written && (2 * bytes > target.last_cache_bytes() ||
                                          (inputs == 2 && !has_tiny_rows(spec, schedule.vector_level) &&
                                           machine.two_inputs_ask.reached_by(inputs * bytes, target)));
  schedule.ahead = from_memory || hardly_cached || asks_in_cache(spec, schedule.vector_level, target) ||
                   asks_for_next_tile(spec, schedule, target) || (schedule.around && machine.asks_around);
}

/// Blocks of elements that are stored around the caches go tile by tile up to twice L1, unless they compute long.
bool has_tiles_of_blocks(const KernelSpec& spec, int vector_level, const target::Target& target) {
  if (!has_short_blocks(spec, vector_level, target) || !writes_elements(spec) || expensive_functions(spec) > 0)
    return false;
  const std::int64_t lines = moving_lines(spec, vector_level) * byte_size(spec.inputs[0].dtype);
  return lines * kernel::reduced_count(spec) * kernel::level(spec, vector_level).extent <= 2 * target.l1_bytes &&
         pays_around(spec, vector_level, target, Expensive::through);
}

/// Columns of a tile: as many as leave its rows in L1 where they are few, else by what is written.
std::int64_t choose_columns_of_tile(const KernelSpec& spec, int vector_level, const target::Target& target) {
  if (has_tiles_of_blocks(spec, vector_level, target)) return kFewRowsColumns;
  const std::int64_t rows = kernel::reduced_count(spec);
  const bool written = writes_elements(spec);
  if (moving_bytes(spec) * rows * kFewRowsColumns <= target.l1_bytes) return kFewRowsColumns;
  if (!written && rows <= kFewRowsOfFunctions && expensive_functions(spec) > 0 && kernel::pass_count(spec) > 1)
    return kFewRowsColumns;
  return written ? kWrittenColumns : kTileColumns;
}

std::int64_t tile_bytes(const KernelSpec& spec, const Schedule& schedule) {
  const kernel::Level& along = kernel::level(spec, schedule.vector_level);
  return moving_bytes(spec) * kernel::reduced_count(spec) * std::min(schedule.columns, along.extent);
}

/// Whether passes find in L2 what the last ones of a tile's rows left there, but not the first ones: they then go down
/// the rows and up again by turns.
bool outgrows_cache(const KernelSpec& spec, const Schedule& schedule, const target::Target& target) {
  return kernel::pass_count(spec) > 1 && tile_bytes(spec, schedule) > target.l2_bytes;
}

/// Sweeps that store around the caches take as many rows as those that only read: each is a stream of its own, and a
/// record is loaded once for all. Tiles that find no room in L2 beside what is stored, but in the last cache, are as
/// wide there as if nothing were written.
void store_rows_together(const KernelSpec& spec, const target::Target& target, Schedule& schedule) {
  schedule.stored = kLinesAtOnce;
  const bool cached = kernel::bytes_read(spec) < target.last_cache_bytes();
  if (cached && schedule.keep == 0 && 2 * tile_bytes(spec, schedule) > target.l2_bytes) schedule.columns = kTileColumns;
}

}  // namespace

bool keeps_columns(const KernelSpec& spec) {
  if (kernel::reduced_count(spec) * kLeastPart > kKeptOfColumns || kernel::reduced_count(spec) == 0 ||
      spec.inputs.size() + spec.outputs.size() > kMostBesideKept)
    return false;
  const std::vector<bool> expensive = kernel::expensive_elements(spec);
  return std::any_of(spec.body.begin(), spec.body.end(), [&](const kernel::Node& at) {
    if (at.kind != kernel::Node::Kind::reduce || !expensive[static_cast<std::size_t>(at.args[0])]) return false;
    const DType dtype = kernel::dtype_of(spec, at.args[0]);
    return is_floating(dtype) && byte_size(dtype) <= 4 && is_read_again(spec, at.args[0]);
  });
}

void choose_staged_columns(const KernelSpec& spec, const target::Target& target, Schedule& schedule) {
  schedule.nest = Nest::staged_columns;
  schedule.columns = choose_columns_of_tile(spec, schedule.vector_level, target);
  const Machine& machine = machine_of(target);
  const bool keeps = keeps_columns(spec), powers = keeps && reduces_powers(spec),
             again = powers || (keeps && computes_again(spec, schedule, target));
  if (keeps && !again && machine.staged_columns.scratch_keeps) choose_part(spec, target, schedule);
  const bool only_stores = machine.stores.one_pass_around && kernel::pass_count(spec) == 1;
  const Expensive expensive = powers                                      ? Expensive::powers
                              : schedule.keep > 0 || again || only_stores ? Expensive::kept
                                                                          : Expensive::through;
  schedule.around = pays_around(spec, schedule.vector_level, target, expensive);
  if (schedule.around && machine.staged_columns.narrow_around && expensive_functions(spec) > 0 &&
      kernel::reduced_count(spec) <= kFewRowsAround)
    schedule.columns = std::min(schedule.columns, kAroundColumns);
  if (schedule.around && machine.staged_columns.stores_rows_together) store_rows_together(spec, target, schedule);
  choose_sweep(spec, target, schedule);
  schedule.serpentine = outgrows_cache(spec, schedule, target);
}

Status check_staged_columns(const KernelSpec& spec, const Schedule& schedule) {
  if (scans_in_lanes(spec)) return broken("lanes run along lines of such sums");
  if (schedule.keep > 0 && spec.inputs.size() + spec.outputs.size() > kMostBesideKept)
    return broken("too many operands beside what scratch keeps");
  if ((schedule.part > 0) != (schedule.keep > 0) || schedule.part % 16 != 0 || schedule.part > schedule.columns ||
      (schedule.part > 0 && schedule.keep > kKeptOfColumns / schedule.part))
    return broken("scratch has no room for that part of a tile");
  if (schedule.keep > 0 && reduces_powers(spec)) return broken("scratch keeps no powers");
  if (schedule.serpentine && kernel::pass_count(spec) < 2) return broken("one pass cannot turn back");
  if (schedule.columns < 16 || schedule.columns % 16 != 0) return broken("columns is not a multiple of 16");
  const auto is_sweep = [](int rows) { return rows == 1 || rows == 2 || rows == 4 || rows == 8; };
  if (!is_sweep(schedule.rows_at_once)) return broken("rows is not 1, 2, 4 or 8");
  if (!is_sweep(schedule.stored)) return broken("stored is not 1, 2, 4 or 8");
  if (schedule.stored > 1 && !schedule.around) return broken("stored is for what goes around the caches");
  return {};
}

}  // namespace tenfold::schedule
