// SPDX-License-Identifier: Apache-2.0
#include "schedule/streams.hpp"

#include <algorithm>

#include "schedule/broken.hpp"
#include "schedule/machine.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Rows of so many bytes, and so many of them, are read as streams side by side where the order is free: the ends of
/// rows then overlap as well.
constexpr std::int64_t kStreamRowBytes = 1024, kStreamRows = 16;
constexpr int kMostStreams = 4;
/// A row of sums has runs from here on. They decide its bits, so this is no share of a cache that machines differ in,
/// but more than the least that a last cache counts for.
constexpr std::int64_t kRunsBytes = std::int64_t{32} << 20;

/// Runs that start anew are dearer than one stream from L1, and with AVX-512 from L2.
bool is_row_of_words(const KernelSpec& spec, Lanes lanes, const target::Target& target) {
  const std::int64_t near = target.isa == target::Isa::avx2 ? target.l1_bytes : target.l2_bytes;
  return lanes == Lanes::order && byte_size(spec.inputs[0].dtype) == 4 && kernel::bytes_read(spec) > near;
}

/// Whether one row whose order is free comes in runs.
bool takes_runs(const KernelSpec& spec, Lanes lanes, const target::Target& target) {
  const Machine::Streams& machine = machine_of(target).streams;
  const std::int64_t bytes = kernel::bytes_read(spec);
  return bytes > target.last_cache_bytes() || machine.one_row.reached_by(bytes, target) ||
         (machine.one_row_of_words && is_row_of_words(spec, lanes, target));
}

/// One row, of elements that lie side by side.
bool is_one_row(const KernelSpec& spec) {
  return spec.levels.size() == 1 && spec.levels[0].reduced && spec.inputs[0].strides[0] == 1;
}

/// Rows of one level each, of elements that lie side by side, whose state can wait in a record: of arg-reductions in
/// groups, but not on keys, whose state is in the frame.
bool takes_streams(const KernelSpec& spec, Lanes lanes, int unroll) {
  return spec.levels.size() == 2 && !spec.levels[0].reduced && spec.inputs[0].strides[1] == 1 &&
         (!gives_index(lanes) || (lanes == Lanes::arg && unroll == kGroupSteps));
}

/// Streams that the state has accumulator sets for: a step of each is taken at a time.
int sets_of(Lanes lanes) { return lanes == Lanes::integer ? 4 : lanes == Lanes::order ? 2 : 1; }

/// Whether streams beyond the state's sets are visited in turns.
bool takes_visits(const KernelSpec& spec, Lanes lanes, int streams) {
  return streams > sets_of(lanes) && (sets_of(lanes) == 1 || spec.levels.size() > 1);
}

int runs_of_sum(const KernelSpec& spec) { return kernel::bytes_read(spec) > kRunsBytes ? kMostStreams : 1; }

}  // namespace

int choose_streams(const KernelSpec& spec, Lanes lanes, int unroll, const target::Target& target) {
  if (is_one_row(spec) && !gives_index(lanes)) {
    if (!is_exact(lanes)) return runs_of_sum(spec);
    return takes_runs(spec, lanes, target) ? kMostStreams : 1;
  }
  const std::int64_t bytes = kernel::bytes_read(spec);
  const std::int64_t row_bytes = byte_size(spec.inputs[0].dtype) * spec.levels.back().extent;
  if (!takes_streams(spec, lanes, unroll) || row_bytes < kStreamRowBytes) return 1;
  const Machine::Streams& machine = machine_of(target).streams;
  const Share& four_rows = lanes == Lanes::order ? machine.four_rows_of_extremes : machine_of(target).fills_cache;
  const bool beyond = bytes > target.last_cache_bytes();
  const bool of_extremes = lanes == Lanes::order || gives_index(lanes);
  const int most_far = of_extremes ? machine.extremes_from_memory : machine.from_memory;
  if (beyond && most_far < kMostStreams) return std::min(most_far, sets_of(lanes));
  const std::int64_t rows = spec.levels[0].extent;
  if ((beyond || four_rows.reached_by(bytes, target)) && rows >= kMostStreams) return kMostStreams;
  const int most = 2 * bytes <= target.l2_bytes ? machine.in_half_of_l2 : 2;
  return rows >= kStreamRows ? std::min(most, sets_of(lanes)) : 1;
}

bool visits_in_turns(const KernelSpec& spec, Lanes lanes, int streams, const target::Target& target) {
  return takes_visits(spec, lanes, streams) && (machine_of(target).streams.visits_runs_of_row || !is_one_row(spec));
}

Status check_streams(const KernelSpec& spec, Lanes lanes, const Schedule& schedule) {
  const int streams = schedule.rows_at_once;
  if (streams != 1 && streams != 2 && streams != kMostStreams) return broken("rows is not 1, 2 or 4");
  const bool visits = takes_visits(spec, lanes, streams);
  if (schedule.ahead != visits && !(visits && is_one_row(spec)))
    return broken("rows ask ahead where streams are visited in turns, which all are but the runs of one row");
  if (streams == 1 || (streams == kMostStreams && is_one_row(spec) && !gives_index(lanes))) return {};
  if (!takes_streams(spec, lanes, schedule.unroll))
    return broken("rows is for one level of rows that lie side by side, of arg-reductions in groups");
  if (streams == 2 && sets_of(lanes) < 2) return broken("streams of sums and of arg-reductions are four");
  return {};
}

}  // namespace tenfold::schedule
