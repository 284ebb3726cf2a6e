// SPDX-License-Identifier: Apache-2.0
//
// The run itself: case after case, with progress on stderr, until all are done or somebody presses Ctrl-C.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <utility>

#include "target/target.hpp"
#include "tools/bench/bench.hpp"
#include "tools/bench/interrupt.hpp"
#include "tools/bench/roof.hpp"
#include "tools/graph_file.hpp"
#include "tools/printable.hpp"
#include "tools/progress.hpp"
#include "tools/tuning_notes.hpp"

namespace tenfold::tools::bench {
namespace {

constexpr double kSecondsOfOne = 1.0, kSecondsOfMany = 0.3;

Result<BenchRun> describe_machine(const BenchOptions& options) {
  const Result<target::Target>& host = target::host();
  if (!host.ok()) return host.status();
  BenchRun run;
  run.executable = options.executable;
  char text[256] = {};
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S+00:00", gmtime_r(&now, &utc));
  run.date = text;
  run.host = gethostname(text, sizeof text - 1) == 0 ? text : "unknown";
  run.cpu = target::cpu_name();
  run.isa = std::string(target::to_string(host.value().isa));
  run.cores = host.value().cores;
  run.l1_bytes = host.value().l1_bytes;
  run.l2_bytes = host.value().l2_bytes;
  run.l3_bytes = host.value().l3_bytes;
  return run;
}

Result<CaseResult> run_case(const Case& what, double seconds, bool with_rivals) {
  Result<std::unique_ptr<Workload>> made = make_workload(what, with_rivals);
  if (!made.ok()) return made.status();
  const Workload& workload = *made.value();
  std::vector<Contender> contenders;
  for (const Entrant& entrant : workload.entrants) contenders.push_back(entrant.contender);
  MeasureOptions options;
  options.seconds = seconds;
  options.is_stopped = &interrupted;
  if (what.cold)
    options.flush = [&workload] {
      flush_range(workload.operands.in.memory.get(), workload.operands.in.bytes);
      flush_range(workload.operands.out.memory.get(), workload.operands.out.bytes);
    };
  std::vector<Timing> timings = measure(contenders, options);
  if (timings.empty()) return error_if_interrupted();
  return make_result(workload, std::move(timings));
}

CaseResult refused(const Case& what, const Status& status) {
  CaseResult result;
  result.what = what;
  result.name = name_of(what);
  result.family = family_of(what);
  result.not_run = std::string(to_string(status.code())) + ": " + status.message();
  return result;
}

Status write_page(const std::string& path, const std::string& page) {
  std::ofstream file(path, std::ios::binary);
  file << page;
  file.flush();
  return file ? Status() : cannot_write(path);
}

int report(const BenchOptions& options, const BenchRun& run) {
  // What was measured is worth more than the page: stdout has it in any case.
  if (options.json) {
    print_json(google_json(run));
  } else if (run.results.size() == 1) {
    std::printf("%s%s", printable_lines(case_table(run.results[0])).c_str(), run.stopped ? kStopped : "");
  } else {
    std::printf("%s", printable_lines(batch_table(run)).c_str());
  }
  if (!options.html.empty())
    if (const Status status = write_page(options.html, html_page(run)); !status.ok())
      return fail("bench", false, status, kExitRunTime);
  if (run.stopped) return kExitInterrupted;
  const auto ran = [](const CaseResult& result) { return result.not_run.empty(); };
  return std::any_of(run.results.begin(), run.results.end(), ran) ? kExitOk : kExitUnsupported;
}

}  // namespace

Result<std::vector<Case>> cases_of(const CaseTexts& texts, const std::string& batch) {
  if (batch.empty()) return expand(texts);
  const Result<std::string> text = read_text_file(batch);
  if (!text.ok()) return text.status();
  auto cases = parse_batch(text.value(), texts, std::filesystem::path(batch).parent_path().string());
  if (!cases.ok()) return cases.status().about("'" + batch + "'");
  if (cases.value().empty()) return Status(Code::invalid_argument, "'" + batch + "' has no case");
  return cases;
}

ExitCode exit_code_of_case(const CaseTexts& texts, const std::string& batch, const Status& status) {
  const ExitCode code = exit_code_of(status);
  const bool from_file = !texts.graph.empty() || !batch.empty();
  return code == kExitBadFile && !from_file ? kExitUsage : code;
}

int run_bench(const BenchOptions& options) {
  const InterruptWatch watch;
  const auto fail_of = [&](const Status& status) {
    return fail("bench", options.json, status, exit_code_of_case(options.texts, options.batch, status));
  };
  const Result<std::vector<Case>> cases = cases_of(options.texts, options.batch);
  if (!cases.ok()) return fail_of(cases.status());
  // Told before minutes of measuring rather than after; what is in the file stays there until then.
  if (!options.html.empty() && !std::ofstream(options.html, std::ios::binary | std::ios::app))
    return fail("bench", options.json, cannot_write(options.html), kExitRunTime);
  Result<BenchRun> described = describe_machine(options);
  if (!described.ok()) return fail("bench", options.json, described.status());
  BenchRun run = std::move(described).value();
  print_tuning_notes("bench");
  const bool many = cases.value().size() > 1;
  run.seconds = options.seconds > 0 ? options.seconds : many ? kSecondsOfMany : kSecondsOfOne;
  Progress progress(many ? cases.value().size() : 0);
  for (const Case& what : cases.value()) {
    if (interrupted()) break;
    progress.begin(name_of(what));
    Result<CaseResult> result = run_case(what, run.seconds, options.rivals);
    if (!result.ok() && interrupted()) break;
    if (!result.ok() && !many) return fail_of(result.status());
    run.results.push_back(result.ok() ? std::move(result).value() : refused(what, result.status()));
  }
  run.stopped = interrupted();
  progress.end();
  return report(options, run);
}

}  // namespace tenfold::tools::bench
