// SPDX-License-Identifier: Apache-2.0
//
// `tenfold test`: runs every case below the given paths, several at a time, and reports by op and by reason.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "target/target.hpp"
#include "tools/commands.hpp"
#include "tools/printable.hpp"
#include "tools/progress.hpp"
#include "tools/report.hpp"
#include "tools/test_case.hpp"

namespace tenfold::tools {

namespace {

constexpr std::array<const char*, 3> kVerdicts{"passed", "failed", "unsupported"};

/// How many cases had which verdict.
using Tally = std::array<std::size_t, kVerdicts.size()>;

struct Report {
  std::vector<std::pair<TestCase, TestResult>> cases;
  std::map<std::string, Tally> by_op;  ///< a case counts for each kind of op that it holds
  Tally total{};

  void add(const TestCase& test, TestResult result) {
    const auto v = static_cast<std::size_t>(result.verdict);
    ++total[v];
    for (const std::string& op : result.ops) ++by_op[op][v];
    if (result.ops.empty()) ++by_op["(not read)"][v];
    cases.emplace_back(test, std::move(result));
  }
  std::size_t count(Verdict verdict) const { return total[static_cast<std::size_t>(verdict)]; }
};

/// Cases at a time. Most of one is the reference evaluator, on one thread; one may take gigabytes.
std::size_t workers_for(const TestOptions& options, std::size_t cases) {
  constexpr int kMost = 4;
  const Result<target::Target>& host = target::host();
  const int cores = host.ok() ? host.value().cores : 1;
  const int workers = std::clamp(options.threads == 0 ? cores : std::min(options.threads, cores), 1, kMost);
  return std::min(static_cast<std::size_t>(workers), cases);
}

/// Results in the order of the cases. What a worker throws is thrown here, when the others are done.
std::vector<TestResult> run_cases(const std::vector<TestCase>& cases, const TestOptions& options) {
  std::vector<TestResult> results(cases.size());
  Progress progress(cases.size() > 1 ? cases.size() : 0, Progress::First::when_it_takes_long);
  std::mutex one_line;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < cases.size(); i = next++) {
      {
        const std::lock_guard<std::mutex> lock(one_line);
        progress.begin(cases[i].path);
      }
      results[i] = cases[i].is_onnx ? run_onnx_case(cases[i].path, options) : run_graph_case(cases[i].path, options);
    }
  };
  std::vector<std::future<void>> workers;
  for (std::size_t w = 0; w < workers_for(options, cases.size()); ++w)
    workers.push_back(std::async(std::launch::async, work));
  for (std::future<void>& worker : workers) worker.get();
  progress.end();
  return results;
}

/// "op 3 'name' (Add): text" -> "Add: text", so that the same reason is the same text in every case.
std::string without_op_id(const std::string& reason) {
  if (!reason.starts_with("op ")) return reason;
  const std::size_t end = reason.find("): ");
  const std::size_t open = end == std::string::npos ? end : reason.rfind('(', end);
  if (open == std::string::npos) return reason;
  return reason.substr(open + 1, end - open - 1) + reason.substr(end + 1);
}

void print_text(const Report& report, bool verbose) {
  std::printf("%-28s %8s %8s %12s\n", "op", kVerdicts[0], kVerdicts[1], kVerdicts[2]);
  for (const auto& [op, tally] : report.by_op)
    std::printf("%-28s %8zu %8zu %12zu\n", printable(op).c_str(), tally[0], tally[1], tally[2]);
  std::map<std::string, std::size_t> reasons;
  for (const auto& [test, result] : report.cases) {
    if (result.verdict == Verdict::unsupported) ++reasons[without_op_id(result.reason)];
    if (result.verdict == Verdict::failed || (verbose && result.verdict == Verdict::unsupported))
      std::printf("%s %s: %s\n", kVerdicts[static_cast<std::size_t>(result.verdict)], printable(test.path).c_str(),
                  printable(result.reason).c_str());
  }
  if (!verbose)
    for (const auto& [reason, count] : reasons) std::printf("unsupported %4zu: %s\n", count, printable(reason).c_str());
  std::printf("%zu passed, %zu failed, %zu unsupported\n", report.total[0], report.total[1], report.total[2]);
}

void print_test_json(const Report& report) {
  Json answer = json_answer("test");
  answer["ok"] = report.count(Verdict::failed) == 0;
  for (std::size_t v = 0; v < kVerdicts.size(); ++v) answer[kVerdicts[v]] = report.total[v];
  answer["ops"] = Json::array();
  for (const auto& [op, tally] : report.by_op) {
    Json entry = {{"op", op}};
    for (std::size_t v = 0; v < kVerdicts.size(); ++v) entry[kVerdicts[v]] = tally[v];
    answer["ops"].push_back(std::move(entry));
  }
  answer["cases"] = Json::array();
  for (const auto& [test, result] : report.cases) {
    Json entry = {
        {"path", test.path}, {"verdict", kVerdicts[static_cast<std::size_t>(result.verdict)]}, {"ops", result.ops}};
    if (result.verdict != Verdict::passed) entry["reason"] = result.reason;
    answer["cases"].push_back(std::move(entry));
  }
  print_json(answer);
}

Status check_options(const TestOptions& options) {
  if (options.threads < 0) return Status(Code::invalid_argument, negative_threads(options.threads));
  if (options.target.empty()) return Status();
  const Result<target::Isa> isa = target::isa_from_name(options.target);
  if (!isa.ok()) return isa.status();
  return target::host_capped(isa.value()).status();
}

}  // namespace

int test_graphs(const TestOptions& options) {
  // Asked once here: as a case's verdict, a target that is not there would read as unsupported.
  if (Status s = check_options(options); !s.ok()) return fail("test", options.json, s);
  const Result<std::vector<TestCase>> cases = find_test_cases(options.paths);
  if (!cases.ok()) return fail("test", options.json, cases.status());
  keep_freed_memory();
  std::vector<TestResult> results = run_cases(cases.value(), options);
  Report report;
  for (std::size_t i = 0; i < results.size(); ++i) report.add(cases.value()[i], std::move(results[i]));
  options.json ? print_test_json(report) : print_text(report, options.verbose);
  return report.count(Verdict::failed) == 0 ? kExitOk : kExitFailed;
}

}  // namespace tenfold::tools
