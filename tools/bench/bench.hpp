// SPDX-License-Identifier: Apache-2.0
//
// `tenfold bench`: its options, its result as a value, and the reports that are made of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/bench/batch.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/workload.hpp"
#include "tools/report.hpp"

namespace tenfold::tools::bench {

struct BenchOptions {
  CaseTexts texts;
  std::string batch;   ///< a file of cases; the texts are then defaults for its lines
  double seconds = 0;  ///< of measuring a case, all contenders together; 0: 1, or 0.3 in a batch
  bool rivals = true;  ///< false: ourselves and the roof alone
  bool json = false;
  std::string html;  ///< a page to write
  std::string executable = "tenfold";
};
int run_bench(const BenchOptions& options);

/// The cases that the options stand for.
Result<std::vector<Case>> cases_of(const CaseTexts& texts, const std::string& batch);

/// What a mistake in these cases exits with. There is no file to blame when they came from options: what is not legal
/// is a usage error.
ExitCode exit_code_of_case(const CaseTexts& texts, const std::string& batch, const Status& status);

struct Timed {
  Role role;
  Timing timing;
};

/// One case after its measurement.
struct CaseResult {
  Case what;
  std::string name;
  std::string_view family;
  std::string not_run;  ///< why nothing below says anything; empty when it ran
  std::int64_t read_bytes = 0, write_bytes = 0;
  std::vector<Timed> timed;
  std::vector<std::string> schedules, absent;
  double roof = 0;   ///< seconds of the fastest probe; 0: there was none
  double noise = 0;  ///< noise_of() our two runs

  const Timing& tenfold() const;
  /// Read and written.
  double bytes() const { return static_cast<double>(read_bytes + write_bytes); }
  /// GB/s of who takes so many seconds.
  double rate(double seconds) const { return bytes() / seconds * 1e-9; }
  /// The part of the roof that a contender reaches; 0 without a roof.
  double of_roof(const Timing& timing) const { return timing.least > 0 ? roof / timing.least : 0; }
};

CaseResult make_result(const Workload& workload, std::vector<Timing> timings);

struct BenchRun {
  std::string executable, date, host, cpu, isa;
  int cores = 1;
  std::int64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;
  double seconds = 0;
  bool stopped = false;  ///< by Ctrl-C: what is there is what was done
  std::vector<CaseResult> results;
};

/// How much faster than each rival we are, over the cases that both ran: geometric means.
struct FamilySummary {
  std::string_view family;
  std::size_t cases = 0;
  double of_roof = 0;  ///< geometric mean; 0 without roofs
  double least_of_roof = 0;
  struct Versus {
    std::string rival;
    std::size_t cases = 0, ahead = 0, behind = 0;  ///< outside the noise
    double ratio = 0;                              ///< the rival's time by ours
    double of_roof = 0;                            ///< of the rival; 0 without roofs
  };
  std::vector<Versus> versus;
};
/// A row for each family that occurs, and, last, "all".
std::vector<FamilySummary> summarise_families(const std::vector<CaseResult>& results);

/// What a contender is called where cases are put together: oneDNN's implementations are one rival.
std::string rival_name(const std::string& contender);

std::string time_text(double seconds);
/// "=" inside the noise, else "1.34x": how much faster we are.
std::string versus_text(const CaseResult& result, const Timing& rival);

/// The line with which every table ends that Ctrl-C has cut short.
inline constexpr const char* kStopped = "stopped before the end\n";

/// One case: a line a contender.
std::string case_table(const CaseResult& result);
/// Many: a line a case, then the families.
std::string batch_table(const BenchRun& run);
/// Google Benchmark's form, with what it has no name for beside (schemas/bench.schema.json).
Json google_json(const BenchRun& run);
/// One self-contained page.
std::string html_page(const BenchRun& run);

}  // namespace tenfold::tools::bench
