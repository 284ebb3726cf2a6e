// SPDX-License-Identifier: Apache-2.0
//
// The back half of the compiler on one page. For each op, in topological order:
//
//   lower     the op as a kernel spec, collapsed                          lower.cpp
//   plan      schedules; a split reduction becomes two kernels            plan.cpp, schedule/choose.cpp
//   emit      machine code, or the cached kernel of the same class        kernel_cache.cpp, jit/
//   bind      buffers, strides and grids: a step of the program           steps.cpp, buffers.cpp
//
// An arg-reduction and the extreme of the same tensor along the same axis become one kernel (lower_arg.cpp). An op that
// stops at lower or plan with unsupported_* runs on the reference evaluator, and its report says why.
#include "compile/compile.hpp"

#include "compile/buffers.hpp"
#include "compile/lower.hpp"
#include "compile/lower_arg.hpp"
#include "compile/plan.hpp"
#include "compile/steps.hpp"

namespace tenfold::compiler {
namespace {

bool is_unsupported(const Status& status) {
  return status.code() == Code::unsupported_op || status.code() == Code::unsupported_dtype ||
         status.code() == Code::unsupported_shape || status.code() == Code::unsupported_target;
}

bool is_empty(const graph::Value& value) {
  const Result<std::int64_t> count = numel(value.shape);
  return count.ok() && count.value() == 0;
}

std::int64_t least_bytes(const graph::Graph& graph, const std::vector<graph::ValueId>& values) {
  std::int64_t bytes = 0;
  for (const graph::ValueId value : values) {
    if (value == graph::kNone) continue;
    const TensorDesc desc = graph::desc_of(graph.values[value]);
    const Result<std::int64_t> count = numel(desc.shape);
    const Result<std::int64_t> span = span_bytes(desc);
    if (count.ok() && span.ok()) bytes += std::min(count.value() * byte_size(desc.dtype), span.value());
  }
  return bytes;
}

/// Kernels of what `lowered` holds, or the reason why there is none.
Status compile_kernels(const Result<Lowered>& lowered, const target::Target& target, Buffers& buffers,
                       Compiled& compiled, RegionReport& report) {
  if (target.isa == target::Isa::reference)
    return {Code::unsupported_target, target.native == target::Isa::reference
                                          ? "this CPU is below avx2, which kernels need"
                                          : "the target is 'reference'"};
  if (!lowered.ok()) return lowered.status();
  Result<Plan> plan = make_plan(lowered.value().spec, target);
  if (!plan.ok()) return plan.status();
  return add_kernel_steps(plan.value(), lowered.value(), buffers, compiled.program, report);
}

Status compile_op(const graph::Graph& graph, const graph::Op& op, const target::Target& target, Buffers& buffers,
                  Compiled& compiled) {
  RegionReport report;
  report.ops.push_back(graph::describe(op));
  report.bytes_least = least_bytes(graph, op.inputs) + least_bytes(graph, op.outputs);
  if (is_empty(graph.values[op.outputs[0]])) {
    report.kind = RegionReport::Kind::nothing;
    report.reason = "the output has no element";
    compiled.regions.push_back(std::move(report));
    return {};
  }
  Status status = compile_kernels(lower(graph, op), target, buffers, compiled, report);
  if (is_unsupported(status)) {
    report.kind = RegionReport::Kind::reference;
    report.reason = status.message();
    report.bytes_moved = report.bytes_least;
    status = add_reference_step(graph, op, buffers, compiled.program);
  }
  if (status.ok()) compiled.regions.push_back(std::move(report));
  return status;
}

/// An arg-reduction and its partner, by one kernel.
Status compile_pair(const graph::Graph& graph, const graph::Op& a, const graph::Op& b, const target::Target& target,
                    Buffers& buffers, Compiled& compiled) {
  RegionReport report;
  report.ops = {graph::describe(a), graph::describe(b)};
  report.bytes_least = least_bytes(graph, a.inputs) + least_bytes(graph, a.outputs) + least_bytes(graph, b.outputs);
  Status status = compile_kernels(lower_pair(graph, a, b), target, buffers, compiled, report);
  if (status.ok()) compiled.regions.push_back(std::move(report));
  return status;
}

}  // namespace

Result<Compiled> compile(const graph::Graph& graph, const target::Target& target) {
  Compiled compiled;
  Buffers buffers(graph, compiled.program);
  std::vector<bool> done(graph.ops.size(), false);
  for (graph::OpId id = 0; id < graph.ops.size(); ++id) {
    if (done[id]) continue;
    const graph::Op& op = graph.ops[id];
    const graph::OpId partner = arg_partner(graph, id);
    if (partner != graph::kNone && !done[partner] && !is_empty(graph.values[op.outputs[0]])) {
      Status status = compile_pair(graph, op, graph.ops[partner], target, buffers, compiled);
      done[partner] = status.ok();
      if (status.ok()) continue;
      if (!is_unsupported(status)) return status;
    }
    Status status = compile_op(graph, op, target, buffers, compiled);
    if (!status.ok()) return status;
  }
  // Must come last: it copies what the steps above have written.
  add_copy_steps(graph, buffers, compiled.program);
  return compiled;
}

}  // namespace tenfold::compiler
