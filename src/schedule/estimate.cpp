// SPDX-License-Identifier: Apache-2.0
#include "schedule/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "schedule/fields.hpp"
#include "schedule/neighbours.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Two loads of 32 bytes a cycle from L1; memory gives about a quarter of it.
constexpr double kBytesPerCycle = 16;
/// To hand out a task: 0.2 us.
constexpr double kTaskCycles = 600;
/// A row's start and its lane tree; a part of a row's start in a tile of columns, where streams begin anew.
constexpr double kRowCycles = 30, kPartCycles = 60;
/// What is so much above the least is not worth a measurement.
constexpr double kHopeless = 1.6;

double extent_of(const KernelSpec& spec, int level) { return static_cast<double>(kernel::level(spec, level).extent); }

double bytes_of(const KernelSpec& spec) { return static_cast<double>(kernel::bytes_read(spec)); }

double tasks_of(const KernelSpec& spec, const Schedule& schedule) {
  double tasks = 1;
  for (const Cut& cut : {schedule.tile, schedule.split})
    if (cut.level >= 0 && cut.grain > 0)
      tasks *= std::ceil(extent_of(spec, cut.level) / static_cast<double>(cut.grain));
  return tasks;
}

double rows_cycles(const KernelSpec& spec, const Schedule& schedule) {
  // Each accumulator of an unrolled row has to be combined at its end.
  return static_cast<double>(kernel::kept_count(spec)) * (kRowCycles + 4.0 * schedule.unroll);
}

double columns_cycles(const KernelSpec& spec, const Schedule& schedule, const target::Target& target) {
  const double columns = static_cast<double>(std::max<std::int64_t>(schedule.columns, 64));
  const double width = extent_of(spec, schedule.vector_level);
  const double elements =
      static_cast<double>(kernel::kept_count(spec)) * static_cast<double>(kernel::reduced_count(spec));
  const double parts = elements / std::min(width, columns);
  // Accumulators are read and written once a sweep; beyond L1 that costs as much as the data.
  const double record_bytes = 16 * std::min(width, columns);
  const double records = elements / schedule.rows_at_once * 8 / kBytesPerCycle;
  return parts / schedule.rows_at_once * kPartCycles +
         records * (2 * record_bytes > static_cast<double>(target.l1_bytes) ? 2 : 0.5);
}

/// How many fields are others.
std::ptrdiff_t changes(const Schedule& base, const Schedule& candidate) {
  return std::ranges::count_if(fields(), [&](const Field& field) {
    return std::visit([&](auto member) { return base.*member != candidate.*member; }, field.member);
  });
}

}  // namespace

double estimate(const KernelSpec& spec, const Schedule& schedule, const target::Target& target) {
  double cycles = bytes_of(spec) / kBytesPerCycle;
  if (schedule.nest == Nest::rows || schedule.nest == Nest::staged_rows) cycles += rows_cycles(spec, schedule);
  if (schedule.nest == Nest::columns || schedule.nest == Nest::staged_columns)
    cycles += columns_cycles(spec, schedule, target);
  const double tasks = tasks_of(spec, schedule);
  // The last round of tasks leaves threads idle.
  const double rounds = std::ceil(tasks / target.cores) * target.cores / tasks;
  return cycles / target.cores * rounds + tasks * kTaskCycles / target.cores;
}

std::vector<Schedule> promising(const KernelSpec& spec, const Schedule& base, const target::Target& target,
                                std::size_t most) {
  struct Ranked {
    Schedule schedule;
    std::ptrdiff_t changes;
    double cycles;
  };
  std::vector<Ranked> all;
  double least = estimate(spec, base, target);
  for (const Schedule& candidate : neighbours(spec, base)) {
    all.push_back({candidate, changes(base, candidate), estimate(spec, candidate, target)});
    least = std::min(least, all.back().cycles);
  }
  std::erase_if(all, [least](const Ranked& ranked) { return ranked.cycles > kHopeless * least; });
  std::stable_sort(all.begin(), all.end(), [](const Ranked& a, const Ranked& b) {
    return std::pair(a.changes, a.cycles) < std::pair(b.changes, b.cycles);
  });
  if (all.size() > most) all.resize(most);
  std::vector<Schedule> found;
  for (const Ranked& ranked : all) found.push_back(ranked.schedule);
  return found;
}

}  // namespace tenfold::schedule
