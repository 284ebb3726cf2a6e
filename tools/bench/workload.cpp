// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/workload.hpp"

#include <cstring>
#include <limits>
#include <sstream>
#include <utility>

#include "graph/check/check.hpp"
#include "tenfold/tenfold.hpp"
#include "tools/bench/interrupt.hpp"
#include "tools/bench/lines.hpp"
#include "tools/bench/reduction.hpp"
#include "tools/bench/rivals.hpp"
#include "tools/bench/roof.hpp"
#include "tools/graph_file.hpp"
#include "tools/memory.hpp"
#include "tools/report.hpp"
#include "tools/run_inputs.hpp"

namespace tenfold::tools::bench {
namespace {

constexpr std::int64_t kPage = 4096;

std::int64_t whole_pages(std::int64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

Result<Arena> make_arena(std::int64_t bytes) {
  if (Status status = check_memory("operands", bytes); !status.ok()) return status;
  Arena arena;
  arena.bytes = bytes;
  const auto size = static_cast<std::size_t>(whole_pages(bytes + kProbeSlack));
  arena.memory.reset(std::aligned_alloc(static_cast<std::size_t>(kPage), size));
  if (arena.memory == nullptr)
    return Status(Code::out_of_memory, "no memory for tensors of " + std::to_string(bytes) + " bytes");
  // Pages come into being now, not on the clock.
  std::memset(arena.memory.get(), 0, size);
  return arena;
}

/// Where each tensor begins, on a page of its own, and how long all are.
struct Layout {
  std::vector<std::int64_t> offsets;
  std::int64_t span = 0;
  std::int64_t moved = 0;  ///< bytes
};

Result<Layout> lay_out(const std::vector<TensorInfo>& infos) {
  Layout layout;
  for (const TensorInfo& info : infos) {
    const Result<std::int64_t> span = span_bytes(info.desc);
    if (!span.ok()) return span.status();
    layout.offsets.push_back(layout.span);
    layout.span += whole_pages(span.value());
    layout.moved += bytes_moved(info.desc);
  }
  return layout;
}

Status fill_inputs(const Case& what, const Graph& graph, const std::vector<TensorInfo>& infos, Operands& made) {
  if (what.graph.empty()) {
    const Result<std::int64_t> span = span_bytes(infos[0].desc);
    if (!span.ok()) return span.status();
    fill_ordinary(static_cast<std::byte*>(made.in.memory.get()), what.dtype, span.value() / byte_size(what.dtype));
    return {};
  }
  const Result<std::vector<FilledInput>> filled = make_inputs(graph.ir(), infos, {}, 1, &interrupted);
  if (!filled.ok()) return filled.status();
  for (std::size_t i = 0; i < infos.size(); ++i)
    std::memcpy(const_cast<void*>(made.inputs[i]), filled.value()[i].tensor.data(),
                static_cast<std::size_t>(span_bytes(infos[i].desc).value()));
  return {};
}

std::vector<std::string> schedule_lines(const std::string& explained) {
  constexpr std::string_view kMark = "    schedule ";
  std::vector<std::string> schedules;
  std::istringstream lines(explained);
  for (std::string line; std::getline(lines, line);)
    if (line.compare(0, kMark.size(), kMark) == 0) schedules.push_back(line.substr(kMark.size()));
  return schedules;
}

Contender call_of(std::string name, const CompiledPartition& partition, const Operands& operands) {
  return {std::move(name), [partition, &operands] {
            (void)partition.execute(operands.inputs.data(), operands.inputs.size(), operands.outputs.data(),
                                    operands.outputs.size());
          }};
}

void invite_onednn(Result<Contender> onednn, Workload& made) {
  if (onednn.ok()) {
    made.entrants.push_back({Role::rival, std::move(onednn).value()});
  } else {
    made.absent.push_back("oneDNN: NOT RUN: " + onednn.status().message());
  }
}

void invite_rivals_of_reduction(Workload& made) {
  RivalCase rival{&made.what, input_of(made.what), kept_shape(made.what), made.operands.inputs[0],
                  made.operands.outputs[0]};
  invite_onednn(onednn_reduction(rival), made);
  if (Result<std::vector<Contender>> loops = plain_loops(rival); loops.ok()) {
    for (Contender& loop : loops.value()) made.entrants.push_back({Role::rival, std::move(loop)});
  } else {
    made.absent.push_back("plain loops: NOT RUN: " + loops.status().message());
  }
}

/// oneDNN, where it has the graph's op, and the same graph without fusion.
Status invite_rivals_of_graph(const Graph& graph, Workload& made) {
  invite_onednn(onednn_op({&made.what, &graph.ir(), made.operands.inputs, made.operands.outputs}), made);
  CompileOptions options = compile_options(made.what);
  options.fuse = false;
  const Result<CompiledPartition> apart = compile(graph, options);
  if (!apart.ok()) return apart.status();
  made.entrants.push_back({Role::rival, call_of("tenfold, op by op", apart.value(), made.operands)});
  return Status();
}

/// With the shapes that the case gives its inputs, so that no dim of these is open.
Result<Graph> closed_graph_file(const Case& what) {
  Result<Graph> read = read_graph_file(what.graph, what.data_dir);
  if (!read.ok()) return read;
  const Result<GivenInputs> given = parse_given_inputs(read.value().ir(), {}, what.input_shapes);
  if (!given.ok()) return given.status().about("'" + what.graph + "'");
  if (given.value().shapes.empty()) return read;
  auto closed = std::make_shared<graph::Graph>(read.value().ir());
  adopt_shapes(*closed, given.value().shapes);
  for (const auto step : {graph::verify, graph::infer})
    if (Status status = step(*closed); !status.ok()) return status.about("'" + what.graph + "'");
  return Graph(std::move(closed));
}

}  // namespace

Result<Graph> graph_of(const Case& what) {
  if (!what.graph.empty()) return closed_graph_file(what);
  const Result<std::int64_t> bytes = span_bytes(input_of(what));
  if (!bytes.ok()) return bytes.status();
  if (bytes.value() == 0) return Status(Code::invalid_argument, "the shape has no element");
  return reduction_graph(what);
}

CompileOptions compile_options(const Case& what) {
  CompileOptions options;
  options.target = what.target;
  options.threads = what.threads;
  return options;
}

Result<Operands> make_operands(const Case& what, const Graph& graph, const CompiledPartition& partition) {
  Operands made;
  const Result<std::int64_t> inputs = bytes_of(partition.inputs()), outputs = bytes_of(partition.outputs());
  if (!inputs.ok()) return inputs.status();
  if (!outputs.ok()) return outputs.status();
  // A graph's inputs are filled elsewhere, then copied.
  const std::int64_t copies = what.graph.empty() ? 1 : 2;
  if (inputs.value() > (std::numeric_limits<std::int64_t>::max() - outputs.value()) / copies)
    return Status(Code::out_of_memory, "inputs and outputs are of more than 2^63 bytes");
  if (Status status = check_memory("inputs and outputs", copies * inputs.value() + outputs.value()); !status.ok())
    return status;
  const Result<Layout> in = lay_out(partition.inputs());
  if (!in.ok()) return in.status();
  Result<Arena> arena = make_arena(in.value().span);
  if (!arena.ok()) return arena.status();
  made.in = std::move(arena).value();
  made.read_bytes = in.value().moved;
  for (const std::int64_t offset : in.value().offsets)
    made.inputs.push_back(static_cast<const char*>(made.in.memory.get()) + offset);
  if (Status status = error_if_interrupted(); !status.ok()) return status;
  if (Status status = fill_inputs(what, graph, partition.inputs(), made); !status.ok()) return status;
  if (Status status = error_if_interrupted(); !status.ok()) return status;
  const Result<std::vector<TensorInfo>> infos = partition.query_outputs(made.inputs.data(), made.inputs.size());
  if (!infos.ok()) return infos.status();
  const Result<Layout> out = lay_out(infos.value());
  if (!out.ok()) return out.status();
  arena = make_arena(out.value().span);
  if (!arena.ok()) return arena.status();
  made.out = std::move(arena).value();
  made.write_bytes = out.value().moved;
  for (const std::int64_t offset : out.value().offsets)
    made.outputs.push_back(static_cast<char*>(made.out.memory.get()) + offset);
  return made;
}

Result<std::unique_ptr<Workload>> make_workload(const Case& what, bool with_rivals) {
  const Result<Graph> graph = graph_of(what);
  if (!graph.ok()) return graph.status();
  const Result<CompiledPartition> fused = compile(graph.value(), compile_options(what));
  if (!fused.ok()) return fused.status();
  Result<Operands> operands = make_operands(what, graph.value(), fused.value());
  if (!operands.ok()) return operands.status();
  auto made = std::make_unique<Workload>(Workload{what, fused.value(), std::move(operands).value(), {}, {}, {}});
  const Operands& used = made->operands;
  const Status first =
      fused.value().execute(used.inputs.data(), used.inputs.size(), used.outputs.data(), used.outputs.size());
  if (!first.ok()) return first;
  if (Status status = error_if_interrupted(); !status.ok()) return status;
  made->schedules = schedule_lines(fused.value().explain());
  for (Contender& probe :
       probes(used.in.memory.get(), used.read_bytes, used.out.memory.get(), used.write_bytes, what.threads))
    made->entrants.push_back({Role::roof, std::move(probe)});
  made->entrants.push_back({Role::tenfold, call_of("tenfold", fused.value(), used)});
  made->entrants.push_back({Role::again, call_of("tenfold again", fused.value(), used)});
  if (!with_rivals) return made;
  if (what.graph.empty()) {
    invite_rivals_of_reduction(*made);
  } else if (Status status = invite_rivals_of_graph(graph.value(), *made); !status.ok()) {
    return status;
  }
  return made;
}

}  // namespace tenfold::tools::bench
