// SPDX-License-Identifier: Apache-2.0
#include "schedule/staged.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "kernel/moments.hpp"
#include "kernel/passes.hpp"
#include "schedule/around.hpp"
#include "schedule/body.hpp"
#include "schedule/levels.hpp"
#include "schedule/stage_traits.hpp"
#include "schedule/staged_columns.hpp"
#include "schedule/turned.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// A task for threads has at least so many columns; where it has fewer than those of a page, the machine's own
/// prefetching does not get going: softmax of f32 [1000, 4000] in parts of 512 takes 4.4 ms, with prefetches 3.0.
constexpr std::int64_t kTaskColumns = 512;
constexpr std::int64_t kPageColumns = 1024;
/// Elements of 32 bits that scratch keeps of a row: what stays in L2 beside the row itself.
constexpr std::int64_t kKept = 16 << 10;
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
/// Where rows are late (target::L3::late), they are asked for from this part of the last cache on, of what takes one
/// pass from another one, those of a centred moment up to so many bytes. Runs are of longer rows there.
constexpr std::int64_t kLatePart = 6, kLatePartOfOnePass = 5, kMostLateRow = 16 << 10, kLeastLateRunRow = 2048;
/// Rows in runs: so many and more, of so many bytes.
constexpr std::int64_t kLeastRunRows = 16, kLeastRunRow = 512, kMostRunRow = 128 << 10;

Cut choose_tile(const KernelSpec& spec, const Schedule& schedule, int cores) {
  const int level = widest_level(spec, false);
  if (level < 0) return {};
  const std::int64_t extent = spec.levels[static_cast<std::size_t>(level)].extent;
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

bool keeps_rows(const KernelSpec& spec) {
  return reduced_levels(spec) == 1 && kernel::reduced_count(spec) <= kKept && kernel::pass_count(spec) > 1 &&
         expensive_functions(spec) > 0;
}

/// Whether the ends of a row, which wait for one another, are long beside its elements, and there is another row.
bool has_short_rows(const KernelSpec& spec, const target::Target& target) {
  const auto last = std::find_if(spec.levels.rbegin(), spec.levels.rend(), [](const auto& l) { return !l.reduced; });
  if (last == spec.levels.rend() || last->extent < 2 || kernel::pass_count(spec) < 2) return false;
  const std::int64_t count = kernel::reduced_count(spec), bytes = count * byte_size(spec.inputs[0].dtype);
  const bool written = writes_elements(spec);
  const bool cached = kCachedPart * kernel::bytes_read(spec) <= target.last_cache_bytes() && written;
  const bool fast = (target.fast_l3() && (expensive_functions(spec) > 0 || !written)) || (target.late_l3() && !written);
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
    if (per_row[i] && pass[i] > 0 && (is_root || kernel::is_expensive(node))) return true;
  }
  return false;
}

bool takes_four(const KernelSpec& spec, const target::Target& target) {
  const std::int64_t row_bytes = kernel::reduced_count(spec) * byte_size(spec.inputs[0].dtype);
  const bool cached = kCachedPart * kernel::bytes_read(spec) <= target.last_cache_bytes();
  const bool fast = (target.fast_l3() || target.late_l3()) && !writes_elements(spec);
  return has_long_ends(spec) && (cached || fast || 2 * row_bytes <= kShortRowBytes);
}

/// The same where rows are late. On Zen 3, f32, of the time unasked: [4096, 1024] x / max |x| 0.65, RMSNorm 0.70,
/// LayerNorm 0.72, softmax 0.73, log-softmax 0.66, variance 0.66, log-sum-exp 0.76, max |x| times a scale 0.84, max of
/// two 0.8; [256, 16384] x / max |x| 0.78, log-softmax 0.73, but LayerNorm 1.03, of [512, 8192] 1.05, of [1024, 8192]
/// 1.14; of [1024, 1024] RMSNorm 1.14. What takes one pass gains by it from its part of the last cache on, and loses
/// again beyond it: max of two [1024, 1024] 1.11, [1024, 8192] 1.13, max |x| times a scale [32768, 1024] 1.12.
bool asks_for_late_row(const KernelSpec& spec, const target::Target& target, std::int64_t row_bytes, bool has_pilot) {
  const std::int64_t bytes = kernel::bytes_read(spec), cache = target.last_cache_bytes();
  if (kernel::pass_count(spec) == 1) return kLatePartOfOnePass * bytes > cache && moving_inputs(spec) * bytes <= cache;
  return kLatePart * bytes > cache && (!has_pilot || row_bytes <= kMostLateRow);
}

/// Whether the second pass asks for the next row, while the first one's is near: where the last cache is far away, and
/// so is what the pass computes from what it waits for. On a Xeon softmax of f32 [4096, 1024] takes 1.42 ms so, with
/// outputs around the caches, instead of 2.25 without both, LayerNorm 1.25 instead of 1.5; a Zen 4 core gains nothing,
/// and softmax took a sixth longer. Zen 5 does, with AVX2 and AVX-512: log-sum-exp of f32 [4096, 1024] takes 869 and
/// 525 us instead of 1002 and 619, [8, 4194304] 6.9 and 4.5 ms instead of 9.7 and 6.9, [65536, 1024] 14.9 and 11.6
/// instead of 16.8 and 13.6.
bool asks_for_next_row(const KernelSpec& spec, const target::Target& target, const Schedule& schedule) {
  const bool has_next = std::any_of(spec.levels.begin(), spec.levels.end(), [](const auto& l) { return !l.reduced; });
  const std::int64_t row_bytes = kernel::reduced_count(spec) * byte_size(spec.inputs[0].dtype);
  if (!has_next || reduced_levels(spec) != 1 || row_bytes > kMostNextRow) return false;
  if (target.late_l3()) return asks_for_late_row(spec, target, row_bytes, schedule.pilot > 0);
  const bool computes = kernel::pass_count(spec) > 1 || (writes_elements(spec) && expensive_functions(spec) > 0);
  return (target.far_l3() || target.fast_l3()) && computes && kernel::bytes_read(spec) > target.l2_bytes;
}

/// Whether a row of each of four runs comes in turn, and asks for the next ones of all: of what memory delivers, and of
/// one input that is read once, where the last cache is far away. On a Xeon, AVX2 and AVX-512, log-sum-exp of f32
/// [65536, 1024] takes 19.4 and 17.7 ms so instead of 29.5 and 30.8, softmax 28.6 and 26.0 instead of 35.1 and 35.4, x
/// / max |x| 23.2 and 22.5 instead of 33.6 and 28.5, variance 15.4 and 14.7 instead of 25.2 and 22.6; of [4096, 1024]
/// max, min and sum 564 and 568 us instead of 650 and 589, but softmax 1527 and 1408 instead of 1358 and 1354. On Zen
/// 3, where it is not more than memory has to deliver, of the time of asking for the next row: [4096, 4096] x / max |x|
/// 0.75, RMSNorm 0.79, variance 0.72, [32768, 1024] 0.94, 1.05 and 0.79, max, min and sum 0.85; softmax 1.04 and 1.35.
bool comes_in_runs(const KernelSpec& spec, const target::Target& target) {
  const auto last = std::find_if(spec.levels.rbegin(), spec.levels.rend(), [](const auto& l) { return !l.reduced; });
  if (last == spec.levels.rend() || last->extent < kLeastRunRows || reduced_levels(spec) > 1) return false;
  const std::int64_t bytes = kernel::bytes_read(spec);
  const std::int64_t row_bytes = kernel::reduced_count(spec) * byte_size(spec.inputs[0].dtype);
  if (row_bytes < kLeastRunRow || row_bytes > kMostRunRow) return false;
  const bool one_read = moving_inputs(spec) == 1 && !writes_elements(spec);
  if (target.late_l3())
    return bytes >= target.last_cache_bytes() && row_bytes >= kLeastLateRunRow && expensive_functions(spec) == 0 &&
           (one_read || writes_elements(spec));
  if (!target.far_l3()) return false;
  const bool read_once = kernel::pass_count(spec) == 1 && one_read;
  return bytes > target.last_cache_bytes() || (read_once && bytes > target.l2_bytes);
}

/// Whether expensive elements of rows, which go through the caches, ask for the lines that they are stored to on Zen 5,
/// too: of f32 [4096, 1024], AVX2 and AVX-512, log-softmax takes 1187 and 777 us so, with the next row asked for and
/// two rows in turns, instead of 1350 and 1014, softmax 1172 and 798 instead of 1305 and 911.
bool claims_lines_of_rows(const KernelSpec& spec, const Schedule& schedule, const target::Target& target) {
  return target.fast_l3() && expensive_functions(spec) > 0 && kernel::bytes_read(spec) > target.l2_bytes &&
         may_claim(spec, schedule.vector_level);
}

/// Where the last cache is fast, rows that are stored around it take turns up to 4 KiB, and the next ones are asked for
/// half as far again, without which they come too late; log-softmax, whose lines are claimed, would take 1.05. On Zen
/// 5, AVX2 and AVX-512, f32 over the last axis, of the time without both (short rows: of turns, and stores through the
/// caches): x / max |x| of [4096, 1024] 0.93 and 0.87, RMSNorm 0.82 and 0.87, LayerNorm 0.87 and 0.85; of [8192, 512]
/// 0.81 and 0.62, 0.88 and 0.69, 0.93 and 0.81; of [16384, 256] 0.95 and 0.75, 0.85 and 0.82, 0.95 and 0.88; of
/// [131072, 512], from memory, 0.84 and 0.92, 0.89 and 0.74. Longer rows take no turns: of [2048, 2048], asked for
/// early, 0.90 and 0.90, 0.89 and 1.0, 0.94 and 0.90; of 16 KiB they gain nothing by it, and from memory those of 4 KiB
/// nothing by turns. Zen 3 gains by what is early alone: of f32 [3072, 1024], of what is asked for in time for the next
/// row, 0.96, [4096, 1024] 0.96, [8192, 512] 0.94.
void store_rows_around(const KernelSpec& spec, const target::Target& target, Schedule& schedule) {
  constexpr std::int64_t kMostInTurns = 4 << 10, kLeastEarly = 1 << 10, kMostEarly = 8 << 10;
  const std::int64_t row_bytes = kernel::reduced_count(spec) * byte_size(spec.inputs[0].dtype);
  const bool cached = kernel::bytes_read(spec) < target.last_cache_bytes() && !target.late_l3();
  if (cached && row_bytes <= kMostInTurns) schedule.rows_at_once = std::max(schedule.rows_at_once, 2);
  const std::int64_t bytes = schedule.rows_at_once * row_bytes;
  schedule.early = kLeastEarly < bytes && bytes <= kMostEarly;
}

Status check_staged_rows(const KernelSpec& spec, const Schedule& schedule) {
  const auto broken = [](const std::string& what) { return Status(Code::internal_error, "schedule: " + what); };
  if (schedule.unroll != 1 && schedule.unroll != 2 && schedule.unroll != 4) return broken("unroll is not 1, 2 or 4");
  const int rows = schedule.rows_at_once;
  if (rows != 1 && rows != 2 && rows != 4) return broken("rows is not 1, 2 or 4");
  const bool is_one = reduced_levels(spec) == static_cast<std::ptrdiff_t>(spec.levels.size());
  if (rows > 1 && is_one) return broken("there is one row, not several in turns");
  if (schedule.ahead && is_one) return broken("there is no next row");
  if (schedule.early && (!schedule.ahead || schedule.runs))
    return broken("early is for rows that ask for the next one");
  if (schedule.runs && (!schedule.ahead || rows > 1 || reduced_levels(spec) > 1))
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
  if (spec.levels[static_cast<std::size_t>(schedule.vector_level)].reduced) {
    schedule.nest = Nest::staged_rows;
    // Two sets side by side hide latencies; of long programs a vector has enough to do, and they fill the code cache.
    schedule.unroll = reduces_one_at_a_time(spec) && expensive_functions(spec) <= 1 ? 2 : 1;
    if (keeps_rows(spec)) schedule.keep = kKept;
    schedule.pilot = choose_pilot(spec);
    schedule.runs = comes_in_runs(spec, target);
    if (!schedule.runs && has_short_rows(spec, target)) schedule.rows_at_once = takes_four(spec, target) ? 4 : 2;
    const bool fast = (target.fast_l3() && expensive_functions(spec) == 0) || target.late_l3();
    const bool expensive = (target.far_l3() && (schedule.keep > 0 || kernel::pass_count(spec) == 1)) ||
                           (target.late_l3() && schedule.keep > 0);
    schedule.around =
        (schedule.rows_at_once == 1 || fast) && pays_around(spec, schedule.vector_level, target, expensive);
    schedule.ahead = schedule.runs || asks_for_next_row(spec, target, schedule);
    if (schedule.around && schedule.ahead && !schedule.runs && fast) store_rows_around(spec, target, schedule);
  } else {
    choose_staged_columns(spec, target, schedule);
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
  if (reduced && schedule.part != 0) return broken("parts are of tiles of columns");
  if (schedule.around && !may_go_around(spec, schedule.vector_level))
    return broken("no output can be stored around the caches");
  if (schedule.claim && !may_claim(spec, schedule.vector_level)) return broken("no output has lines to claim");
  if (schedule.pilot != 0 && (!reduced || schedule.pilot != choose_pilot(spec))) return broken("a pilot out of place");
  return reduced ? check_staged_rows(spec, schedule) : check_staged_columns(spec, schedule);
}

}  // namespace tenfold::schedule
