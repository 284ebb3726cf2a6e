// SPDX-License-Identifier: Apache-2.0
#include "compile/plan.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "compile/kernel_sequence.hpp"
#include "compile/long_rows.hpp"
#include "compile/partials.hpp"
#include "compile/transposed.hpp"
#include "schedule/apart.hpp"
#include "schedule/body.hpp"
#include "schedule/levels.hpp"

namespace tenfold::compiler {
namespace {

using kernel::KernelSpec;

Status add_kernel(Plan& plan, PlannedKernel kernel) {
  Status status = schedule::check(kernel.spec, kernel.schedule);
  if (status.ok()) plan.kernels.push_back(std::move(kernel));
  return status;
}

std::vector<Place> all_operands(const std::vector<kernel::Operand>& operands) {
  std::vector<Place> places;
  for (int i = 0; i < static_cast<int>(operands.size()); ++i) places.push_back({Place::Kind::operand, i, 0});
  return places;
}

double count_of(const KernelSpec& spec) { return static_cast<double>(kernel::reduced_count(spec)); }

/// More streams than that evict each other from L1: a Sum of 64 f32 [64, 1000] runs at 0.47 of the roof in one kernel,
/// at 0.7 in parts of 16. What lies in L2 is not worth another call.
constexpr std::size_t kMostStreams = 16;
constexpr std::int64_t kLegsBytes = 1 << 20;

/// How many inputs a part may have; as many as there are when one kernel should take them all.
std::size_t inputs_of_leg(const KernelSpec& spec) {
  const std::size_t all = spec.inputs.size();
  if (spec.outputs.size() != 1 || !kernel::is_elementwise(spec)) return all;
  std::int64_t bytes = 0;
  for (const kernel::Operand& input : spec.inputs) bytes += kernel::kept_count(spec) * byte_size(input.dtype);
  if (all > kMostStreams && bytes >= kLegsBytes) return kMostStreams;
  return std::min(all, static_cast<std::size_t>(kernel::kMaxInputs));
}

Result<Plan> plan_sequence(const KernelSpec& spec, const target::Target& target, std::size_t most_inputs) {
  Result<KernelSequence> sequence = cut_into_sequence(spec, most_inputs);
  if (!sequence.ok()) return sequence.status();
  Plan plan;
  std::vector<SequencePart>& parts = sequence.value().parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const int before = static_cast<int>(i) - 1;
    PlannedKernel kernel;
    kernel.schedule = schedule::choose(parts[i].spec, target);
    kernel.spec = std::move(parts[i].spec);
    for (const int read : parts[i].reads)
      kernel.reads.push_back(read == kHandedOn ? Place{Place::Kind::between, before, 0}
                                               : Place{Place::Kind::operand, read, 0});
    const bool last = i + 1 == parts.size();
    kernel.writes = {last ? Place{} : Place{Place::Kind::between, before + 1, 0}};
    if (!last) plan.between.push_back(sequence.value().bytes);
    Status status = add_kernel(plan, std::move(kernel));
    if (!status.ok()) return status;
  }
  return plan;
}

Result<Plan> plan_two(TwoKernels two, double count, const schedule::Schedule& first, const target::Target& target) {
  Plan plan;
  plan.between = {two.partial_bytes};
  plan.partial_stride_bytes = two.piece_bytes;
  const schedule::Schedule second = schedule::choose_whole(two.second, target);
  const Place handed_on{Place::Kind::between, 0, 0};
  Status status = add_kernel(plan, {std::move(two.first), first, {Place{}}, {handed_on}, count});
  if (status.ok()) status = add_kernel(plan, {std::move(two.second), second, {handed_on}, {Place{}}, count});
  if (!status.ok()) return status;
  return plan;
}

/// Nothing where the rows are not to be cut, or cannot be.
std::optional<Plan> plan_long_rows(const KernelSpec& spec, const target::Target& target, const RowPieces& pieces) {
  const RowCut cut = schedule::read_body(spec).ok() ? RowCut{} : row_cut(spec, pieces);
  if (!cut.cuts()) return std::nullopt;
  Result<LongRows> rows = cut_long_rows(spec, cut);
  if (!rows.ok()) return std::nullopt;
  Plan plan;
  plan.in_pieces = true;
  plan.between = std::move(rows.value().between);
  for (LongRowKernel& kernel : rows.value().kernels) {
    const schedule::Schedule schedule = schedule::choose_whole(kernel.spec, target);
    const Status status = add_kernel(plan, {std::move(kernel.spec), schedule, std::move(kernel.reads),
                                            std::move(kernel.writes), static_cast<double>(kernel.count)});
    if (!status.ok()) return std::nullopt;
  }
  return plan;
}

Result<Plan> plan_split(const KernelSpec& spec, const target::Target& target, const schedule::Schedule& schedule) {
  const Result<schedule::ReduceBody> body = schedule::read_body(spec);
  if (!body.ok()) return body.status();
  const std::int64_t extent = spec.levels[static_cast<std::size_t>(schedule.split.level)].extent;
  const std::int64_t pieces = schedule::divide_up(extent, schedule.split.grain);
  if (!schedule::gives_index(schedule::lanes_of(spec, body.value())))
    return plan_two(in_pieces(spec, schedule::partial_dtype(spec, body.value()), pieces), count_of(spec), schedule,
                    target);
  Result<Plan> plan = plan_two(index_in_pieces(spec, pieces), 0, schedule, target);
  if (plan.ok()) plan.value().index_grain = schedule.split.grain;
  return plan;
}

Result<Plan> plan_apart(const KernelSpec& spec, const target::Target& target, const std::vector<int>& levels) {
  const Result<schedule::ReduceBody> body = schedule::read_body(spec);
  if (!body.ok()) return body.status();
  Result<TwoKernels> two = with_levels_apart(spec, schedule::partial_dtype(spec, body.value()), levels);
  if (!two.ok()) return two.status();
  const schedule::Schedule first = schedule::choose_whole(two.value().first, target);
  return plan_two(std::move(two).value(), count_of(spec), first, target);
}

/// Nothing where elements are neighbours along the same level everywhere.
std::optional<Plan> plan_transposed(const KernelSpec& spec, const target::Target& target) {
  std::vector<TransposedPart> parts = transposed_parts(spec);
  if (parts.empty()) return std::nullopt;
  Plan plan;
  const auto places = [](const std::vector<std::int64_t>& offsets) {
    std::vector<Place> made;
    for (std::size_t i = 0; i < offsets.size(); ++i)
      made.push_back({Place::Kind::operand, static_cast<int>(i), offsets[i]});
    return made;
  };
  for (TransposedPart& part : parts) {
    const schedule::Schedule schedule = schedule::choose_whole(part.spec, target);
    std::vector<Place> reads = places(part.input_offsets), writes = places(part.output_offsets);
    if (!add_kernel(plan, {std::move(part.spec), schedule, std::move(reads), std::move(writes), 0}).ok())
      return std::nullopt;
  }
  return plan;
}

}  // namespace

Result<Plan> make_plan(const KernelSpec& spec, const target::Target& target, const RowPieces& pieces) {
  if (target.isa == target::Isa::reference)
    return Status(Code::unsupported_target, target.native == target::Isa::reference
                                                ? "this CPU is below avx2, which kernels need"
                                                : "the target is 'reference'");
  if (const std::size_t most = inputs_of_leg(spec); most < spec.inputs.size()) {
    Result<Plan> parts = plan_sequence(spec, target, most);
    if (parts.ok() || spec.inputs.size() > kernel::kMaxInputs) return parts;
  }
  if (std::optional<Plan> transposed = plan_transposed(spec, target)) return std::move(*transposed);
  if (const std::vector<int> apart = schedule::levels_apart(spec); !apart.empty())
    return plan_apart(spec, target, apart);
  if (std::optional<Plan> long_rows = plan_long_rows(spec, target, pieces)) return std::move(*long_rows);
  const schedule::Schedule schedule = schedule::choose(spec, target);
  if (schedule.split.level >= 0) return plan_split(spec, target, schedule);
  Plan plan;
  Status status =
      add_kernel(plan, {spec, schedule, all_operands(spec.inputs), all_operands(spec.outputs), count_of(spec)});
  if (!status.ok()) return status;
  return plan;
}

}  // namespace tenfold::compiler
