// SPDX-License-Identifier: Apache-2.0
#include "compile/plan/plan.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "compile/plan/kernel_sequence.hpp"
#include "compile/plan/line_pieces.hpp"
#include "compile/plan/long_rows.hpp"
#include "compile/plan/partials.hpp"
#include "compile/plan/plain_indices.hpp"
#include "compile/plan/plain_reductions.hpp"
#include "compile/plan/transposed.hpp"
#include "schedule/apart.hpp"
#include "schedule/arg_body.hpp"
#include "schedule/body.hpp"
#include "schedule/levels.hpp"

namespace tenfold::compiler {
namespace {

using kernel::KernelSpec;

std::vector<Place> all_operands(const std::vector<kernel::Operand>& operands) {
  std::vector<Place> places;
  for (int i = 0; i < static_cast<int>(operands.size()); ++i) places.push_back({Place::Kind::operand, i, 0});
  return places;
}

/// More streams than that evict each other from L1: a Sum of 64 f32 [64, 1000] runs at 0.47 of the roof in one kernel,
/// at 0.7 in parts of 16. What lies in L2 is not worth another call.
constexpr std::size_t kMostStreams = 16;
constexpr std::int64_t kSequenceBytes = 1 << 20;

/// How many inputs a part may have; as many as there are when one kernel should take them all.
std::size_t inputs_of_part(const KernelSpec& spec) {
  const std::size_t all = spec.inputs.size();
  if (spec.outputs.size() != 1 || !kernel::is_elementwise(spec)) return all;
  std::int64_t bytes = 0;
  for (const kernel::Operand& input : spec.inputs) bytes += kernel::kept_count(spec) * byte_size(input.dtype);
  if (all > kMostStreams && bytes >= kSequenceBytes) return kMostStreams;
  return std::min(all, static_cast<std::size_t>(kernel::kMaxInputs));
}

/// Each kernel with the schedule for it whole; the first one with its own, if that is given.
Result<Plan> scheduled(KernelCut cut, const target::Target& target, const schedule::Schedule* first = nullptr) {
  Plan plan;
  plan.between = std::move(cut.between);
  for (CutKernel& kernel : cut.kernels) {
    const schedule::Schedule schedule =
        first != nullptr && plan.kernels.empty() ? *first : schedule::choose_whole(kernel.spec, target);
    if (Status status = schedule::check(kernel.spec, schedule); !status.ok()) return status;
    plan.kernels.push_back({std::move(kernel), schedule});
  }
  return plan;
}

Result<Plan> plan_sequence(const KernelSpec& spec, const target::Target& target, std::size_t most_inputs) {
  Result<KernelCut> cut = cut_into_sequence(spec, most_inputs);
  if (!cut.ok()) return cut.status();
  return scheduled(std::move(cut).value(), target);
}

/// A way to cut a spec, where that is one: none for a spec that is another's, or that kernels cannot be cut from.
using PlanOrNone = Result<std::optional<Plan>>;
const std::optional<Plan> kNone;

/// A limit of ours leaves the spec to the ways that follow; a mistake of ours does not.
PlanOrNone none_or_mistake(const Status& status) {
  return is_unsupported(status.code()) ? PlanOrNone(kNone) : PlanOrNone(status);
}

PlanOrNone plan_apart(const KernelSpec& spec, const target::Target& target) {
  const std::vector<int> levels = schedule::levels_apart(spec);
  if (levels.empty()) return kNone;
  const Result<schedule::ReduceBody> body = schedule::read_body(spec);
  if (!body.ok()) return body.status();
  Result<KernelCut> cut = with_levels_apart(spec, schedule::partial_dtype(spec, body.value()), levels);
  if (!cut.ok()) return cut.status();
  Result<Plan> plan = scheduled(std::move(cut).value(), target);
  return plan.ok() ? PlanOrNone(std::optional(std::move(plan).value())) : PlanOrNone(plan.status());
}

PlanOrNone plan_long_rows(const KernelSpec& spec, const target::Target& target, const RowPieces& pieces) {
  const RowCut rows = schedule::read_body(spec).ok() ? RowCut{} : row_cut(spec, pieces);
  if (!rows.cuts()) return kNone;
  Result<KernelCut> cut = cut_long_rows(spec, rows);
  if (!cut.ok()) return none_or_mistake(cut.status());
  Result<Plan> plan = scheduled(std::move(cut).value(), target);
  if (!plan.ok()) return none_or_mistake(plan.status());
  plan.value().in_pieces = true;
  return std::optional(std::move(plan).value());
}

Result<Plan> plan_split(const KernelSpec& spec, const target::Target& target, const schedule::Schedule& schedule) {
  const Result<schedule::ReduceBody> body = schedule::read_body(spec);
  if (!body.ok()) return body.status();
  const std::int64_t extent = kernel::level(spec, schedule.split.level).extent;
  const std::int64_t pieces = schedule::divide_up(extent, schedule.split.grain);
  if (!schedule::gives_index(schedule::lanes_of(spec, body.value())))
    return scheduled(in_pieces(spec, schedule::partial_dtype(spec, body.value()), pieces), target, &schedule);
  Result<Plan> plan = scheduled(index_in_pieces(spec, pieces), target, &schedule);
  if (plan.ok()) plan.value().index_grain = schedule.split.grain;
  return plan;
}

/// What is planned for a kernel of several is part of the plan of the whole.
void append(Plan& whole, Plan part, const CutKernel& kernel) {
  const int first = static_cast<int>(whole.between.size());
  whole.between.insert(whole.between.end(), part.between.begin(), part.between.end());
  const auto in_whole = [first](std::vector<Place>& places, const std::vector<Place>& operands) {
    for (Place& place : places) {
      if (place.kind == Place::Kind::between) {
        place.index += first;
        continue;
      }
      const std::int64_t offset = place.offset;
      place = operands[static_cast<std::size_t>(place.index)];
      place.offset += offset;
    }
  };
  for (PlannedKernel& planned : part.kernels) {
    in_whole(planned.reads, kernel.reads);
    in_whole(planned.writes, kernel.writes);
    planned.count = kernel.count;
    whole.kernels.push_back(std::move(planned));
  }
}

/// In one kernel.
Result<Plan> plan_whole(const KernelSpec& spec, const target::Target& target,
                        const schedule::Schedule* schedule = nullptr) {
  KernelCut whole;
  whole.kernels.push_back(
      {spec, all_operands(spec.inputs), all_operands(spec.outputs), static_cast<double>(kernel::reduced_count(spec))});
  return scheduled(std::move(whole), target, schedule);
}

PlanOrNone plan_plain(const KernelSpec& spec, const target::Target& target, const RowPieces& pieces) {
  const bool is_plain = schedule::read_body(spec).ok();
  KernelCut cut = is_plain ? KernelCut() : cut_into_plain(spec);
  if (cut.kernels.empty()) cut = cut_off_indices(spec, pieces);
  if (cut.kernels.empty()) return kNone;
  Plan whole;
  whole.between = std::move(cut.between);
  whole.in_pieces = true;
  for (const CutKernel& kernel : cut.kernels) {
    // An index is one kernel: the steps between its pieces are those of a plan of its own (Plan::index_grain).
    Result<Plan> part = schedule::has_arg_reduction(kernel.spec) ? plan_whole(kernel.spec, target)
                                                                 : make_plan(kernel.spec, target, pieces);
    if (!part.ok()) return none_or_mistake(part.status());
    append(whole, std::move(part).value(), kernel);
  }
  return std::optional(std::move(whole));
}

PlanOrNone plan_transposed(const KernelSpec& spec, const target::Target& target) {
  KernelCut cut = transposed_parts(spec);
  if (cut.kernels.empty()) return kNone;
  Result<Plan> plan = scheduled(std::move(cut), target);
  return plan.ok() ? PlanOrNone(std::optional(std::move(plan).value())) : none_or_mistake(plan.status());
}

Result<Plan> plan_ordered(const KernelSpec& spec, const target::Target& target) {
  Result<KernelCut> cut = cut_lines(spec);
  if (!cut.ok()) return cut.status();
  return cut.value().kernels.empty() ? plan_whole(spec, target) : scheduled(std::move(cut).value(), target);
}

/// The first way that is one. Each is of specs that the others leave whole, but for plain reductions, which come before
/// levels apart and long rows: these are found again in the kernels that they are cut into.
PlanOrNone plan_cut(const KernelSpec& spec, const target::Target& target, const RowPieces& pieces) {
  PlanOrNone plan = pieces.plain_apart ? plan_plain(spec, target, pieces) : PlanOrNone(kNone);
  if (plan.ok() && !plan.value()) plan = plan_transposed(spec, target);
  if (plan.ok() && !plan.value()) plan = plan_apart(spec, target);
  if (plan.ok() && !plan.value()) plan = plan_long_rows(spec, target, pieces);
  return plan;
}

}  // namespace

Result<Plan> make_plan(const KernelSpec& spec, const target::Target& target, const RowPieces& pieces) {
  if (target.isa == target::Isa::reference)
    return Status(Code::unsupported_target, target.native == target::Isa::reference
                                                ? "this CPU is below avx2, which kernels need"
                                                : "the target is 'reference'");
  if (kernel::is_ordered(spec)) return plan_ordered(spec, target);
  if (const std::size_t most = inputs_of_part(spec); most < spec.inputs.size()) {
    Result<Plan> parts = plan_sequence(spec, target, most);
    if (parts.ok() || spec.inputs.size() > kernel::kMaxInputs) return parts;
  }
  if (PlanOrNone cut = plan_cut(spec, target, pieces); !cut.ok() || cut.value())
    return cut.ok() ? Result<Plan>(std::move(*cut.value())) : Result<Plan>(cut.status());
  const schedule::Schedule schedule = schedule::choose(spec, target);
  if (schedule.split.level >= 0) return plan_split(spec, target, schedule);
  return plan_whole(spec, target, &schedule);
}

}  // namespace tenfold::compiler
