// SPDX-License-Identifier: Apache-2.0
#include "schedule/staged.hpp"

#include <algorithm>
#include <bit>

#include "kernel/moments.hpp"
#include "kernel/passes.hpp"
#include "schedule/around.hpp"
#include "schedule/body.hpp"
#include "schedule/turned.hpp"

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
/// A task for threads has at least so many columns; where it has fewer than those of a page, the machine's own
/// prefetching does not get going: softmax of f32 [1000, 4000] in parts of 512 takes 4.4 ms, with prefetches 3.0.
constexpr std::int64_t kTaskColumns = 512;
constexpr std::int64_t kPageColumns = 1024;
/// Elements of 32 bits that scratch keeps of a row: what stays in L2 beside the row itself.
constexpr std::int64_t kKept = 16 << 10;
/// Columns keep so many elements of 32 bits at most, and of so many columns at least. Narrow parts of rows are read
/// slowly, and all of L3 is no place for what is read again: softmax of f32 [1024, 4096] over axis 0 takes 2.13 ms with
/// 256 Ki elements, 1.88 with 512 Ki, 2.05 with 1024 Ki, and 2.56 where the output keeps them.
constexpr std::int64_t kKeptOfColumns = 512 << 10, kLeastPart = 64;
/// Operands of columns that keep: their pointers leave a register for the kept elements.
constexpr std::size_t kMostBesideKept = 4;
/// Rows of which two are taken in turns. LayerNorm of f32 [32768, 128] takes 2.33 ms so, 3.33 row by row, [16384, 256]
/// 1.78 instead of 2.27; [4096, 1024] is slower, as reads and writes come in greater lumps.
constexpr std::int64_t kShortRowBytes = 2048;
/// Where the caches hold what is read and written, lumps do not matter, and rows of so many elements take turns:
/// RMSNorm of f32 [1024, 1024] takes 143 us so instead of 155, with AVX-512 126 instead of 143, softmax of [256, 1024]
/// 72 and 62 instead of 76 and 66, LayerNorm of [512, 1024] 105 and 85 instead of 104 and 91; [2048, 1024] gains
/// nothing, and LayerNorm of [64, 2048] loses 7 %. Of the last cache, inputs have an eighth then. On Zen 5, which asks
/// for the next rows, they do so from anywhere where they compute long or store no element.
constexpr std::int64_t kCachedShortRow = 1024, kCachedPart = 8;
/// A row and the next one beside it are this much at most, which L2 has room for.
constexpr std::int64_t kMostNextRow = 128 << 10;
/// Rows in runs: so many and more, of so many bytes.
constexpr std::int64_t kLeastRunRows = 16, kLeastRunRow = 512, kMostRunRow = 128 << 10;

/// The level whose elements are neighbours in the first input that moves, or else the innermost.
int choose_vector_level(const KernelSpec& spec) {
  const int last = static_cast<int>(spec.levels.size()) - 1;
  for (int level = last; level >= 0; --level)
    if (spec.inputs[0].strides[static_cast<std::size_t>(level)] == 1) return level;
  return last;
}

bool writes_elements(const KernelSpec& spec) {
  const std::vector<bool> per_row = kernel::per_row(spec);
  return std::any_of(spec.stores.begin(), spec.stores.end(),
                     [&](const kernel::Store& store) { return !per_row[static_cast<std::size_t>(store.node)]; });
}

/// Whether no pass has two reductions.
bool reduces_one_at_a_time(const KernelSpec& spec) {
  const std::vector<int> pass = kernel::passes_of(spec);
  std::vector<int> seen;
  for (std::size_t i = 0; i < pass.size(); ++i)
    if (spec.body[i].kind == kernel::Node::Kind::reduce) seen.push_back(pass[i]);
  std::sort(seen.begin(), seen.end());
  return std::adjacent_find(seen.begin(), seen.end()) == seen.end();
}

std::ptrdiff_t reduced_levels(const KernelSpec& spec) {
  return std::count_if(spec.levels.begin(), spec.levels.end(), [](const kernel::Level& l) { return l.reduced; });
}

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

Cut choose_tile(const KernelSpec& spec, const Schedule& schedule, int cores) {
  int level = -1;
  for (int l = 0; l < static_cast<int>(spec.levels.size()); ++l) {
    if (spec.levels[static_cast<std::size_t>(l)].reduced) continue;
    if (level < 0 ||
        spec.levels[static_cast<std::size_t>(l)].extent > spec.levels[static_cast<std::size_t>(level)].extent)
      level = l;
  }
  if (level < 0) return {};
  const std::int64_t extent = spec.levels[static_cast<std::size_t>(level)].extent;
  if (extent == 0) return {};
  const std::int64_t unit_bytes = std::max<std::int64_t>(1, kernel::bytes_read(spec) / extent);
  // A task of columns reads parts of rows: one for each core.
  const bool parts = level == schedule.vector_level;
  std::int64_t grain =
      std::max(divide_up(extent, (parts ? 1 : 4) * std::int64_t{cores}), divide_up(kStagedTaskBytes, unit_bytes));
  if (parts) grain = divide_up(grain, kTaskColumns) * kTaskColumns;
  if (grain >= extent) return {};
  return {level, grain};
}

/// How many steps the pilot of a row's centred moment is the mean of: a sixteenth of the row at least, as what f32
/// rounds grows with how often they fit in it. Along short rows the mean takes longer than another pass; long ones
/// would want more steps than a chain has.
int choose_pilot(const KernelSpec& spec) {
  constexpr std::int64_t kElementsOfStep = 256, kLeast = 512, kMost = kElementsOfStep * kChain;
  const std::int64_t count = kernel::reduced_count(spec);
  if (count < kLeast || count > kMost || reduced_levels(spec) != 1 || !reduces_one_at_a_time(spec)) return 0;
  const std::vector<int> sums = kernel::sums_beside_moments(spec);
  if (std::all_of(sums.begin(), sums.end(), [](int sum) { return sum < 0; })) return 0;
  return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(divide_up(count, kElementsOfStep))));
}

/// Functions of elements that are dear to compute.
std::ptrdiff_t dear_functions(const KernelSpec& spec) {
  const std::vector<bool> per_row = kernel::per_row(spec);
  std::ptrdiff_t count = 0;
  for (std::size_t i = 0; i < spec.body.size(); ++i) {
    count += kernel::is_dear(spec.body[i]) && !per_row[i] ? 1 : 0;
  }
  return count;
}

bool keeps_rows(const KernelSpec& spec) {
  return reduced_levels(spec) == 1 && kernel::reduced_count(spec) <= kKept && kernel::pass_count(spec) > 1 &&
         dear_functions(spec) > 0;
}

/// Whether columns have an f32 that is dear to compute, reduced in one pass and asked for in a later one.
bool keeps_columns(const KernelSpec& spec) {
  if (kernel::reduced_count(spec) * kLeastPart > kKeptOfColumns || kernel::reduced_count(spec) == 0 ||
      spec.inputs.size() + spec.outputs.size() > kMostBesideKept)
    return false;
  const std::vector<bool> per_row = kernel::per_row(spec);
  const std::vector<int> pass = kernel::passes_of(spec);
  const auto is_dear = [&](int node) {
    std::vector<bool> needed(spec.body.size());
    needed[static_cast<std::size_t>(node)] = true;
    for (auto i = static_cast<std::size_t>(node) + 1; i-- > 0;) {
      if (!needed[i] || per_row[i]) continue;
      const kernel::Node& at = spec.body[i];
      if (kernel::is_dear(at)) return true;
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
    return is_floating(dtype) && byte_size(dtype) <= 4 && is_dear(at.args[0]) && is_read_later(at.args[0]);
  });
}

/// As many columns as have room beside one another, and kernels for all numbers of rows up to a power of two. Where the
/// last cache holds it all, an output keeps f32 as well as parts of tiles do: softmax of [2000, 500] takes 0.33 ms so,
/// with parts 0.36.
void choose_part(const KernelSpec& spec, const target::Target& target, Schedule& schedule) {
  const auto rows = static_cast<std::uint64_t>(kernel::reduced_count(spec));
  schedule.keep =
      std::max<std::int64_t>(static_cast<std::int64_t>(std::bit_ceil(rows)), kKeptOfColumns / schedule.columns);
  schedule.part = kKeptOfColumns / schedule.keep;
  const bool output_keeps = std::any_of(spec.outputs.begin(), spec.outputs.end(),
                                        [](const kernel::Operand& output) { return output.dtype == DType::f32; });
  if (output_keeps && schedule.part < schedule.columns && !pays_around(spec, schedule.vector_level, target, true))
    schedule.keep = schedule.part = 0;
}

/// Where the last cache is far away, scratch of columns does not pay: what it drives out of L2, and parts of pages,
/// cost more than an output of f32 that keeps what is dear, and than computing it again where the output has 16 bits or
/// goes around the caches, which it does from so many times the last cache on. On a Xeon with 2 MiB of L2 softmax over
/// axis 0, AVX2 and AVX-512, in scratch, in the output, and again: f32 [1024, 4096] 2.98 and 2.74 ms, 2.37 and 2.24;
/// [1024, 8192] 5.96 and 5.75, 5.04 and 5.01, 5.91 and 4.98; [1024, 16384] 13.8 and 12.4, 13.7 and 12.4, 12.8 and 10.7;
/// [4096, 16384] 83.6 and 82.4, 73.6 and 72.9, 63.6 and 61.0; bf16 [1024, 4096] 2.54 and 2.50, and again 2.47 and 1.92.
constexpr std::int64_t kAgainCaches = 2;

bool computes_again(const KernelSpec& spec, const target::Target& target) {
  return target.far_l3 && kernel::bytes_read(spec) >= kAgainCaches * target.last_cache_bytes();
}

/// Inputs that sweeps read.
int moving_inputs(const KernelSpec& spec) {
  return static_cast<int>(std::count_if(spec.inputs.begin(), spec.inputs.end(), [&](const kernel::Operand& input) {
    return kernel::moves_along_reduced(spec, input);
  }));
}

/// How many rows a sweep takes, and whether it prefetches the next ones: what comes from memory, and goes there, does
/// better so. Beyond the last cache two inputs leave the set of L1 room for their next lines: the maximum of two,
/// [1024, 4096], takes 1399 us with eight rows, 1178 with four, 913 with two and prefetches. One input that is only
/// read does better from half the last cache on, all of which it hardly ever has to itself: absolute maximum times a
/// scale, f32 [1280, 4096] (20 MiB of 32), 829 us and 653; [1024, 4096] takes the same, [768, 4096] 214 us and 239.
/// What goes around the caches does so on Zen 4, not where the last cache is far away: log-softmax of f32 [64, 65536]
/// takes 2.25 and 1.89 ms on a Xeon without prefetches, 2.57 and 2.18 with them. Narrow tiles that are but read and
/// compute long ask for the next one there as soon as L2 does not hold all: log-sum-exp over axis 1 of f32 [64, 64,
/// 1024] takes 1.15 and 0.89 ms instead of 1.21 and 0.96, of [16, 128, 1024] 0.54 and 0.42 instead of 0.65 and 0.53.
/// Two inputs that are but read come four rows at a time on Zen 5, and unasked: the sum of products, [1024, 4096],
/// takes 798 and 700 us so with AVX2 and AVX-512 instead of 876 and 1045, the maximum of two 841 and 738 instead of 987
/// and 903.
void choose_sweep(const KernelSpec& spec, const target::Target& target, Schedule& schedule) {
  const int inputs = moving_inputs(spec);
  const bool from_memory = inputs * kernel::bytes_read(spec) >= target.l3_bytes;
  const bool in_order = target.fast_l3 && inputs == 2 && !writes_elements(spec);
  const int lines = inputs > 1 && from_memory && !in_order ? kLinesAtOnce / 2 : kLinesAtOnce;
  schedule.rows_at_once = inputs > 2 ? 2 : lines / std::max(1, inputs);
  const bool hardly_cached = !writes_elements(spec) && 2 * kernel::bytes_read(spec) > target.last_cache_bytes();
  const bool next_tile = target.far_l3 && kernel::pass_count(spec) > 1 && dear_functions(spec) > 0 &&
                         !writes_elements(spec) && schedule.columns == kFewRowsColumns &&
                         kernel::bytes_read(spec) > target.l2_bytes;
  schedule.ahead = ((from_memory || hardly_cached) && !in_order) || next_tile || (schedule.around && !target.far_l3);
}

/// Of all inputs that move along what is reduced, per column and row.
std::int64_t moving_bytes(const KernelSpec& spec) {
  std::int64_t bytes = 0;
  for (const kernel::Operand& input : spec.inputs)
    if (kernel::moves_along_reduced(spec, input)) bytes += byte_size(input.dtype);
  return bytes;
}

/// Columns of a tile: as many as leave its rows in L1 where they are few, else by what is written.
std::int64_t choose_columns_of_tile(const KernelSpec& spec, const target::Target& target) {
  const std::int64_t rows = kernel::reduced_count(spec);
  const bool written = writes_elements(spec);
  if (moving_bytes(spec) * rows * kFewRowsColumns <= target.l1_bytes) return kFewRowsColumns;
  if (!written && rows <= kFewRowsOfFunctions && dear_functions(spec) > 0 && kernel::pass_count(spec) > 1)
    return kFewRowsColumns;
  return written ? kWrittenColumns : kTileColumns;
}

/// Whether passes find in L2 what the last ones of a tile's rows left there, but not the first ones. x / max |x| of f32
/// [1024, 4096] over axis 0, in tiles of 4 MiB on a core with 2 MiB of L2, takes 1.74 ms instead of 1.88, RMSNorm 1.87
/// instead of 2.04, LayerNorm 2.09 instead of 2.17.
bool outgrows_cache(const KernelSpec& spec, const Schedule& schedule, const target::Target& target) {
  const std::int64_t columns =
      std::min(schedule.columns, spec.levels[static_cast<std::size_t>(schedule.vector_level)].extent);
  return kernel::pass_count(spec) > 1 && moving_bytes(spec) * kernel::reduced_count(spec) * columns > target.l2_bytes;
}

/// Whether the ends of a row, which wait for one another, are long beside its elements, and there is another row.
bool has_short_rows(const KernelSpec& spec, const target::Target& target) {
  const auto last = std::find_if(spec.levels.rbegin(), spec.levels.rend(), [](const auto& l) { return !l.reduced; });
  if (last == spec.levels.rend() || last->extent < 2 || kernel::pass_count(spec) < 2) return false;
  const std::int64_t count = kernel::reduced_count(spec), bytes = count * byte_size(spec.inputs[0].dtype);
  const bool written = writes_elements(spec);
  const bool cached = kCachedPart * kernel::bytes_read(spec) <= target.last_cache_bytes() && written;
  const bool fast = target.fast_l3 && (dear_functions(spec) > 0 || !written);
  return bytes <= kShortRowBytes || ((cached || fast) && count <= kCachedShortRow && bytes <= 2 * kShortRowBytes);
}

/// Whether what follows from a row's reductions has a root or a longer function, one waiting for the other. Four rows
/// take it together then, a lane each. On a Xeon, AVX2 and AVX-512, log-sum-exp of f32 rows of 64 elements takes 26 and
/// 22 ns a row so instead of 37 and 28, LayerNorm of 128 38 and 33 instead of 42 and 38, of 1024 192 and 126 instead of
/// 199 and 142; softmax of 512 153 and 106 instead of 144 and 106. From farther away four long rows are too great a
/// lump: log-sum-exp of [8192, 512] takes 857 us with AVX-512 instead of 797.
bool has_long_ends(const KernelSpec& spec) {
  const std::vector<bool> per_row = kernel::per_row(spec);
  const std::vector<int> pass = kernel::passes_of(spec);
  for (std::size_t i = 0; i < spec.body.size(); ++i) {
    const kernel::Node& node = spec.body[i];
    const bool is_root = node.kind == kernel::Node::Kind::apply && node.function == kernel::Function::sqrt;
    if (per_row[i] && pass[i] > 0 && (is_root || kernel::is_dear(node))) return true;
  }
  return false;
}

bool takes_four(const KernelSpec& spec, const target::Target& target) {
  const std::int64_t row_bytes = kernel::reduced_count(spec) * byte_size(spec.inputs[0].dtype);
  const bool cached = kCachedPart * kernel::bytes_read(spec) <= target.last_cache_bytes();
  const bool fast = target.fast_l3 && !writes_elements(spec);
  return has_long_ends(spec) && (cached || fast || 2 * row_bytes <= kShortRowBytes);
}

/// Whether the second pass asks for the next row, while the first one's is near: where the last cache is far away, and
/// so is what the pass computes from what it waits for. On a Xeon softmax of f32 [4096, 1024] takes 1.42 ms so, with
/// outputs around the caches, instead of 2.25 without both, LayerNorm 1.25 instead of 1.5; a Zen 4 core gains nothing,
/// and softmax took a sixth longer. Zen 5 does, with AVX2 and AVX-512: log-sum-exp of f32 [4096, 1024] takes 869 and
/// 525 us instead of 1002 and 619, [8, 4194304] 6.9 and 4.5 ms instead of 9.7 and 6.9, [65536, 1024] 14.9 and 11.6
/// instead of 16.8 and 13.6.
bool asks_for_next_row(const KernelSpec& spec, const target::Target& target) {
  const bool has_next = std::any_of(spec.levels.begin(), spec.levels.end(), [](const auto& l) { return !l.reduced; });
  const std::int64_t row_bytes = kernel::reduced_count(spec) * byte_size(spec.inputs[0].dtype);
  const bool computes = kernel::pass_count(spec) > 1 || (writes_elements(spec) && dear_functions(spec) > 0);
  return (target.far_l3 || target.fast_l3) && has_next && reduced_levels(spec) == 1 && computes &&
         row_bytes <= kMostNextRow && kernel::bytes_read(spec) > target.l2_bytes;
}

/// Whether a row of each of four runs comes in turn, and asks for the next ones of all: of what memory delivers, and of
/// one input that is read once, where the last cache is far away. On a Xeon, AVX2 and AVX-512, log-sum-exp of f32
/// [65536, 1024] takes 19.4 and 17.7 ms so instead of 29.5 and 30.8, softmax 28.6 and 26.0 instead of 35.1 and 35.4, x
/// / max |x| 23.2 and 22.5 instead of 33.6 and 28.5, variance 15.4 and 14.7 instead of 25.2 and 22.6; of [4096, 1024]
/// max, min and sum 564 and 568 us instead of 650 and 589, but softmax 1527 and 1408 instead of 1358 and 1354.
bool comes_in_runs(const KernelSpec& spec, const target::Target& target) {
  const auto last = std::find_if(spec.levels.rbegin(), spec.levels.rend(), [](const auto& l) { return !l.reduced; });
  if (!target.far_l3 || last == spec.levels.rend() || last->extent < kLeastRunRows || reduced_levels(spec) > 1)
    return false;
  const std::int64_t bytes = kernel::bytes_read(spec);
  const std::int64_t row_bytes = kernel::reduced_count(spec) * byte_size(spec.inputs[0].dtype);
  if (row_bytes < kLeastRunRow || row_bytes > kMostRunRow) return false;
  const bool read_once = kernel::pass_count(spec) == 1 && moving_inputs(spec) == 1 && !writes_elements(spec);
  return bytes > target.last_cache_bytes() || (read_once && bytes > target.l2_bytes);
}

/// Whether dear elements of rows, which go through the caches, ask for the lines that they are stored to on Zen 5, too:
/// of f32 [4096, 1024], AVX2 and AVX-512, log-softmax takes 1187 and 777 us so, with the next row asked for and two
/// rows in turns, instead of 1350 and 1014, softmax 1172 and 798 instead of 1305 and 911.
bool claims_lines_of_rows(const KernelSpec& spec, const Schedule& schedule, const target::Target& target) {
  return target.fast_l3 && dear_functions(spec) > 0 && kernel::bytes_read(spec) > target.l2_bytes &&
         may_claim(spec, schedule.vector_level);
}

}  // namespace

Schedule choose_staged(const KernelSpec& spec, const target::Target& target) {
  if (turned_levels(spec).found()) return choose_turned(spec, target, keeps_columns(spec));
  Schedule schedule;
  schedule.isa = target.isa;
  schedule.vector_level = choose_vector_level(spec);
  if (spec.levels[static_cast<std::size_t>(schedule.vector_level)].reduced) {
    schedule.nest = Nest::staged_rows;
    // Two sets side by side hide latencies; of long programs a vector has enough to do, and they fill the code cache.
    schedule.unroll = reduces_one_at_a_time(spec) && dear_functions(spec) <= 1 ? 2 : 1;
    if (keeps_rows(spec)) schedule.keep = kKept;
    schedule.pilot = choose_pilot(spec);
    schedule.runs = comes_in_runs(spec, target);
    if (!schedule.runs && has_short_rows(spec, target)) schedule.rows_at_once = takes_four(spec, target) ? 4 : 2;
    schedule.around = schedule.rows_at_once == 1 &&
                      pays_around(spec, schedule.vector_level, target,
                                  target.far_l3 && (schedule.keep > 0 || kernel::pass_count(spec) == 1));
    schedule.ahead = schedule.runs || asks_for_next_row(spec, target);
  } else {
    schedule.nest = Nest::staged_columns;
    schedule.columns = choose_columns_of_tile(spec, target);
    const bool keeps = keeps_columns(spec), again = keeps && computes_again(spec, target);
    if (keeps && !target.far_l3) choose_part(spec, target, schedule);
    const bool only_stores = target.far_l3 && kernel::pass_count(spec) == 1;
    schedule.around = pays_around(spec, schedule.vector_level, target, schedule.keep > 0 || again || only_stores);
    if (schedule.around && target.far_l3 && dear_functions(spec) > 0 && kernel::reduced_count(spec) <= kFewRowsAround)
      schedule.columns = std::min(schedule.columns, kAroundColumns);
    choose_sweep(spec, target, schedule);
    schedule.serpentine = outgrows_cache(spec, schedule, target);
  }
  schedule.claim = pays_to_claim(spec, schedule.vector_level, target);
  if (schedule.nest == Nest::staged_rows && claims_lines_of_rows(spec, schedule, target)) schedule.claim = true;
  schedule.tile = choose_tile(spec, schedule, target.cores);
  if (schedule.tile.level == schedule.vector_level && schedule.tile.grain < kPageColumns) schedule.ahead = true;
  return schedule;
}

Status check_staged(const KernelSpec& spec, const Schedule& schedule) {
  const auto broken = [](const std::string& what) { return Status(Code::internal_error, "schedule: " + what); };
  const int levels = static_cast<int>(spec.levels.size());
  if (schedule.isa == target::Isa::reference) return {Code::unsupported_target, "the reference target has no kernels"};
  if (levels > kernel::kMaxLevels) return broken("too many levels");
  if (schedule.vector_level < 0 || schedule.vector_level >= levels) return broken("no such vector level");
  const bool reduced = spec.levels[static_cast<std::size_t>(schedule.vector_level)].reduced;
  if (reduced != (schedule.nest == Nest::staged_rows)) return broken("the vector level is not of the nest's kind");
  if (schedule.split.level >= 0) return broken("a body in stages is split");
  if (spec.inputs.size() > static_cast<std::size_t>(kernel::kMaxInputs) ||
      spec.outputs.size() > static_cast<std::size_t>(kernel::kMaxOutputs))
    return {Code::unsupported_shape, "too many operands for one kernel"};
  if (schedule.width != 0)
    if (Status status = check_turned(spec, schedule); !status.ok()) return status;
  const bool keeps = (!reduced || reduced_levels(spec) == 1) && kernel::reduced_count(spec) <= schedule.keep;
  if (schedule.keep < 0 || (schedule.keep > 0 && !keeps)) return broken("scratch cannot keep a row");
  if (!reduced && schedule.keep > 0 && spec.inputs.size() + spec.outputs.size() > kMostBesideKept)
    return broken("too many operands beside what scratch keeps");
  if ((schedule.part > 0) != (!reduced && schedule.keep > 0) || schedule.part % 16 != 0 ||
      schedule.part > schedule.columns || (schedule.part > 0 && schedule.keep > kKeptOfColumns / schedule.part))
    return broken("scratch has no room for that part of a tile");
  if (schedule.around && !may_go_around(spec, schedule.vector_level))
    return broken("no output can be stored around the caches");
  if (schedule.claim && !may_claim(spec, schedule.vector_level)) return broken("no output has lines to claim");
  if (schedule.pilot != 0 && (!reduced || schedule.pilot != choose_pilot(spec))) return broken("a pilot out of place");
  if (schedule.serpentine && kernel::pass_count(spec) < 2) return broken("one pass cannot turn back");
  if (reduced && schedule.unroll != 1 && schedule.unroll != 2 && schedule.unroll != 4)
    return broken("unroll is not 1, 2 or 4");
  if (!reduced && (schedule.columns < 16 || schedule.columns % 16 != 0 || schedule.columns > (1 << 16)))
    return broken("columns is not a multiple of 16");
  const int rows = schedule.rows_at_once;
  if (rows != 1 && rows != 2 && rows != 4 && (reduced || rows != 8)) return broken("rows is not 1, 2, 4 or 8");
  if (reduced && rows > 1 && schedule.around) return broken("rows that take turns are stored through the caches");
  if (reduced && rows > 1 && reduced_levels(spec) == levels) return broken("there is one row, not several in turns");
  if (reduced && schedule.ahead && reduced_levels(spec) == levels) return broken("there is no next row");
  if (schedule.runs && (!reduced || !schedule.ahead || rows > 1 || reduced_levels(spec) > 1))
    return broken("runs are of rows of one level, and ask for the next ones");
  return {};
}

}  // namespace tenfold::schedule
