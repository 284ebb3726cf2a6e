// SPDX-License-Identifier: Apache-2.0
#include "schedule/streams.hpp"

#include <algorithm>

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Rows of this much, and so many of them, are read as streams side by side where the order is free: two, and four from
/// what the last cache does not hold. Of one stream's time ReduceMax s64 over the last axis takes 0.95 and 1.02 with
/// two and with four for [2048, 1024], 0.88 and 0.85 for [4096, 1024], 0.88 and 0.86 for [16384, 1024]. From half the
/// L2 of a Xeon four take 0.9 of the time of two where rows are short and registers are 32 bytes, as their ends are
/// taken side by side as well: s8 [256, 1024] and [1024, 1024]; with AVX-512 0.86 to 1.
constexpr std::int64_t kStreamRowBytes = 1024, kStreamRows = 16;
constexpr int kMostStreams = 4;
/// A row of sums has runs from here on: more than the least that a last cache counts for.
constexpr std::int64_t kRunsBytes = std::int64_t{32} << 20;

/// One row of f32 whose order is free is four runs on Zen 5 within its caches, too, but of what L1 holds, and with
/// AVX-512 L2: of the time of one, ReduceMax over all of [64, 1024] takes 0.93 and 1.11 with AVX2 and AVX-512, [256,
/// 1024] 0.86 and 1.03, [4096, 1024] 0.94 and 0.91. Of 16 bits [4096, 1024] takes 1.01 and 1.10, of 64 [512, 1024] 1.03
/// and 1.01.
bool takes_fast_runs(const KernelSpec& spec, Lanes lanes, const target::Target& target) {
  const std::int64_t near = target.isa == target::Isa::avx2 ? target.l1_bytes : target.l2_bytes;
  return target.fast_l3() && lanes == Lanes::order && byte_size(spec.inputs[0].dtype) == 4 &&
         kernel::bytes_read(spec) > near;
}

/// So is one of what is exact on Zen 3, from this part of the last cache on: of the time of one run, ReduceMax over all
/// of f32 [4096, 1024] takes 0.94, [7168, 1024] 0.59, s32 [4096, 1024] 0.69, f64 [1024, 1024] 0.94.
constexpr std::int64_t kLatePart = 4;
bool takes_late_runs(const KernelSpec& spec, const target::Target& target) {
  return target.late_l3() && kLatePart * kernel::bytes_read(spec) >= target.last_cache_bytes();
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

/// Streams that a state has sets for, a step of each at a time.
int sets_of(Lanes lanes) { return lanes == Lanes::integer ? 4 : lanes == Lanes::order ? 2 : 1; }

/// Whether streams that a state has not sets for a step of are visited in turns.
bool takes_visits(const KernelSpec& spec, Lanes lanes, int streams) {
  return streams > sets_of(lanes) && (sets_of(lanes) == 1 || spec.levels.size() > 1);
}

/// Four rows are read together on Zen 3 where its last cache is nearly full, if a state has sets for all or for one,
/// which visits them in turns: of the time of one stream, over the last axis, ArgMax f32 of [4096, 1024] takes 0.65, of
/// [1024, 4096] 0.7, [64, 65536] 0.7, ReduceL1 [4096, 1024] 0.94, [8192, 512] 0.75, [256, 16384] 0.9, and of that of
/// two ReduceMax s64 [2048, 1024] 0.83, s32 [16384, 256] 0.73, s8 [4096, 4096] 0.87; but ArgMax of [2048, 1024] 1.04
/// and more. Extremes of floats, two of which have sets, take 0.8 to 1.2 in visits of 16 MiB, by what the neighbours
/// do, of 20 and 24 MiB 0.83.
constexpr std::int64_t kVisitedExtremes = 9;  ///< sixteenths of the last cache
bool takes_four_late_rows(const KernelSpec& spec, Lanes lanes, const target::Target& target) {
  if (lanes != Lanes::order) return fills_late_cache(spec, target);
  return target.late_l3() && 16 * kernel::bytes_read(spec) > kVisitedExtremes * target.last_cache_bytes();
}

int runs_of_sum(const KernelSpec& spec) { return kernel::bytes_read(spec) > kRunsBytes ? kMostStreams : 1; }

}  // namespace

bool fills_late_cache(const KernelSpec& spec, const target::Target& target) {
  return target.late_l3() && 8 * kernel::bytes_read(spec) > 3 * target.last_cache_bytes();
}

int choose_streams(const KernelSpec& spec, Lanes lanes, int unroll, const target::Target& target) {
  const bool beyond = kernel::bytes_read(spec) > target.last_cache_bytes();
  if (is_one_row(spec) && !gives_index(lanes)) {
    if (!is_exact(lanes)) return runs_of_sum(spec);
    return beyond || takes_fast_runs(spec, lanes, target) || takes_late_runs(spec, target) ? kMostStreams : 1;
  }
  const std::int64_t row_bytes = byte_size(spec.inputs[0].dtype) * spec.levels.back().extent;
  if (!takes_streams(spec, lanes, unroll) || row_bytes < kStreamRowBytes) return 1;
  const std::int64_t rows = spec.levels[0].extent;
  if (beyond && target.fast_l3()) return std::min(2, sets_of(lanes));
  if ((beyond || takes_four_late_rows(spec, lanes, target)) && rows >= kMostStreams) return kMostStreams;
  const int most = target.far_l3() && 2 * kernel::bytes_read(spec) <= target.l2_bytes ? kMostStreams : 2;
  return rows >= kStreamRows ? std::min(most, sets_of(lanes)) : 1;
}

bool visits_in_turns(const KernelSpec& spec, Lanes lanes, int streams, const target::Target& target) {
  return takes_visits(spec, lanes, streams) && !(is_one_row(spec) && target.fast_l3());
}

Status check_streams(const KernelSpec& spec, Lanes lanes, const Schedule& schedule) {
  const auto broken = [](const std::string& what) { return Status(Code::internal_error, "schedule: " + what); };
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
