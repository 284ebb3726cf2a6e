// SPDX-License-Identifier: Apache-2.0
//
// The back half of the compiler on one page:
//
//   partition   ops into regions: which run as one kernel                 partition/
//   lower       a region as a kernel spec, collapsed                      lower/
//   plan        schedules; split reductions, long rows, transposed        plan/, schedule/choose.cpp
//               elements and many operands become several kernels
//               of a tuning file: measured schedules instead              tuning.cpp, schedule/neighbours.cpp
//   heavy       MatMul and its like are calls of oneDNN                   heavy/, onednn/
//   select      TopK of long lines: blocks' extremes by a kernel, then    lower/selection.cpp,
//               those who may be among the first, one by one              bind/first_of_line.cpp
//   emit        machine code, or the cached kernel of the same class      cache/, jit/
//   bind        buffers, strides and grids: a step of the program         bind/
//
// The partitioner lowers and plans what it tries, so that a region comes with its plan. An op that stops at lower or
// plan with unsupported_* runs on the reference evaluator, and its report says why.
#include "compile/compile.hpp"

#include <algorithm>
#include <set>

#include "compile/bind/buffers.hpp"
#include "compile/bind/in_place.hpp"
#include "compile/bind/steps.hpp"
#include "compile/cache/kernel_cache.hpp"
#include "compile/partition/partition.hpp"
#include "compile/tuning.hpp"

namespace tenfold::compiler {
namespace {

bool is_empty(const graph::Value& value) {
  const Result<std::int64_t> count = numel(value.shape);
  return count.ok() && count.value() == 0;
}

std::int64_t least_bytes(const graph::Graph& graph, graph::ValueId value) {
  if (value == graph::kNone) return 0;
  const TensorDesc desc = graph::desc_of(graph.values[value]);
  const Result<std::int64_t> count = numel(desc.shape);
  const Result<std::int64_t> span = span_bytes(desc);
  return count.ok() && span.ok() ? std::min(count.value() * byte_size(desc.dtype), span.value()) : 0;
}

std::int64_t least_bytes(const graph::Graph& graph, const graph::Op& op) {
  std::int64_t bytes = 0;
  for (const graph::ValueId value : op.inputs) bytes += least_bytes(graph, value);
  for (const graph::ValueId value : op.outputs) bytes += least_bytes(graph, value);
  return bytes;
}

std::int64_t least_bytes(const graph::Graph& graph, const std::vector<OperandSource>& operands) {
  std::int64_t bytes = 0;
  for (const OperandSource& operand : operands) bytes += least_bytes(graph, operand.value);
  return bytes;
}

bool writes_nothing(const graph::Graph& graph, const Region& region) {
  const auto& outputs = graph.ops[region.ops.back()].outputs;
  return std::all_of(outputs.begin(), outputs.end(),
                     [&graph](graph::ValueId value) { return is_empty(graph.values[value]); });
}

/// As the user knows them: once each, however many parts an op was decomposed into.
std::vector<std::string> names_of(const graph::Graph& graph, const std::vector<graph::OpId>& ops) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const graph::OpId op : ops)
    if (std::string name = graph::describe(graph.ops[op]); seen.insert(name).second) names.push_back(std::move(name));
  return names;
}

/// An op beside another part of the same one.
std::string part_name(const graph::Op& op) { return graph::describe(op) + ": its " + op.kind; }

UnfusedReport unfused_report(const graph::Graph& graph, const Unfused& edge) {
  const graph::Op &from = graph.ops[edge.from], &to = graph.ops[edge.to];
  const bool same = graph::describe(from) == graph::describe(to);
  return {same ? part_name(from) : graph::describe(from), same ? part_name(to) : graph::describe(to), edge.reason};
}

Status compile_region(const graph::Graph& graph, const Region& region, Buffers& buffers, Compiled& compiled) {
  RegionReport report;
  report.ops = names_of(graph, region.ops);
  const graph::Op& last = graph.ops[region.ops.back()];
  Status status;
  if (writes_nothing(graph, region)) {
    report.kind = RegionReport::Kind::nothing;
    report.reason = "the output has no element";
  } else if (region.heavy) {
    report.kind = RegionReport::Kind::onednn;
    report.bytes_moved = report.bytes_least = least_bytes(graph, last);
    add_heavy_step(*region.heavy, buffers, compiled.program, report);
  } else if (region.selection) {
    report.kind = RegionReport::Kind::selection;
    report.bytes_least = least_bytes(graph, last);
    status = add_selection_steps(*region.selection, buffers, compiled.program, report);
    report.bytes_moved = std::max(report.bytes_moved, report.bytes_least);
  } else if (region.status.ok()) {
    for (const PlannedPart& part : region.parts) {
      // The parts of a copy write one output, each its share.
      report.bytes_least += least_bytes(graph, part.lowered.inputs);
      if (&part == &region.parts[0]) report.bytes_least += least_bytes(graph, part.lowered.outputs);
      if (status.ok()) status = add_kernel_steps(part.plan, part.lowered, buffers, compiled.program, report);
    }
    // Of a tensor that it reads slices of, it need not move the whole.
    report.bytes_least = std::min(report.bytes_least, report.bytes_moved);
  } else if (is_unsupported(region.status.code())) {
    report.kind = RegionReport::Kind::reference;
    report.reason = region.status.message();
    report.bytes_moved = report.bytes_least = least_bytes(graph, last);
    status = add_reference_step(graph, last, buffers, compiled.program);
  } else {
    status = region.status;
  }
  if (status.ok()) compiled.regions.push_back(std::move(report));
  return status;
}

}  // namespace

jit::CodeMemoryStats kernel_cache_stats() { return kernel_cache().stats(); }

Result<Compiled> compile(const graph::Graph& graph, const target::Target& target, const Options& options) {
  Compiled compiled;
  Partition parts = partition(graph, target, options.fuse, options.pieces);
  if (options.tuning != nullptr)
    for (Region& region : parts.regions) {
      if (region.selection) apply_tuning(*options.tuning, target, region.selection->plan, compiled.notices);
      for (PlannedPart& part : region.parts) apply_tuning(*options.tuning, target, part.plan, compiled.notices);
    }
  Buffers buffers(graph, parts.regions, compiled.program);
  for (const Region& region : parts.regions) {
    Status status = compile_region(graph, region, buffers, compiled);
    if (!status.ok()) return status;
    buffers.end_region();
  }
  for (const Unfused& edge : parts.unfused) compiled.unfused.push_back(unfused_report(graph, edge));
  // Must come last: it copies what the steps above have written.
  add_copy_steps(graph, buffers, compiled.program);
  compiled.program.large_need = runtime::large_need_of(compiled.program);
  compiled.in_place = find_in_place(compiled.program, compiled.regions);
  return compiled;
}

}  // namespace tenfold::compiler
