// SPDX-License-Identifier: Apache-2.0
//
// The back half of the compiler on one page. For each op, in topological order:
//
//   lower     the op as a kernel spec, collapsed                          lower.cpp
//   plan      schedules; a split reduction becomes two kernels            plan.cpp, schedule/choose.cpp
//   emit      machine code, or the cached kernel of the same class        kernel_cache.cpp, jit/
//   bind      buffers, strides and grids: a step of the program           steps.cpp, buffers.cpp
//
// An op that stops at lower or plan with unsupported_* runs on the reference evaluator, and its report says why.
#include "compile/compile.hpp"

#include "compile/buffers.hpp"
#include "compile/lower.hpp"
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

std::int64_t least_bytes(const graph::Graph& graph, const graph::Op& op) {
  std::int64_t bytes = 0;
  const auto add = [&](graph::ValueId value) {
    if (value == graph::kNone) return;
    const TensorDesc desc = graph::desc_of(graph.values[value]);
    const Result<std::int64_t> count = numel(desc.shape);
    const Result<std::int64_t> span = span_bytes(desc);
    if (count.ok() && span.ok()) bytes += std::min(count.value() * byte_size(desc.dtype), span.value());
  };
  for (const graph::ValueId value : op.inputs) add(value);
  for (const graph::ValueId value : op.outputs) add(value);
  return bytes;
}

Status compile_kernels(const graph::Graph& graph, const graph::Op& op, const target::Target& target, Buffers& buffers,
                       Compiled& compiled, RegionReport& report) {
  if (target.isa == target::Isa::reference)
    return {Code::unsupported_target, target.native == target::Isa::reference
                                          ? "this CPU is below avx2, which kernels need"
                                          : "the target is 'reference'"};
  Result<kernel::KernelSpec> spec = lower(graph, op);
  if (!spec.ok()) return spec.status();
  Result<Plan> plan = make_plan(spec.value(), target);
  if (!plan.ok()) return plan.status();
  return add_kernel_steps(plan.value(), buffers.location(op.inputs[0]), buffers.location(op.outputs[0]), buffers,
                          compiled.program, report);
}

Status compile_op(const graph::Graph& graph, const graph::Op& op, const target::Target& target, Buffers& buffers,
                  Compiled& compiled) {
  RegionReport report;
  report.ops.push_back(graph::describe(op));
  report.bytes_least = least_bytes(graph, op);
  if (is_empty(graph.values[op.outputs[0]])) {
    report.kind = RegionReport::Kind::nothing;
    report.reason = "the output has no element";
    compiled.regions.push_back(std::move(report));
    return {};
  }
  Status status = compile_kernels(graph, op, target, buffers, compiled, report);
  if (is_unsupported(status)) {
    report.kind = RegionReport::Kind::reference;
    report.reason = status.message();
    report.bytes_moved = report.bytes_least;
    status = add_reference_step(graph, op, buffers, compiled.program);
  }
  if (status.ok()) compiled.regions.push_back(std::move(report));
  return status;
}

}  // namespace

Result<Compiled> compile(const graph::Graph& graph, const target::Target& target) {
  Compiled compiled;
  Buffers buffers(graph, compiled.program);
  for (const graph::Op& op : graph.ops) {
    Status status = compile_op(graph, op, target, buffers, compiled);
    if (!status.ok()) return status;
  }
  // Must come last: it copies what the steps above have written.
  add_copy_steps(graph, buffers, compiled.program);
  return compiled;
}

}  // namespace tenfold::compiler
