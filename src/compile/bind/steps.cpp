// SPDX-License-Identifier: Apache-2.0
#include "compile/bind/steps.hpp"

#include <algorithm>
#include <utility>

#include "compile/bind/index_pieces.hpp"
#include "compile/bind/selection_steps.hpp"
#include "compile/cache/kernel_cache.hpp"
#include "graph/eval/eval.hpp"
#include "schedule/levels.hpp"
#include "schedule/ordered.hpp"

namespace tenfold::compiler {
namespace {

using runtime::Location;

runtime::Grid make_grid(const kernel::KernelSpec& spec, const schedule::Cut& cut) {
  if (cut.level < 0) return {};
  const std::int64_t extent = kernel::level(spec, cut.level).extent;
  return {cut.level, extent, cut.grain, schedule::divide_up(extent, cut.grain)};
}

/// Appends the operand's strides in bytes, in the order of jit::stride_index().
void add_strides(const kernel::Operand& operand, std::vector<std::int64_t>& strides) {
  const std::size_t first = strides.size();
  strides.resize(first + static_cast<std::size_t>(jit::kMaxLevels), 0);
  for (std::size_t level = 0; level < operand.strides.size(); ++level)
    strides[first + level] = operand.strides[level] * byte_size(operand.dtype);
}

runtime::KernelStep make_step(const PlannedKernel& kernel, std::shared_ptr<const jit::KernelCode> code) {
  runtime::KernelStep step;
  step.code = std::move(code);
  step.count = kernel.count;
  step.effort = schedule::effort_of_byte(kernel.spec);
  for (std::size_t level = 0; level < kernel.spec.levels.size(); ++level)
    step.extents[level] = kernel.spec.levels[level].extent;
  step.tile = make_grid(kernel.spec, kernel.schedule.tile);
  step.split = make_grid(kernel.spec, kernel.schedule.split);
  for (const kernel::Operand& input : kernel.spec.inputs) {
    add_strides(input, step.strides);
    step.bytes_moved += kernel::operand_bytes(kernel.spec, input);
  }
  for (const kernel::Operand& output : kernel.spec.outputs) {
    add_strides(output, step.strides);
    step.bytes_moved += step.split.pieces * kernel::operand_bytes(kernel.spec, output);
  }
  return step;
}

/// The kernel's step, without its operands' places; told in the report.
Result<std::unique_ptr<runtime::KernelStep>> kernel_step(const PlannedKernel& kernel, RegionReport& report) {
  Result<std::shared_ptr<const jit::KernelCode>> code = kernel_cache().get(kernel);
  if (!code.ok()) return code.status();
  const auto code_bytes = static_cast<std::int64_t>(code.value()->bytes().size());
  auto step = std::make_unique<runtime::KernelStep>(make_step(kernel, std::move(code).value()));
  report.kernels.push_back({kernel.spec, kernel.schedule, code_bytes, step->bytes_moved});
  report.bytes_moved += step->bytes_moved;
  return step;
}

/// The two kernels of an arg-reduction in pieces, and the two steps that go with them.
Status add_index_steps(const Plan& plan, const kernel::KernelSpec& spec, const Location& input, const Location& output,
                       Buffers& buffers, runtime::Program& program, RegionReport& report) {
  auto first = kernel_step(plan.kernels[0], report);
  if (!first.ok()) return first.status();
  auto second = kernel_step(plan.kernels[1], report);
  if (!second.ok()) return second.status();
  const IndexPieces pieces = index_pieces(spec, plan.index_grain);
  const Location places = buffers.temporary(plan.between[0]);
  const Location elements = buffers.temporary(pieces.element_bytes * pieces.pieces * pieces.outputs());
  const std::int64_t winner_bytes = plan.kernels[0].partial_stride_bytes;
  const Location winners = buffers.temporary(winner_bytes);
  first.value()->inputs = {input};
  first.value()->outputs = {places};
  first.value()->split_output_stride = {winner_bytes};
  second.value()->inputs = {elements};
  second.value()->outputs = {winners};
  second.value()->split_output_stride = {0};
  program.steps.push_back({std::move(first).value(), nullptr});
  program.steps.push_back(
      {nullptr, std::make_unique<runtime::CallStep>(fetch_elements(pieces, input, places, elements))});
  program.steps.push_back({std::move(second).value(), nullptr});
  program.steps.push_back(
      {nullptr, std::make_unique<runtime::CallStep>(whole_indices(pieces, places, winners, output))});
  return {};
}

/// Of kernels whose operands lie there.
Status add_planned_steps(const Plan& plan, const std::vector<Location>& inputs, const std::vector<Location>& outputs,
                         Buffers& buffers, runtime::Program& program, RegionReport& report) {
  std::vector<Location> between;
  for (const std::int64_t bytes : plan.between) between.push_back(buffers.temporary(bytes));
  const auto locate = [&](const Place& place, const std::vector<Location>& operands) {
    Location found = (place.kind == Place::Kind::between ? between : operands)[static_cast<std::size_t>(place.index)];
    found.offset += place.offset;
    return found;
  };
  for (const PlannedKernel& kernel : plan.kernels) {
    auto made = kernel_step(kernel, report);
    if (!made.ok()) return made.status();
    std::unique_ptr<runtime::KernelStep> step = std::move(made).value();
    for (const Place& place : kernel.reads) step->inputs.push_back(locate(place, inputs));
    for (const Place& place : kernel.writes) {
      step->outputs.push_back(locate(place, outputs));
      step->split_output_stride.push_back(place.kind == Place::Kind::between ? kernel.partial_stride_bytes : 0);
    }
    program.steps.push_back({std::move(step), nullptr});
  }
  return {};
}

}  // namespace

Status add_kernel_steps(const Plan& plan, const Lowered& lowered, Buffers& buffers, runtime::Program& program,
                        RegionReport& report) {
  if (plan.index_grain > 0)
    return add_index_steps(plan, lowered.spec, buffers.location(lowered.inputs[0]),
                           buffers.location(lowered.outputs[0]), buffers, program, report);
  const auto locations = [&buffers](const std::vector<OperandSource>& operands) {
    std::vector<Location> found;
    found.reserve(operands.size());
    for (const OperandSource& operand : operands) found.push_back(buffers.location(operand));
    return found;
  };
  return add_planned_steps(plan, locations(lowered.inputs), locations(lowered.outputs), buffers, program, report);
}

Status add_selection_steps(const PlannedSelection& planned, Buffers& buffers, runtime::Program& program,
                           RegionReport& report) {
  const Selection& selection = planned.selection;
  report.selection = SelectionReport{selection.places, selection.extent(), selection.block};
  Location extremes;
  if (selection.block > 0) {
    extremes = buffers.temporary(extreme_bytes(selection));
    Status status =
        add_planned_steps(planned.plan, {buffers.location(selection.source)}, {extremes}, buffers, program, report);
    if (!status.ok()) return status;
  }
  program.steps.push_back(
      {nullptr, nullptr, std::make_unique<runtime::TaskStep>(selection_step(selection, buffers, extremes))});
  return {};
}

void add_heavy_step(const HeavyOp& heavy, Buffers& buffers, runtime::Program& program, RegionReport& report) {
  auto step = std::make_unique<runtime::TaskStep>();
  const HeavySource& source = heavy.source;
  for (const OperandSource& input : source.inputs) step->inputs.push_back(buffers.location(input));
  for (const OperandSource& output : source.outputs) step->outputs.push_back(buffers.location(output));
  step->tasks = heavy.call->tasks();
  step->scratch_bytes = heavy.call->scratch_bytes();
  step->run = [call = heavy.call](std::span<const void* const> inputs, std::span<void* const> outputs,
                                  std::int64_t task,
                                  void* scratch) { return call->run(inputs, outputs, task, scratch); };
  report.heavy =
      HeavyReport{heavy.call->implementation(), onednn::print(source.spec), heavy.call->tasks(), heavy.widened};
  program.steps.push_back({nullptr, nullptr, std::move(step)});
}

Status add_reference_step(const graph::Graph& graph, const graph::Op& op, Buffers& buffers, runtime::Program& program) {
  if (!graph::can_evaluate(op))
    return {Code::unsupported_op, graph::describe(op) + ": neither a kernel nor the reference evaluator runs it"};
  auto step = std::make_unique<runtime::CallStep>();
  std::vector<TensorDesc> in_descs, out_descs;
  std::vector<bool> left_out;
  for (const graph::ValueId value : op.inputs) {
    left_out.push_back(value == graph::kNone);
    if (left_out.back()) continue;
    in_descs.push_back(graph::desc_of(graph.values[value]));
    step->inputs.push_back(buffers.location(value));
  }
  for (const graph::ValueId value : op.outputs) {
    out_descs.push_back(graph::desc_of(graph.values[value]));
    step->outputs.push_back(buffers.location(value));
  }
  step->call = [op, in_descs, out_descs, left_out](std::span<const void* const> inputs,
                                                   std::span<void* const> outputs) {
    std::vector<graph::ConstTensor> ins;
    std::vector<graph::MutableTensor> outs;
    std::size_t given = 0;
    for (const bool out : left_out) {
      ins.push_back(out ? graph::ConstTensor{} : graph::ConstTensor{in_descs[given], inputs[given]});
      if (!out) ++given;
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) outs.push_back({out_descs[i], outputs[i]});
    return graph::evaluate_op(op, ins, outs);
  };
  program.steps.push_back({nullptr, std::move(step)});
  return {};
}

void add_copy_steps(const graph::Graph& graph, Buffers& buffers, runtime::Program& program) {
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const graph::ValueId value = graph.outputs[i];
    const Location from = buffers.location(value);
    if (from.kind == Location::Kind::output && from.index == static_cast<int>(i)) continue;
    graph::Op copy;
    copy.dialect = graph::Dialect::core;
    copy.kind = "cast";
    auto step = std::make_unique<runtime::CallStep>();
    const TensorDesc desc = graph::desc_of(graph.values[value]);
    step->inputs = {from};
    step->outputs = {{Location::Kind::output, static_cast<int>(i), 0}};
    step->call = [copy, desc](std::span<const void* const> inputs, std::span<void* const> outputs) {
      const graph::ConstTensor in{desc, inputs[0]};
      const graph::MutableTensor out{desc, outputs[0]};
      return graph::evaluate_op(copy, {&in, 1}, {&out, 1});
    };
    program.steps.push_back({nullptr, std::move(step)});
  }
}

}  // namespace tenfold::compiler
