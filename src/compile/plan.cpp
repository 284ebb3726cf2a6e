// SPDX-License-Identifier: Apache-2.0
#include "compile/plan.hpp"

#include <algorithm>
#include <numeric>

#include "compile/partials.hpp"
#include "schedule/apart.hpp"
#include "schedule/body.hpp"

namespace tenfold::compiler {
namespace {

using kernel::KernelSpec;

Status add_kernel(Plan& plan, KernelSpec spec, schedule::Schedule schedule, std::vector<int> reads) {
  Status status = schedule::check(spec, schedule);
  if (status.ok()) plan.kernels.push_back({std::move(spec), schedule, std::move(reads)});
  return status;
}

std::vector<int> all_inputs(const KernelSpec& spec) {
  std::vector<int> reads(spec.inputs.size());
  std::iota(reads.begin(), reads.end(), 0);
  return reads;
}

/// More streams than that evict each other from L1: a Sum of 64 f32 [64, 1000] runs at 0.47 of the roof in one kernel,
/// at 0.7 in legs of 16. What lies in L2 is not worth another call.
constexpr std::size_t kMostStreams = 16;
constexpr std::int64_t kLegsBytes = 1 << 20;

/// How many inputs a leg may have; as many as there are when one kernel should take them all.
std::size_t inputs_of_leg(const KernelSpec& spec) {
  const std::size_t all = spec.inputs.size();
  if (spec.outputs.size() != 1 || !kernel::is_elementwise(spec)) return all;
  std::int64_t bytes = 0;
  for (const kernel::Operand& input : spec.inputs) bytes += kernel::kept_count(spec) * byte_size(input.dtype);
  if (all > kMostStreams && bytes >= kLegsBytes) return kMostStreams;
  return std::min(all, static_cast<std::size_t>(kernel::kMaxInputs));
}

Result<Plan> plan_legs(const KernelSpec& spec, const target::Target& target, std::size_t most_inputs) {
  Result<Relay> relay = cut_into_legs(spec, most_inputs);
  if (!relay.ok()) return relay.status();
  Plan plan;
  plan.partial_bytes = relay.value().bytes;
  for (Leg& leg : relay.value().legs) {
    const schedule::Schedule schedule = schedule::choose(leg.spec, target);
    Status status = add_kernel(plan, std::move(leg.spec), schedule, std::move(leg.reads));
    if (!status.ok()) return status;
  }
  return plan;
}

Result<Plan> plan_two(TwoKernels two, const schedule::Schedule& first, const target::Target& target) {
  Plan plan;
  plan.partial_bytes = two.partial_bytes;
  plan.partial_stride_bytes = two.piece_bytes;
  const schedule::Schedule second = schedule::choose_whole(two.second, target);
  Status status = add_kernel(plan, std::move(two.first), first, {0});
  if (status.ok()) status = add_kernel(plan, std::move(two.second), second, {kHandedOn});
  if (!status.ok()) return status;
  return plan;
}

Result<Plan> plan_split(const KernelSpec& spec, const target::Target& target, const schedule::Schedule& schedule) {
  const Result<schedule::ReduceBody> body = schedule::read_body(spec);
  if (!body.ok()) return body.status();
  const std::int64_t extent = spec.levels[static_cast<std::size_t>(schedule.split.level)].extent;
  const std::int64_t pieces = (extent + schedule.split.grain - 1) / schedule.split.grain;
  if (!schedule::gives_index(schedule::lanes_of(spec, body.value())))
    return plan_two(in_pieces(spec, schedule::partial_dtype(spec, body.value()), pieces), schedule, target);
  Result<Plan> plan = plan_two(index_in_pieces(spec, pieces), schedule, target);
  if (plan.ok()) plan.value().index_grain = schedule.split.grain;
  return plan;
}

Result<Plan> plan_apart(const KernelSpec& spec, const target::Target& target, int level) {
  const Result<schedule::ReduceBody> body = schedule::read_body(spec);
  if (!body.ok()) return body.status();
  Result<TwoKernels> two = with_level_apart(spec, schedule::partial_dtype(spec, body.value()), level);
  if (!two.ok()) return two.status();
  const schedule::Schedule first = schedule::choose_whole(two.value().first, target);
  return plan_two(std::move(two).value(), first, target);
}

}  // namespace

Result<Plan> make_plan(const KernelSpec& spec, const target::Target& target) {
  if (target.isa == target::Isa::reference)
    return Status(Code::unsupported_target, target.native == target::Isa::reference
                                                ? "this CPU is below avx2, which kernels need"
                                                : "the target is 'reference'");
  if (const std::size_t most = inputs_of_leg(spec); most < spec.inputs.size()) {
    Result<Plan> legs = plan_legs(spec, target, most);
    if (legs.ok() || spec.inputs.size() > kernel::kMaxInputs) return legs;
  }
  if (const int apart = schedule::level_apart(spec); apart >= 0) return plan_apart(spec, target, apart);
  const schedule::Schedule schedule = schedule::choose(spec, target);
  if (schedule.split.level >= 0) return plan_split(spec, target, schedule);
  Plan plan;
  Status status = add_kernel(plan, spec, schedule, all_inputs(spec));
  if (!status.ok()) return status;
  return plan;
}

}  // namespace tenfold::compiler
