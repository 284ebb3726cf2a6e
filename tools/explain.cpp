// SPDX-License-Identifier: Apache-2.0
//
// `tenfold explain`: how a graph will run, region by region, and what the passes made of it on the way.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compile/compile.hpp"
#include "graph/eval/eval.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "jit/announce.hpp"
#include "jit/emit.hpp"
#include "jit/listing.hpp"
#include "kernel/spec.hpp"
#include "schedule/schedule.hpp"
#include "target/target.hpp"
#include "tools/commands.hpp"
#include "tools/fill.hpp"
#include "tools/graph_file.hpp"
#include "tools/printable.hpp"
#include "tools/report.hpp"
#include "tools/run_inputs.hpp"
#include "tools/tuning_notes.hpp"

namespace tenfold::tools {

namespace {

/// A kernel needs axes to be explained; inputs that hold them become the constants that `run` would fill in. Returns a
/// note for each.
std::vector<std::string> fix_runtime_axes(graph::Graph& graph) {
  std::vector<std::string> notes;
  for (const AxesInputUse& use : axes_input_uses(graph)) {
    for (graph::Value& value : graph.values) {
      if (value.id != use.id || !graph::is_static(value)) continue;
      const auto axes = default_axes(use, value.shape.empty() ? 1 : value.shape[0]);
      std::vector<std::byte> data(axes.size() * static_cast<std::size_t>(byte_size(value.dtype)));
      for (std::size_t i = 0; i < axes.size(); ++i)
        graph::store_real(value.dtype, data.data(), static_cast<std::int64_t>(i), static_cast<double>(axes[i]));
      value.data = std::move(data);
      value.is_constant = true;
      value.strides.clear();
      notes.push_back("input " + std::to_string(use.id) + " holds axes known at run time; explained for " +
                      to_string(axes));
    }
    std::erase_if(graph.inputs, [&](graph::ValueId v) { return graph.values[v].is_constant; });
  }
  return notes;
}

struct Dump {
  std::string pass, text;
};

/// The kernel's code as it would be emitted now, listed.
Result<std::string> list_kernel(const compiler::KernelReport& kernel) {
  const Result<jit::EmittedCode> code = jit::emit(kernel.spec, kernel.schedule);
  if (!code.ok()) return code.status();
  return jit::listing(code.value().bytes);
}

/// All kernels' listings, or one notice where there are none to be had.
std::string list_kernels(const compiler::Compiled& compiled) {
  std::string text;
  for (std::size_t r = 0; r < compiled.regions.size(); ++r)
    for (std::size_t k = 0; k < compiled.regions[r].kernels.size(); ++k) {
      const compiler::KernelReport& kernel = compiled.regions[r].kernels[k];
      const Result<std::string> listed = list_kernel(kernel);
      if (!listed.ok()) return "note: " + listed.status().message() + "\n";
      text += "code of region " + std::to_string(r) + ", kernel " + std::to_string(k) + ": " +
              jit::kernel_name(kernel.spec, kernel.schedule, jit::class_key(kernel.spec, kernel.schedule)) + "\n" +
              listed.value();
    }
  return text;
}

Json region_json(const compiler::RegionReport& region, bool with_asm) {
  Json json = {{"kind", to_string(region.kind)}, {"ops", region.ops}, {"kernels", Json::array()}};
  for (const compiler::KernelReport& kernel : region.kernels) {
    json["kernels"].push_back({{"spec", kernel::print(kernel.spec)},
                               {"schedule", schedule::print(kernel.schedule)},
                               {"code_bytes", kernel.code_bytes},
                               {"bytes_moved", kernel.bytes_moved}});
    if (!with_asm) continue;
    const Result<std::string> listed = list_kernel(kernel);
    json["kernels"].back()[listed.ok() ? "asm" : "asm_notice"] =
        listed.ok() ? listed.value() : listed.status().message();
  }
  if (region.selection)
    json["selection"] = {
        {"places", region.selection->places}, {"extent", region.selection->extent}, {"block", region.selection->block}};
  if (region.heavy) {
    json["onednn"] = {
        {"implementation", region.heavy->implementation}, {"spec", region.heavy->spec}, {"tasks", region.heavy->tasks}};
    for (const DType dtype : region.heavy->widened) json["onednn"]["widened"].push_back(to_string(dtype));
  }
  json["bytes_least"] = region.bytes_least;
  json["bytes_moved"] = region.bytes_moved;
  if (!region.reason.empty()) json["reason"] = region.reason;
  return json;
}

void print_answer(const ExplainOptions& options, const std::vector<std::string>& notes, const std::vector<Dump>& dumps,
                  const compiler::Compiled& compiled, const target::Target& target) {
  if (!options.json) {
    for (const Dump& dump : dumps)
      std::printf("after %s:\n%s\n", dump.pass.c_str(), printable_lines(dump.text).c_str());
    for (const std::string& note : notes) std::printf("note: %s\n", printable(note).c_str());
    std::printf("%s", printable_lines(compiler::explain(compiled, target)).c_str());
    if (options.with_asm) std::printf("%s", list_kernels(compiled).c_str());
    return;
  }
  Json answer = json_answer("explain");
  answer["target"] = std::string(target::to_string(target.isa));
  answer["notes"] = notes;
  for (const std::string& notice : compiled.notices) answer["notes"].push_back(notice);
  answer["regions"] = Json::array();
  for (const compiler::RegionReport& region : compiled.regions)
    answer["regions"].push_back(region_json(region, options.with_asm));
  answer["unfused"] = Json::array();
  for (const compiler::UnfusedReport& edge : compiled.unfused)
    answer["unfused"].push_back({{"from", edge.from}, {"to", edge.to}, {"reason", edge.reason}});
  for (const Dump& dump : dumps) answer["dumps"].push_back({{"pass", dump.pass}, {"graph", dump.text}});
  print_json(answer);
}

}  // namespace

int explain_graph(const ExplainOptions& options) {
  if (options.threads < 0)
    return fail("explain", options.json, Status(Code::invalid_argument, negative_threads(options.threads)));
  const Result<target::Target> host = target::host_named(options.target);
  if (!host.ok()) return fail("explain", options.json, host.status());
  target::Target target = host.value();
  if (options.threads > 0) target.cores = std::min(target.cores, options.threads);
  const Result<Graph> read = read_graph_file(options.graph, options.data_dir);
  if (!read.ok()) return fail("explain", options.json, read.status());
  graph::Graph graph = read.value().ir();
  const Result<GivenInputs> given = parse_given_inputs(graph, {}, options.shapes);
  if (!given.ok()) return fail("explain", options.json, given.status());
  adopt_shapes(graph, given.value().shapes);
  std::vector<std::string> notes = fix_runtime_axes(graph);
  if (std::string note = engine_note(read.value()); !note.empty()) notes.push_back(std::move(note));

  std::vector<Dump> dumps;
  std::string passes;
  const Status piped = graph::run_pipeline(graph, [&](std::string_view pass, const graph::Graph& now) {
    if (passes.find(pass) == std::string::npos) passes += (passes.empty() ? "" : ", ") + std::string(pass);
    if (options.dump == "all" || options.dump == pass) dumps.push_back({std::string(pass), graph::print(now)});
  });
  if (!piped.ok()) return fail("explain", options.json, piped);
  if (!options.dump.empty() && dumps.empty())
    return fail("explain", options.json,
                Status(Code::invalid_argument,
                       "--dump '" + options.dump + "' is no pass; the passes are " + passes + ", or all"));
  for (const graph::Value& value : graph.values)
    if (value.producer != graph::kNone && !graph::is_static(value))
      return fail("explain", options.json,
                  Status(Code::unsupported_op, "the shape of tensor " + std::to_string(value.id) +
                                                   " cannot be known before the run: its op has run-time axes that "
                                                   "another op computes, or no shape rule"));
  compiler::Options compile_options;
  const std::shared_ptr<const compiler::Tuning> tuning = load_tuning(notes);
  compile_options.tuning = tuning.get();
  const Result<compiler::Compiled> compiled = compiler::compile(graph, target, compile_options);
  if (!compiled.ok()) return fail("explain", options.json, compiled.status());
  print_answer(options, notes, dumps, compiled.value(), target);
  return kExitOk;
}

}  // namespace tenfold::tools
