// SPDX-License-Identifier: Apache-2.0
//
// Results as text.
#include <algorithm>
#include <cstdio>

#include "tools/bench/append.hpp"
#include "tools/bench/bench.hpp"

namespace tenfold::tools::bench {
namespace {

double mebibytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

/// A rival's cell: how much faster we are, or nothing.
std::string cell(const CaseResult& result, const std::string& rival) {
  for (const Timed& timed : result.timed)
    if (timed.role == Role::rival && rival_name(timed.timing.name) == rival) return versus_text(result, timed.timing);
  return "-";
}

std::vector<std::string> rivals_of(const BenchRun& run) {
  std::vector<std::string> rivals;
  for (const CaseResult& result : run.results)
    for (const Timed& timed : result.timed) {
      const std::string name = rival_name(timed.timing.name);
      if (timed.role == Role::rival && std::find(rivals.begin(), rivals.end(), name) == rivals.end())
        rivals.push_back(name);
    }
  return rivals;
}

void append_families(std::string& out, const BenchRun& run, const std::vector<std::string>& rivals) {
  append(out, "\n%-10s %6s %9s %9s", "family", "cases", "of roof", "least");
  for (const std::string& rival : rivals) append(out, "  %s (ahead, =, behind)", rival.c_str());
  out += '\n';
  for (const FamilySummary& family : summarise_families(run.results)) {
    append(out, "%-10s %6zu %9.3f %9.3f", std::string(family.family).c_str(), family.cases, family.of_roof,
           family.least_of_roof);
    for (const std::string& rival : rivals) {
      const auto at = std::find_if(family.versus.begin(), family.versus.end(),
                                   [&](const FamilySummary::Versus& versus) { return versus.rival == rival; });
      if (at == family.versus.end()) {
        append(out, "  %*s", static_cast<int>(rival.size()) + 19, "-");
        continue;
      }
      char text[96];
      std::snprintf(text, sizeof text, "%.2fx (%zu, %zu, %zu)", at->ratio, at->ahead,
                    at->cases - at->ahead - at->behind, at->behind);
      append(out, "  %*s", static_cast<int>(rival.size()) + 19, text);
    }
    out += '\n';
  }
}

}  // namespace

std::string case_table(const CaseResult& result) {
  std::string out;
  append(out, "%s, reads %.3f MiB, writes %.3f MiB, %d thread%s, %s\n", result.name.c_str(),
         mebibytes(result.read_bytes), mebibytes(result.write_bytes), result.what.threads,
         result.what.threads == 1 ? "" : "s", result.what.cold ? "cold" : "warm");
  for (const std::string& schedule : result.schedules) append(out, "  schedule %s\n", schedule.c_str());
  append(out, "  %-30s %12s %12s %8s %9s %8s %8s\n", "", "least", "median", "spread", "GB/s", "of roof", "of ours");
  for (const Timed& timed : result.timed) {
    const Timing& timing = timed.timing;
    append(out, "  %-30s %12s %12s %7.1f%% %9.2f", timing.name.c_str(), time_text(timing.least).c_str(),
           time_text(timing.median).c_str(), 100 * timing.spread, result.rate(timing.least));
    if (result.roof > 0) append(out, " %8.3f", result.of_roof(timing));
    if (timed.role == Role::rival) append(out, " %8s", versus_text(result, timing).c_str());
    out += '\n';
  }
  append(out, "  differences within %.1f%% are noise\n", 100 * result.noise);
  for (const std::string& absent : result.absent) append(out, "  %s\n", absent.c_str());
  return out;
}

std::string batch_table(const BenchRun& run) {
  if (run.results.empty()) return run.stopped ? kStopped : "";
  const std::vector<std::string> rivals = rivals_of(run);
  int width = 4;
  for (const CaseResult& result : run.results) width = std::max(width, static_cast<int>(result.name.size()));
  width = std::min(width, 100);
  std::string out;
  append(out, "%-*s %-8s %12s %9s %8s %7s", width, "case", "family", "least", "GB/s", "of roof", "noise");
  for (const std::string& rival : rivals) append(out, "  %9s", rival.c_str());
  out += '\n';
  for (const CaseResult& result : run.results) {
    append(out, "%-*s %-8s", width, result.name.c_str(), std::string(result.family).c_str());
    if (!result.not_run.empty()) {
      append(out, " NOT RUN: %s\n", result.not_run.c_str());
      continue;
    }
    append(out, " %12s %9.2f %8.3f %6.1f%%", time_text(result.tenfold().least).c_str(),
           result.rate(result.tenfold().least), result.of_roof(result.tenfold()), 100 * result.noise);
    for (const std::string& rival : rivals)
      append(out, "  %*s", std::max(9, static_cast<int>(rival.size())), cell(result, rival).c_str());
    out += '\n';
  }
  append_families(out, run, rivals);
  if (!rivals.empty()) out += "rivals: how much faster we are; = is inside the noise\n";
  if (run.stopped) out += kStopped;
  return out;
}

}  // namespace tenfold::tools::bench
