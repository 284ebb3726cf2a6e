// SPDX-License-Identifier: Apache-2.0
#include "schedule/staged_columns.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "kernel/passes.hpp"
#include "schedule/around.hpp"
#include "schedule/stage_traits.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Columns of a tile at most. Wide parts of rows stream best, even where the next pass then finds nothing in the cache:
/// rows whose distance is a multiple of the page meet in few sets of it, so that narrow tiles do not stay there either.
/// Variance of f32 [4096, 8192] over axis 0, in two passes, took 15.9 ms with 256 columns, 13.0 with 1024, 12.6 with
/// 4096.
constexpr std::int64_t kTileColumns = 4096;
/// Where elements are written, with values of their rows, these should stay in L1: x / max |x| of f32 [1024, 4096]
/// takes 2.1 ms with 4096 columns, 1.75 with 1024, 2.6 with 512 and prefetches; LayerNorm 2.66, 2.49, 2.7.
constexpr std::int64_t kWrittenColumns = 1024;
/// Of few rows of exponentials, read once more and stored around the caches, fewer columns still: log-softmax of f32
/// [64, 65536] takes 2.15 and 1.80 ms so on a Xeon instead of 2.25 and 1.89, but of [1024, 4096] 2.78 instead of 2.67.
constexpr std::int64_t kAroundColumns = 512, kFewRowsAround = 256;
/// Passes of exponentials that only read like it in L2 as well: log-sum-exp of f32 [64, 64, 1024] over axis 0
/// takes 1.29 and 1.11 ms so instead of 1.43 and 1.31, [128, 32768] 1.37 and 1.15 instead of 1.45 and 1.24; variance of
/// [64, 65536] would take up to a tenth longer.
constexpr std::int64_t kFewRowsOfFunctions = 128;
/// Rows of a sweep, of all inputs together: as many lines as a set of L1 holds, for those of rows a multiple of the
/// page apart are all in one. Absolute maximum, f32 [1024, 4096], 347 us, with four 445; max, min and sum 505 and 647;
/// max of the maximum of two [256, 4096] 241 us with eight of each, 172 with four.
constexpr int kLinesAtOnce = 8;
/// Columns keep so many elements of 32 bits at most, and of so many columns at least. Narrow parts of rows are read
/// slowly, and all of L3 is no place for what is read again: softmax of f32 [1024, 4096] over axis 0 takes 2.13 ms with
/// 256 Ki elements, 1.88 with 512 Ki, 2.05 with 1024 Ki, and 2.56 where the output keeps them.
constexpr std::int64_t kKeptOfColumns = 512 << 10, kLeastPart = 64;
/// Operands of columns that keep: their pointers leave a register for the kept elements.
constexpr std::size_t kMostBesideKept = 4;

/// As many columns as have room beside one another, and kernels for all numbers of rows up to a power of two. Where the
/// last cache holds it all, an output keeps f32 as well as parts of tiles do: softmax of [2000, 500] takes 0.33 ms so,
/// with parts 0.36. On Zen 3 it does as well as whole tiles: of [100, 40000] 0.85 of the time in scratch, of [64,
/// 1024], [100, 4000] and [256, 8192] 0.9 to 0.96, of [200, 4096] 0.98.
void choose_part(const KernelSpec& spec, const target::Target& target, Schedule& schedule) {
  const auto rows = static_cast<std::uint64_t>(kernel::reduced_count(spec));
  schedule.keep =
      std::max<std::int64_t>(static_cast<std::int64_t>(std::bit_ceil(rows)), kKeptOfColumns / schedule.columns);
  schedule.part = kKeptOfColumns / schedule.keep;
  const bool output_keeps = std::any_of(spec.outputs.begin(), spec.outputs.end(),
                                        [](const kernel::Operand& output) { return output.dtype == DType::f32; });
  if (output_keeps && (schedule.part < schedule.columns || target.late_l3()) &&
      !pays_around(spec, schedule.vector_level, target, true))
    schedule.keep = schedule.part = 0;
}

/// Where the last cache is far away, scratch of columns does not pay: what it drives out of L2, and parts of pages,
/// cost more than an output of f32 that keeps what is expensive, and than computing it again where the output has 16
/// bits or goes around the caches, which it does from so many times the last cache on. On a Xeon with 2 MiB of L2
/// softmax over axis 0, AVX2 and AVX-512, in scratch, in the output, and again: f32 [1024, 4096] 2.98 and 2.74 ms, 2.37
/// and 2.24; [1024, 8192] 5.96 and 5.75, 5.04 and 5.01, 5.91 and 4.98; [1024, 16384] 13.8 and 12.4, 13.7 and 12.4, 12.8
/// and 10.7; [4096, 16384] 83.6 and 82.4, 73.6 and 72.9, 63.6 and 61.0; bf16 [1024, 4096] 2.54 and 2.50, and again 2.47
/// and 1.92.
///
/// Where the last cache is fast, exponentials with AVX-512 are as soon computed again as they are read, unless rows are
/// few and parts of tiles wide. On Zen 5 softmax of f32 [1024, 4096] over axis 0 takes 0.85 of the time so, [1000,
/// 4000] 0.74, [2048, 4096] 0.76, [200, 20000] 0.88, [4096, 4096] 0.84, but [64, 65536] 1.06; [1024, 4096] of bf16,
/// which goes through the caches, 1.06, and f32 with AVX2 1.12.
constexpr std::int64_t kAgainCaches = 2, kAgainRows = 128;

bool computes_again(const KernelSpec& spec, const Schedule& schedule, const target::Target& target) {
  if (target.far_l3()) return kernel::bytes_read(spec) >= kAgainCaches * target.last_cache_bytes();
  return target.fast_l3() && target.isa != target::Isa::avx2 && kernel::reduced_count(spec) > kAgainRows &&
         pays_around(spec, schedule.vector_level, target, true);
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

constexpr std::int64_t kWideBytes = 4;  ///< of an element, and more

/// How many rows a sweep takes, and whether it prefetches the next ones: what comes from memory, and goes there, does
/// better so. Beyond the last cache two inputs leave the set of L1 room for their next lines: the maximum of two,
/// [1024, 4096], takes 1399 us with eight rows, 1178 with four, 913 with two and prefetches. One input that is only
/// read does better from half the last cache on, all of which it hardly ever has to itself: absolute maximum times a
/// scale, f32 [1280, 4096] (20 MiB of 32), 829 us and 653; [1024, 4096] takes the same, [768, 4096] 214 us and 239.
/// What goes around the caches does so on Zen 4, not where the last cache is far away, or fast: log-softmax of f32 [64,
/// 65536] takes 2.25 and 1.89 ms on a Xeon without prefetches, 2.57 and 2.18 with them, on Zen 5 1.57 and 1.22, with
/// them 1.68 and 1.46. Narrow tiles that are but read and compute long ask for the next one there as soon as L2 does
/// not hold all: log-sum-exp over axis 1 of f32 [64, 64, 1024] takes 1.15 and 0.89 ms instead of 1.21 and 0.96, of [16,
/// 128, 1024] 0.54 and 0.42 instead of 0.65 and 0.53; so does f32 on Zen 5, of [64, 65536] over axis 0 0.86 and 0.87 of
/// the time, of [64, 64, 1024] over axis 1 0.87 and 0.90, of [4096, 1024] over axis 0 0.91 and 0.92, but of f16 0.99
/// and 1.06, and on Zen 3 f32 of [64, 64, 1024] over axis 1 0.85, half of that 0.92. Two inputs that are but read come
/// four rows at a time on Zen 5, and unasked: the sum of products, [1024, 4096], takes 798 and 700 us so with AVX2 and
/// AVX-512 instead of 876 and 1045, the maximum of two 841 and 738 instead of 987 and 903.
void choose_sweep(const KernelSpec& spec, const target::Target& target, Schedule& schedule) {
  const int inputs = moving_lines(spec, schedule.vector_level);
  const bool from_memory = inputs * kernel::bytes_read(spec) >= target.l3_bytes;
  const bool in_order = target.fast_l3() && inputs == 2 && !writes_elements(spec);
  const int lines = inputs > 1 && from_memory && !in_order ? kLinesAtOnce / 2 : kLinesAtOnce;
  schedule.rows_at_once = inputs > 2 ? 2 : lines / std::max(1, inputs);
  const bool hardly_cached = !writes_elements(spec) && 2 * kernel::bytes_read(spec) > target.last_cache_bytes();
  const bool waits = target.far_l3() || target.late_l3() || (target.fast_l3() && moving_bytes(spec) >= kWideBytes);
  const bool next_tile = waits && kernel::pass_count(spec) > 1 && expensive_functions(spec) > 0 &&
                         !writes_elements(spec) && schedule.columns == kFewRowsColumns &&
                         kernel::bytes_read(spec) > target.l2_bytes;
  schedule.ahead = ((from_memory || hardly_cached) && !in_order) || next_tile ||
                   (schedule.around && !target.far_l3() && !target.fast_l3());
}

/// Columns of a tile: as many as leave its rows in L1 where they are few, else by what is written.
std::int64_t choose_columns_of_tile(const KernelSpec& spec, const target::Target& target) {
  const std::int64_t rows = kernel::reduced_count(spec);
  const bool written = writes_elements(spec);
  if (moving_bytes(spec) * rows * kFewRowsColumns <= target.l1_bytes) return kFewRowsColumns;
  if (!written && rows <= kFewRowsOfFunctions && expensive_functions(spec) > 0 && kernel::pass_count(spec) > 1)
    return kFewRowsColumns;
  return written ? kWrittenColumns : kTileColumns;
}

std::int64_t tile_bytes(const KernelSpec& spec, const Schedule& schedule) {
  const kernel::Level& along = spec.levels[static_cast<std::size_t>(schedule.vector_level)];
  return moving_bytes(spec) * kernel::reduced_count(spec) * std::min(schedule.columns, along.extent);
}

/// Whether passes find in L2 what the last ones of a tile's rows left there, but not the first ones. x / max |x| of f32
/// [1024, 4096] over axis 0, in tiles of 4 MiB on a core with 2 MiB of L2, takes 1.74 ms instead of 1.88, RMSNorm 1.87
/// instead of 2.04, LayerNorm 2.09 instead of 2.17.
bool outgrows_cache(const KernelSpec& spec, const Schedule& schedule, const target::Target& target) {
  return kernel::pass_count(spec) > 1 && tile_bytes(spec, schedule) > target.l2_bytes;
}

/// Where the last cache is near and fast, sweeps that store around it take as many rows as those that only read: each
/// is a stream of its own, and a record is loaded once for all. Tiles that find no room in L2 beside what is stored,
/// but in the last cache, are as wide there as if nothing were written. On Zen 5, AVX2 and AVX-512, over axis 0 of f32
/// [1024, 4096]: x / max |x| takes 0.75 and 0.77 of the time of one row at a time in 1024 columns, RMSNorm 0.69 and
/// 0.71, log-softmax 0.80 and 0.83; of [64, 65536], in 1024 columns, 0.68 and 0.73, 0.70 and 0.79, 0.87 and 0.72, in
/// 4096 up to 1.1; of [1024, 16384], from memory, x / max |x| 0.71 and 0.70, in 4096 columns 0.81 and 0.83.
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
  const std::vector<bool> per_row = kernel::per_row(spec);
  const std::vector<int> pass = kernel::passes_of(spec);
  const auto is_expensive = [&](int node) {
    std::vector<bool> needed(spec.body.size());
    needed[static_cast<std::size_t>(node)] = true;
    for (auto i = static_cast<std::size_t>(node) + 1; i-- > 0;) {
      if (!needed[i] || per_row[i]) continue;
      const kernel::Node& at = spec.body[i];
      if (kernel::is_expensive(at)) return true;
      for (const int arg : at.args) needed[static_cast<std::size_t>(arg)] = true;
    }
    return false;
  };
  const auto is_read_later = [&](int node) {
    std::vector<bool> reads(spec.body.size());
    const int own = pass[static_cast<std::size_t>(node)];
    reads[static_cast<std::size_t>(node)] = true;
    for (std::size_t i = 0; i < spec.body.size(); ++i)
      for (const int arg : spec.body[i].args)
        if (reads[static_cast<std::size_t>(arg)] && !per_row[i]) reads[i] = true;
    return std::any_of(spec.stores.begin(), spec.stores.end(), [&](const kernel::Store& store) {
      return reads[static_cast<std::size_t>(store.node)] && pass[static_cast<std::size_t>(store.node)] > own;
    });
  };
  return std::any_of(spec.body.begin(), spec.body.end(), [&](const kernel::Node& at) {
    if (at.kind != kernel::Node::Kind::reduce || per_row[static_cast<std::size_t>(at.args[0])]) return false;
    const DType dtype = kernel::dtype_of(spec, at.args[0]);
    return is_floating(dtype) && byte_size(dtype) <= 4 && is_expensive(at.args[0]) && is_read_later(at.args[0]);
  });
}

void choose_staged_columns(const KernelSpec& spec, const target::Target& target, Schedule& schedule) {
  schedule.nest = Nest::staged_columns;
  schedule.columns = choose_columns_of_tile(spec, target);
  const bool keeps = keeps_columns(spec), again = keeps && computes_again(spec, schedule, target);
  if (keeps && !again && !target.far_l3()) choose_part(spec, target, schedule);
  const bool only_stores = target.far_l3() && kernel::pass_count(spec) == 1;
  schedule.around = pays_around(spec, schedule.vector_level, target, schedule.keep > 0 || again || only_stores);
  if (schedule.around && target.far_l3() && expensive_functions(spec) > 0 &&
      kernel::reduced_count(spec) <= kFewRowsAround)
    schedule.columns = std::min(schedule.columns, kAroundColumns);
  if (schedule.around && target.fast_l3()) store_rows_together(spec, target, schedule);
  choose_sweep(spec, target, schedule);
  schedule.serpentine = outgrows_cache(spec, schedule, target);
}

Status check_staged_columns(const KernelSpec& spec, const Schedule& schedule) {
  const auto broken = [](const std::string& what) { return Status(Code::internal_error, "schedule: " + what); };
  if (schedule.keep > 0 && spec.inputs.size() + spec.outputs.size() > kMostBesideKept)
    return broken("too many operands beside what scratch keeps");
  if ((schedule.part > 0) != (schedule.keep > 0) || schedule.part % 16 != 0 || schedule.part > schedule.columns ||
      (schedule.part > 0 && schedule.keep > kKeptOfColumns / schedule.part))
    return broken("scratch has no room for that part of a tile");
  if (schedule.serpentine && kernel::pass_count(spec) < 2) return broken("one pass cannot turn back");
  if (schedule.columns < 16 || schedule.columns % 16 != 0 || schedule.columns > (1 << 16))
    return broken("columns is not a multiple of 16");
  const auto is_sweep = [](int rows) { return rows == 1 || rows == 2 || rows == 4 || rows == 8; };
  if (!is_sweep(schedule.rows_at_once)) return broken("rows is not 1, 2, 4 or 8");
  if (!is_sweep(schedule.stored)) return broken("stored is not 1, 2, 4 or 8");
  if (schedule.stored > 1 && !schedule.around) return broken("stored is for what goes around the caches");
  return {};
}

}  // namespace tenfold::schedule
