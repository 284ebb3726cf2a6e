// SPDX-License-Identifier: Apache-2.0
//
// `tenfold run`: reads a graph file, compiles it, fills its inputs, runs it, and reports outputs, times and, with
// --check, how they compare with the reference evaluator.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "graph/ir/graph.hpp"
#include "target/target.hpp"
#include "tenfold/compiled_partition.hpp"
#include "tools/commands.hpp"
#include "tools/compare.hpp"
#include "tools/fill.hpp"
#include "tools/graph_file.hpp"
#include "tools/memory.hpp"
#include "tools/npy.hpp"
#include "tools/outputs.hpp"
#include "tools/printable.hpp"
#include "tools/report.hpp"
#include "tools/run_inputs.hpp"
#include "tools/summary.hpp"
#include "tools/tuning_notes.hpp"

namespace tenfold::tools {

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

/// All that a run learns, for the two kinds of report.
struct RunResult {
  target::Target target;
  std::vector<TensorInfo> input_infos, output_infos;
  std::map<TensorId, std::string> names;  ///< of tensors that have one
  std::vector<FilledInput> inputs;
  std::vector<Tensor> outputs;
  std::vector<Comparison> comparisons;
  double compile_ms = 0;
  std::vector<double> times_ms;  ///< ascending
  double least_ms() const { return times_ms.front(); }
  double median_ms() const {
    const std::size_t half = times_ms.size() / 2;
    return times_ms.size() % 2 == 1 ? times_ms[half] : (times_ms[half - 1] + times_ms[half]) / 2;
  }
  bool agrees() const {
    return std::all_of(comparisons.begin(), comparisons.end(), [](const Comparison& c) { return c.outside == 0; });
  }
};

Status check_options(const RunOptions& options) {
  if (options.threads < 0) return Status(Code::invalid_argument, negative_threads(options.threads));
  if (options.repeat < 1)
    return Status(Code::invalid_argument, "--repeat " + std::to_string(options.repeat) + " is not at least 1");
  return Status();
}

/// Makes the directory and proves that a file can be written there, before any work is done.
Status open_output_dir(const std::string& dir) {
  if (dir.empty()) return Status();
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  const std::filesystem::path probe = std::filesystem::path(dir) / ".tenfold_write_probe";
  const bool writable = !error && std::ofstream(probe).put('\n').good();
  std::filesystem::remove(probe, error);
  if (writable) return Status();
  return Status(Code::invalid_file, "--output-dir '" + dir + "' is not a directory that can be written to");
}

/// Inputs and outputs together, before any of them is filled.
Status check_memory_of(const CompiledPartition& partition) {
  std::vector<TensorInfo> infos = partition.inputs();
  infos.insert(infos.end(), partition.outputs().begin(), partition.outputs().end());
  const Result<std::int64_t> bytes = bytes_of(infos);
  if (!bytes.ok()) return bytes.status();
  return check_memory("inputs and outputs", bytes.value());
}

/// What went wrong, and the inputs that were drawn though no drawn value is likely to do.
Status blame_drawn(const Status& status, const graph::Graph& graph, const RunResult& result) {
  std::string hints;
  for (const TensorId id : steering_inputs(graph))
    for (std::size_t i = 0; i < result.inputs.size(); ++i)
      if (result.input_infos[i].id == id && result.inputs[i].is_drawn)
        hints += " --input " + std::to_string(id) + "=FILE.npy";
  if (hints.empty()) return status;
  return Status(status.code(), status.message() + "; for what was drawn at random, give" + hints);
}

Status execute_timed(const CompiledPartition& partition, int repeat, RunResult& result) {
  std::vector<const void*> inputs;
  for (const FilledInput& input : result.inputs) inputs.push_back(input.tensor.data());
  Result<Outputs> outputs = make_outputs(partition, inputs);
  if (!outputs.ok()) return outputs.status();
  // The first run pays for page faults and cold caches; it gives the results, not a time.
  for (int i = 0; i <= repeat; ++i) {
    const Clock::time_point start = Clock::now();
    if (Status s = execute(partition, inputs, outputs.value()); !s.ok()) return s;
    if (i > 0) result.times_ms.push_back(milliseconds(Clock::now() - start));
  }
  std::sort(result.times_ms.begin(), result.times_ms.end());
  result.output_infos = std::move(outputs.value().infos);
  result.outputs = std::move(outputs.value().tensors);
  return Status();
}

Status run_and_compare(const Graph& graph, const RunOptions& options, RunResult& result) {
  Result<GivenInputs> given = parse_given_inputs(graph.ir(), options.inputs, options.shapes);
  if (!given.ok()) return given.status();
  const Result<target::Target> target = target::host_named(options.target);
  if (!target.ok()) return target.status();
  result.target = target.value();
  for (const graph::Value& value : graph.ir().values)
    if (!value.name.empty()) result.names.emplace(value.id, value.name);
  CompileOptions compile_options;
  compile_options.target = options.target;
  compile_options.threads = options.threads;
  compile_options.input_shapes = given.value().shapes;
  const Clock::time_point start = Clock::now();
  const Result<CompiledPartition> partition = compile(graph, compile_options);
  if (!partition.ok()) return partition.status();
  result.compile_ms = milliseconds(Clock::now() - start);
  if (Status s = check_memory_of(partition.value()); !s.ok()) return s;
  result.input_infos = partition.value().inputs();
  Result<std::vector<FilledInput>> inputs = make_inputs(graph.ir(), result.input_infos, given.value(), options.seed);
  if (!inputs.ok()) return inputs.status();
  result.inputs = std::move(inputs).value();
  if (Status s = execute_timed(partition.value(), options.repeat, result); !s.ok())
    return blame_drawn(s, graph.ir(), result);
  if (!options.check) return Status();
  std::vector<const Tensor*> tensors;
  for (const FilledInput& input : result.inputs) tensors.push_back(&input.tensor);
  const Result<Expected> expected = evaluate_expected(graph.ir(), result.input_infos, tensors, result.output_infos);
  if (!expected.ok()) return blame_drawn(expected.status(), graph.ir(), result);
  result.comparisons = compare_outputs(expected.value(), result.output_infos, result.outputs);
  return Status();
}

Status write_outputs(const std::string& dir, const RunResult& result) {
  if (dir.empty()) return Status();
  for (std::size_t i = 0; i < result.outputs.size(); ++i) {
    const std::string name = std::to_string(result.output_infos[i].id) + ".npy";
    if (Status s = write_npy((std::filesystem::path(dir) / name).string(), result.outputs[i]); !s.ok()) return s;
  }
  return Status();
}

/// A fallback is never silent.
std::string target_text(const target::Target& target) {
  const std::string name(target::to_string(target.isa));
  if (target.isa != target::Isa::reference) return name;
  return name + (target.native == target::Isa::reference ? " (this CPU is below avx2" : " (as asked") +
         ": the reference evaluator runs, nothing is compiled)";
}

/// "3 'logits'  f32 [8, 1000]"; the name where the graph has one.
std::string tensor_text(const RunResult& result, const TensorInfo& info) {
  const auto name = result.names.find(info.id);
  return std::to_string(info.id) + (name == result.names.end() ? "" : " '" + printable(name->second) + "'") + "  " +
         desc_text(info.desc);
}

void print_text(const RunOptions& options, const RunResult& result) {
  std::printf("target %s\n", target_text(result.target).c_str());
  std::printf("seed %llu\n", static_cast<unsigned long long>(options.seed));
  for (std::size_t i = 0; i < result.inputs.size(); ++i)
    std::printf("input %s  %s\n", tensor_text(result, result.input_infos[i]).c_str(),
                printable(result.inputs[i].source).c_str());
  for (std::size_t i = 0; i < result.outputs.size(); ++i)
    std::printf("output %s  %s\n", tensor_text(result, result.output_infos[i]).c_str(),
                summary_text(summarize(result.outputs[i])).c_str());
  std::printf("time  least %.4f ms, median %.4f ms of %zu; compile %.3f ms\n", result.least_ms(), result.median_ms(),
              result.times_ms.size(), result.compile_ms);
  for (const Comparison& c : result.comparisons) {
    std::printf("check output %lld: %s, greatest difference %.3g, widest bound %.3g", static_cast<long long>(c.id),
                c.outside == 0 ? "within the bound" : "OUTSIDE THE BOUND", c.greatest_difference, c.greatest_bound);
    if (c.outside > 0)
      std::printf("; %lld of %lld elements, first %s", static_cast<long long>(c.outside),
                  static_cast<long long>(c.elements), c.first_outside.c_str());
    if (c.unbounded > 0)
      std::printf("; %lld of %lld elements have no bound", static_cast<long long>(c.unbounded),
                  static_cast<long long>(c.elements));
    std::printf("\n");
  }
}

Json tensor_json(const RunResult& result, const TensorInfo& info) {
  Json json = {{"id", info.id}};
  if (const auto name = result.names.find(info.id); name != result.names.end()) json["name"] = name->second;
  json["dtype"] = std::string(to_string(info.desc.dtype));
  json["shape"] = json_shape(info.desc.shape);
  return json;
}

void print_run_json(const RunOptions& options, const RunResult& result) {
  Json answer = json_answer("run");
  answer["ok"] = result.agrees();
  answer["graph"] = options.graph;
  answer["target"] = std::string(target::to_string(result.target.isa));
  answer["seed"] = options.seed;
  answer["inputs"] = Json::array();
  for (std::size_t i = 0; i < result.inputs.size(); ++i) {
    answer["inputs"].push_back(tensor_json(result, result.input_infos[i]));
    answer["inputs"].back()["source"] = result.inputs[i].source;
  }
  answer["outputs"] = Json::array();
  for (std::size_t i = 0; i < result.outputs.size(); ++i) {
    answer["outputs"].push_back(tensor_json(result, result.output_infos[i]));
    answer["outputs"].back()["summary"] = summary_json(summarize(result.outputs[i]));
  }
  answer["time_ms"] = {{"least", result.least_ms()},
                       {"median", result.median_ms()},
                       {"runs", result.times_ms.size()},
                       {"compile", result.compile_ms}};
  if (options.check) answer["check"] = Json::array();
  for (const Comparison& c : result.comparisons) {
    Json entry = {{"id", c.id},
                  {"agrees", c.outside == 0},
                  {"elements", c.elements},
                  {"outside", c.outside},
                  {"unbounded", c.unbounded},
                  {"greatest_difference", json_real(c.greatest_difference)},
                  {"widest_bound", json_real(c.greatest_bound)}};
    if (c.outside > 0) entry["first_outside"] = c.first_outside;
    answer["check"].push_back(std::move(entry));
  }
  print_json(answer);
}

}  // namespace

int run_graph(const RunOptions& options) {
  if (Status s = check_options(options); !s.ok()) return fail("run", options.json, s);
  const Result<Graph> graph = read_graph_file(options.graph, options.data_dir);
  if (!graph.ok()) return fail("run", options.json, graph.status());
  if (Status s = open_output_dir(options.output_dir); !s.ok()) return fail("run", options.json, s, kExitRunTime);
  if (const std::string note = engine_note(graph.value()); !note.empty()) print_note("run", note);
  print_tuning_notes("run");
  RunResult result;
  if (Status s = run_and_compare(graph.value(), options, result); !s.ok()) return fail("run", options.json, s);
  if (Status s = write_outputs(options.output_dir, result); !s.ok()) return fail("run", options.json, s, kExitRunTime);
  options.json ? print_run_json(options, result) : print_text(options, result);
  return result.agrees() ? kExitOk : kExitFailed;
}

}  // namespace tenfold::tools
