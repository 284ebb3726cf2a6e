// SPDX-License-Identifier: Apache-2.0
#include "compile/plan.hpp"

#include <algorithm>
#include <numeric>

#include "schedule/body.hpp"

namespace tenfold::compiler {
namespace {

using kernel::KernelSpec;
using kernel::Node;

std::size_t reduce_node(const KernelSpec& spec) {
  const auto at = std::find_if(spec.body.begin(), spec.body.end(),
                               [](const Node& node) { return node.kind == Node::Kind::reduce; });
  return static_cast<std::size_t>(at - spec.body.begin());
}

/// Strides of a dense buffer over the kept levels, in their order; 0 on reduced ones.
std::vector<std::int64_t> dense_kept_strides(const KernelSpec& spec) {
  std::vector<std::int64_t> strides(spec.levels.size(), 0);
  std::int64_t step = 1;
  for (std::size_t level = spec.levels.size(); level-- > 0;) {
    if (spec.levels[level].reduced) continue;
    strides[level] = step;
    step *= spec.levels[level].extent;
  }
  return strides;
}

/// The part before the split's results: the body up to the reduction, stored unfinished.
KernelSpec partial_spec(const KernelSpec& spec, DType partial) {
  KernelSpec first = spec;
  const std::size_t reduce = reduce_node(spec);
  first.body.resize(reduce + 1);
  first.stores = {{0, static_cast<int>(reduce)}};
  first.outputs[0] = {partial, dense_kept_strides(spec)};
  return first;
}

/// The part after: the same reduction over the pieces, outermost, then what the body does after it.
KernelSpec combine_spec(const KernelSpec& spec, DType partial, std::int64_t pieces) {
  KernelSpec second;
  second.inputs.push_back({partial, {kernel::kept_count(spec)}});
  second.outputs.push_back({spec.outputs[0].dtype, {0}});
  second.levels.push_back({pieces, true});
  const std::vector<std::int64_t> dense = dense_kept_strides(spec);
  for (std::size_t level = 0; level < spec.levels.size(); ++level) {
    if (spec.levels[level].reduced) continue;
    second.levels.push_back(spec.levels[level]);
    second.inputs[0].strides.push_back(dense[level]);
    second.outputs[0].strides.push_back(spec.outputs[0].strides[level]);
  }
  if (second.levels.size() == 1) {
    second.levels.push_back({1, false});
    second.inputs[0].strides.push_back(1);
    second.outputs[0].strides.push_back(1);
  }
  const std::size_t reduce = reduce_node(spec);
  second.body.push_back(Node{});
  for (std::size_t index = reduce; index < spec.body.size(); ++index) {
    Node node = spec.body[index];
    for (int& arg : node.args) arg = std::max(0, arg - static_cast<int>(reduce) + 1);
    second.body.push_back(std::move(node));
  }
  second.stores = {{0, static_cast<int>(second.body.size()) - 1}};
  return second;
}

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
  Plan plan;
  schedule::Schedule schedule = schedule::choose(spec, target);
  if (schedule.split.level < 0) {
    Status status = add_kernel(plan, spec, schedule, all_inputs(spec));
    if (!status.ok()) return status;
    return plan;
  }
  const Result<schedule::ReduceBody> body = schedule::read_body(spec);
  if (!body.ok()) return body.status();
  const bool chained = schedule::lanes_of(spec, body.value()) == schedule::Lanes::chained_f32;
  const DType partial = chained ? DType::f64 : spec.outputs[0].dtype;
  const std::int64_t extent = spec.levels[static_cast<std::size_t>(schedule.split.level)].extent;
  const std::int64_t pieces = (extent + schedule.split.grain - 1) / schedule.split.grain;
  plan.partial_stride_bytes = kernel::kept_count(spec) * byte_size(partial);
  plan.partial_bytes = pieces * plan.partial_stride_bytes;
  const KernelSpec second = combine_spec(spec, partial, pieces);
  schedule::Schedule combine = schedule::choose(second, target);
  combine.split = {};
  Status status = add_kernel(plan, partial_spec(spec, partial), schedule, {0});
  if (status.ok()) status = add_kernel(plan, second, combine, {kHandedOn});
  if (!status.ok()) return status;
  return plan;
}

}  // namespace tenfold::compiler
