// SPDX-License-Identifier: Apache-2.0
#include "schedule/flat.hpp"

#include <algorithm>

#include "schedule/around.hpp"
#include "schedule/broken.hpp"
#include "schedule/levels.hpp"
#include "schedule/machine.hpp"
#include "schedule/spread.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Vector levels are cut into whole pages of the narrowest elements.
constexpr std::int64_t kVectorGrain = 4096;
/// Tasks of joined rows begin with lines if the first one does.
constexpr std::int64_t kRowGrain = 64;

std::int64_t bytes_per_element(const KernelSpec& spec) {
  std::int64_t bytes = 0;
  for (const kernel::Operand& operand : spec.inputs) bytes += byte_size(operand.dtype);
  for (const kernel::Operand& operand : spec.outputs) bytes += byte_size(operand.dtype);
  return bytes;
}

std::int64_t bytes(const KernelSpec& spec) { return bytes_per_element(spec) * kernel::kept_count(spec); }

/// More operands are streams enough.
constexpr std::size_t kMostOperandsInRuns = 6;

bool may_come_in_runs(const KernelSpec& spec) {
  return spec.levels.size() == 1 && spec.inputs.size() + spec.outputs.size() <= kMostOperandsInRuns;
}

/// Whether elements come from four runs in turn: of what memory delivers. Expensive ones wait less so from L2 on, where
/// the last cache is far away.
bool comes_in_runs(const KernelSpec& spec, const target::Target& target) {
  if (!may_come_in_runs(spec) || spec.outputs[0].strides[0] != 1) return false;
  const Machine::Flat& machine = machine_of(target).flat;
  const bool expensive = std::any_of(spec.body.begin(), spec.body.end(), kernel::is_expensive);
  if (machine.runs.reached_by(bytes(spec), target) && (machine.expensive_runs || !expensive)) return true;
  return machine.expensive_runs_beyond_l2 && expensive && bytes(spec) > target.l2_bytes;
}

}  // namespace

Schedule choose_flat(const KernelSpec& spec, const target::Target& target) {
  Schedule schedule;
  schedule.isa = target.isa;
  schedule.nest = Nest::flat;
  schedule.vector_level = vector_level_of(spec, spec.outputs[0]);
  schedule.width = spread_width(spec);
  if (schedule.width > 0) schedule.columns = choose_spread(spec);
  const KernelSpec in_line = schedule.width > 0 ? joined(spec) : spec;
  const int along = schedule.width > 0 ? schedule.vector_level - 1 : schedule.vector_level;
  schedule.around = pays_around(in_line, along, target);
  schedule.claim = pays_to_claim(in_line, along, target);
  schedule.runs = comes_in_runs(spec, target);
  if (schedule.runs && bytes(spec) > target.last_cache_bytes()) {
    schedule.around = schedule.around || may_go_around(spec, schedule.vector_level);
  } else if (schedule.runs) {
    schedule.claim = schedule.claim || may_claim(spec, schedule.vector_level);
  }
  const int widest = widest_level(spec, false, schedule.width > 0 ? schedule.vector_level : -1);
  const std::int64_t extent = kernel::level(spec, widest).extent;
  if (extent == 0) return schedule;
  const std::int64_t unit_bytes =
      std::max<std::int64_t>(1, kernel::kept_count(spec) / extent * bytes_per_element(spec));
  const std::int64_t unit = widest == schedule.vector_level ? kVectorGrain : schedule.width > 0 ? kRowGrain : 1;
  std::int64_t grain = std::max(divide_up(extent, 4 * std::int64_t{target.cores}), divide_up(kTaskBytes, unit_bytes));
  grain = divide_up(grain, unit) * unit;
  if (grain < extent) schedule.tile = {widest, grain};
  return schedule;
}

Status check_flat(const KernelSpec& spec, const Schedule& schedule) {
  const int levels = static_cast<int>(spec.levels.size());
  if (schedule.nest != Nest::flat) return broken("an elementwise kernel is not in the flat nest");
  if (schedule.vector_level < 0 || schedule.vector_level >= levels) return broken("no such vector level");
  if (const Status status = check_spread(spec, schedule); !status.ok()) return status;
  if (schedule.around && !may_go_around(spec, schedule.vector_level))
    return broken("no output can be stored around the caches");
  if (schedule.runs && !may_come_in_runs(spec)) return broken("runs are of few operands of one level");
  if (schedule.claim && !may_claim(spec, schedule.vector_level)) return broken("no output has lines to claim");
  if (spec.inputs.size() > static_cast<std::size_t>(kernel::kMaxInputs) ||
      spec.outputs.size() > static_cast<std::size_t>(kernel::most_outputs(spec)))
    return {Code::unsupported_shape, "kernels have at most " + std::to_string(kernel::kMaxInputs) + " inputs and " +
                                         std::to_string(kernel::most_outputs(spec)) + " outputs; this one has " +
                                         std::to_string(spec.inputs.size()) + " and " +
                                         std::to_string(spec.outputs.size())};
  return {};
}

}  // namespace tenfold::schedule
