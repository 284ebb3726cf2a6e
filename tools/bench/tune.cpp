// SPDX-License-Identifier: Apache-2.0
//
// A kernel's candidates are tried within the whole program that it is part of, interleaved with the heuristic's
// schedule, which runs twice to show the noise. The best one must win a second measurement against it, too.
#include "tools/bench/tune.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "compile/compile.hpp"
#include "compile/tuning.hpp"
#include "graph/pass/pass.hpp"
#include "runtime/default_pool.hpp"
#include "runtime/program.hpp"
#include "schedule/estimate.hpp"
#include "schedule/neighbours.hpp"
#include "target/target.hpp"
#include "tenfold/tenfold.hpp"
#include "tools/bench/bench.hpp"
#include "tools/bench/interrupt.hpp"
#include "tools/bench/workload.hpp"
#include "tools/printable.hpp"
#include "tools/progress.hpp"

namespace tenfold::tools::bench {
namespace {

/// Less is not worth an entry, whatever the noise.
constexpr double kLeastGain = 1.02;

/// One kernel's result.
struct Tuned {
  std::string name;
  std::size_t kernel = 0, tried = 0;
  double gain = 1;
  schedule::Schedule before, after;
  std::string failed;  ///< why the case was left out
};

/// A case ready to be compiled again and again.
struct Subject {
  graph::Graph core;
  target::Target target;
  Operands operands;
  std::vector<const void*> inputs;  ///< in the core graph's order
  std::vector<void*> outputs;
  int threads = 1;
};

using Program = std::shared_ptr<const compiler::Compiled>;

Result<Subject> make_subject(const Case& what) {
  Subject made;
  Result<target::Target> target = target::host_named(what.target);
  if (!target.ok()) return target.status();
  made.target = target.value();
  made.target.cores = std::min(made.target.cores, what.threads);
  made.threads = what.threads;
  const Result<Graph> graph = graph_of(what);
  if (!graph.ok()) return graph.status();
  const Result<CompiledPartition> partition = compile(graph.value(), compile_options(what));
  if (!partition.ok()) return partition.status();
  Result<Operands> operands = make_operands(what, graph.value(), partition.value());
  if (!operands.ok()) return operands.status();
  made.operands = std::move(operands).value();
  made.core = graph.value().ir();
  if (Status status = graph::run_pipeline(made.core); !status.ok()) return status;
  const auto place = [&](const std::vector<TensorInfo>& infos, graph::ValueId value) {
    const auto at = std::find_if(infos.begin(), infos.end(),
                                 [&](const TensorInfo& info) { return info.id == made.core.values[value].id; });
    return static_cast<std::size_t>(at - infos.begin());
  };
  for (const graph::ValueId value : made.core.inputs)
    made.inputs.push_back(made.operands.inputs.at(place(partition.value().inputs(), value)));
  for (const graph::ValueId value : made.core.outputs)
    made.outputs.push_back(made.operands.outputs.at(place(partition.value().outputs(), value)));
  return made;
}

Result<Program> compile_with(const Subject& subject, const compiler::Tuning& tuning) {
  compiler::Options options;
  options.tuning = &tuning;
  Result<compiler::Compiled> compiled = compiler::compile(subject.core, subject.target, options);
  if (!compiled.ok()) return compiled.status();
  return std::make_shared<const compiler::Compiled>(std::move(compiled).value());
}

Status run(const Subject& subject, const Program& program) {
  ThreadPool* const pool = subject.threads > 1 ? &runtime::default_pool() : nullptr;
  return runtime::run(program->program, subject.inputs, subject.outputs, pool, subject.threads);
}

/// What the program leaves in the outputs, bit by bit.
Result<std::string> bits_of(const Subject& subject, const Program& program) {
  std::memset(subject.operands.out.memory.get(), 0, static_cast<std::size_t>(subject.operands.out.bytes));
  if (Status status = run(subject, program); !status.ok()) return status;
  return std::string(static_cast<const char*>(subject.operands.out.memory.get()),
                     static_cast<std::size_t>(subject.operands.out.bytes));
}

Contender contender(const Subject& subject, const Program& program) {
  return {"", [&subject, program] { (void)run(subject, program); }};
}

/// Timings of the heuristic's program, of it again, and of the others.
std::vector<Timing> race(const Subject& subject, const Program& base, const std::vector<Program>& others,
                         double seconds) {
  std::vector<Contender> contenders{contender(subject, base), contender(subject, base)};
  for (const Program& other : others) contenders.push_back(contender(subject, other));
  MeasureOptions options;
  options.seconds = seconds;
  options.is_stopped = &interrupted;
  return measure(contenders, options);
}

/// How much faster the third is than the first, or 1 where that is within the noise.
double gain_of(const Timing& base, const Timing& again, const Timing& other) {
  const double gain = base.least / other.least;
  return rank(other, base, noise_of(base, again)) < 0 && gain >= kLeastGain ? gain : 1;
}

/// An error after Ctrl-C: a race that was cut short decides nothing.
Result<Tuned> tune_kernel(const Subject& subject, const compiler::KernelReport& kernel, const compiler::Tuning& won,
                          const TuneOptions& options) {
  Tuned result;
  result.before = result.after = kernel.schedule;
  const Result<Program> base = compile_with(subject, won);
  if (!base.ok()) return base.status();
  const Result<std::string> expected = bits_of(subject, base.value());
  if (!expected.ok()) return expected.status();
  std::vector<Program> programs;
  std::vector<schedule::Schedule> schedules;
  for (const schedule::Schedule& candidate :
       schedule::promising(kernel.spec, kernel.schedule, subject.target, static_cast<std::size_t>(options.most))) {
    if (Status status = error_if_interrupted(); !status.ok()) return status;
    compiler::Tuning tuning = won;
    tuning.add(kernel.spec, subject.target.cores, candidate);
    const Result<Program> program = compile_with(subject, tuning);
    if (!program.ok()) return program.status();
    const Result<std::string> bits = bits_of(subject, program.value());
    if (!bits.ok()) return bits.status();
    if (bits.value() != expected.value())
      return Status(Code::internal_error, "schedule '" + schedule::print(candidate) + "' gives other bits than '" +
                                              schedule::print(kernel.schedule) + "'");
    programs.push_back(program.value());
    schedules.push_back(candidate);
  }
  result.tried = programs.size();
  if (programs.empty()) return result;
  const std::vector<Timing> timings = race(subject, base.value(), programs, options.seconds);
  if (Status status = error_if_interrupted(); !status.ok()) return status;
  const auto best = std::min_element(timings.begin() + 2, timings.end(),
                                     [](const Timing& a, const Timing& b) { return a.least < b.least; });
  if (gain_of(timings[0], timings[1], *best) == 1) return result;
  const auto index = static_cast<std::size_t>(best - timings.begin() - 2);
  const std::vector<Timing> again = race(subject, base.value(), {programs[index]}, options.seconds / 2);
  if (Status status = error_if_interrupted(); !status.ok()) return status;
  result.gain = gain_of(again[0], again[1], again[2]);
  if (result.gain > 1) result.after = schedules[index];
  return result;
}

std::string today() {
  char text[16] = {};
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  std::strftime(text, sizeof text, "%Y-%m-%d", gmtime_r(&now, &utc));
  return text;
}

/// Told before minutes of measuring rather than after; and there is a file to name even where nothing was gained.
Status open_records(const std::string& file) {
  std::ifstream before(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(before), {}};
  if (!compiler::is_tuning_text(text))
    return Status(Code::invalid_argument, "'" + file + "' is no tuning file, and nothing is added to it");
  return std::ofstream(file, std::ios::binary | std::ios::app) ? Status() : cannot_write(file);
}

Status append_record(const std::string& file, const Subject& subject, const compiler::KernelReport& kernel,
                     const Tuned& tuned) {
  if (file.empty() || tuned.gain == 1) return {};
  std::ofstream out(file, std::ios::binary | std::ios::app);
  out << compiler::print(
      compiler::TuningRecord{target::cpu_name(), today(), subject.target.cores, tuned.gain, kernel.spec, tuned.after});
  out.flush();
  return out ? Status() : cannot_write(file);
}

/// All kernels of one case, each with what the ones before it have won.
Status tune_case(const Case& what, const TuneOptions& options, std::vector<Tuned>& all) {
  Result<Subject> subject = make_subject(what);
  if (!subject.ok()) return subject.status();
  compiler::Tuning won;
  const Result<Program> heuristic = compile_with(subject.value(), won);
  if (!heuristic.ok()) return heuristic.status();
  std::size_t number = 0;
  for (const compiler::RegionReport& region : heuristic.value()->regions)
    for (const compiler::KernelReport& kernel : region.kernels) {
      if (interrupted()) return {};
      Result<Tuned> tuned = tune_kernel(subject.value(), kernel, won, options);
      if (!tuned.ok()) return tuned.status();
      tuned.value().name = name_of(what);
      tuned.value().kernel = number++;
      if (tuned.value().gain > 1) won.add(kernel.spec, subject.value().target.cores, tuned.value().after);
      if (Status status = append_record(options.file, subject.value(), kernel, tuned.value()); !status.ok())
        return status;
      all.push_back(std::move(tuned).value());
    }
  return {};
}

void print_tuned(const Tuned& tuned) {
  if (!tuned.failed.empty()) {
    std::printf("%s: NOT RUN: %s\n", printable(tuned.name).c_str(), printable(tuned.failed).c_str());
    return;
  }
  std::printf("%s, kernel %zu: ", printable(tuned.name).c_str(), tuned.kernel);
  if (tuned.gain == 1) {
    std::printf("the heuristic's schedule stays (%zu tried): %s\n", tuned.tried, schedule::print(tuned.before).c_str());
  } else {
    std::printf("%.2fx (%zu tried)\n  from %s\n  to   %s\n", tuned.gain, tuned.tried,
                schedule::print(tuned.before).c_str(), schedule::print(tuned.after).c_str());
  }
}

Json tuned_json(const Tuned& tuned) {
  Json json = {{"name", tuned.name}};
  if (!tuned.failed.empty()) {
    json["not_run"] = tuned.failed;
    return json;
  }
  json.update({{"kernel", tuned.kernel},
               {"tried", tuned.tried},
               {"gain", tuned.gain},
               {"before", schedule::print(tuned.before)},
               {"after", schedule::print(tuned.after)}});
  return json;
}

int report(const TuneOptions& options, const std::vector<Tuned>& all) {
  const bool stopped = interrupted();
  if (options.json) {
    Json json = json_answer("tune");
    json["stopped"] = stopped;
    json["kernels"] = Json::array();
    for (const Tuned& tuned : all) json["kernels"].push_back(tuned_json(tuned));
    print_json(json);
  } else if (stopped) {
    std::printf("%s", kStopped);
  }
  if (stopped) return kExitInterrupted;
  const auto ran = [](const Tuned& tuned) { return tuned.failed.empty(); };
  return std::any_of(all.begin(), all.end(), ran) ? kExitOk : kExitUnsupported;
}

}  // namespace

int run_tune(const TuneOptions& options) {
  const InterruptWatch watch;
  const auto fail_of = [&](const Status& status) {
    return fail("tune", options.json, status, exit_code_of_case(options.texts, options.batch, status));
  };
  const Result<std::vector<Case>> cases = cases_of(options.texts, options.batch);
  if (!cases.ok()) return fail_of(cases.status());
  if (!options.file.empty())
    if (const Status status = open_records(options.file); !status.ok())
      return fail("tune", options.json, status, status.code() == Code::invalid_file ? kExitRunTime : kExitUsage);
  std::vector<Tuned> all;
  Progress progress(cases.value().size() > 1 ? cases.value().size() : 0);
  for (const Case& what : cases.value()) {
    if (interrupted()) break;
    progress.begin(name_of(what));
    const std::size_t before = all.size();
    const Status status = tune_case(what, options, all);
    const bool cut_short = !status.ok() && interrupted();
    if (!status.ok() && !cut_short && cases.value().size() == 1) return fail_of(status);
    if (!status.ok() && !cut_short) {
      all.push_back({});
      all.back().name = name_of(what);
      all.back().failed = status.message();
    }
    if (options.json) continue;
    progress.end();
    for (std::size_t i = before; i < all.size(); ++i) print_tuned(all[i]);
    std::fflush(stdout);
  }
  progress.end();
  return report(options, all);
}

}  // namespace tenfold::tools::bench
