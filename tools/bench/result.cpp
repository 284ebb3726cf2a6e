// SPDX-License-Identifier: Apache-2.0
//
// From timings to what reports say: roofs, noise, families.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "tools/bench/bench.hpp"

namespace tenfold::tools::bench {
namespace {

/// The geometric mean of numbers above 0.
class Geomean {
 public:
  void add(double value) {
    sum_ += std::log(value);
    ++count_;
  }
  double value() const { return count_ == 0 ? 0 : std::exp(sum_ / static_cast<double>(count_)); }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

FamilySummary::Versus& versus_of(std::vector<FamilySummary::Versus>& all, const std::string& rival) {
  for (FamilySummary::Versus& versus : all)
    if (versus.rival == rival) return versus;
  all.push_back({rival});
  return all.back();
}

FamilySummary summarise_family(std::string_view family, const std::vector<const CaseResult*>& results) {
  FamilySummary summary;
  summary.family = family;
  Geomean of_roof;
  for (const CaseResult* result : results) {
    ++summary.cases;
    if (result->roof > 0) {
      const double part = result->of_roof(result->tenfold());
      of_roof.add(part);
      summary.least_of_roof = summary.least_of_roof == 0 ? part : std::min(summary.least_of_roof, part);
    }
    for (const Timed& timed : result->timed) {
      if (timed.role != Role::rival) continue;
      FamilySummary::Versus& versus = versus_of(summary.versus, rival_name(timed.timing.name));
      ++versus.cases;
      const int order = rank(result->tenfold(), timed.timing, result->noise);
      versus.ahead += order < 0 ? 1 : 0;
      versus.behind += order > 0 ? 1 : 0;
      // Sums of logarithms until all are there.
      versus.ratio += std::log(timed.timing.least / result->tenfold().least);
      if (result->roof > 0) versus.of_roof += std::log(result->of_roof(timed.timing));
    }
  }
  summary.of_roof = of_roof.value();
  for (FamilySummary::Versus& versus : summary.versus) {
    const auto cases = static_cast<double>(versus.cases);
    versus.ratio = std::exp(versus.ratio / cases);
    versus.of_roof = summary.of_roof > 0 ? std::exp(versus.of_roof / cases) : 0;
  }
  return summary;
}

}  // namespace

const Timing& CaseResult::tenfold() const {
  const auto at = std::find_if(timed.begin(), timed.end(), [](const Timed& t) { return t.role == Role::tenfold; });
  static const Timing kNone;
  return at == timed.end() ? kNone : at->timing;
}

CaseResult make_result(const Workload& workload, std::vector<Timing> timings) {
  CaseResult result;
  result.what = workload.what;
  result.name = name_of(workload.what);
  result.family = family_of(workload.what);
  result.read_bytes = workload.operands.read_bytes;
  result.write_bytes = workload.operands.write_bytes;
  result.schedules = workload.schedules;
  result.absent = workload.absent;
  const Timing* again = nullptr;
  for (std::size_t i = 0; i < timings.size(); ++i)
    result.timed.push_back({workload.entrants[i].role, std::move(timings[i])});
  for (const Timed& timed : result.timed) {
    if (timed.role == Role::roof && (result.roof == 0 || timed.timing.least < result.roof))
      result.roof = timed.timing.least;
    if (timed.role == Role::again) again = &timed.timing;
  }
  if (again != nullptr) result.noise = noise_of(result.tenfold(), *again);
  return result;
}

std::vector<FamilySummary> summarise_families(const std::vector<CaseResult>& results) {
  std::vector<FamilySummary> summaries;
  std::vector<const CaseResult*> all;
  for (const std::string_view family : families()) {
    std::vector<const CaseResult*> members;
    for (const CaseResult& result : results)
      if (result.not_run.empty() && result.family == family) members.push_back(&result);
    if (!members.empty()) summaries.push_back(summarise_family(family, members));
    all.insert(all.end(), members.begin(), members.end());
  }
  if (!all.empty()) summaries.push_back(summarise_family("all", all));
  return summaries;
}

std::string rival_name(const std::string& contender) {
  return contender.rfind("oneDNN", 0) == 0 ? "oneDNN" : contender;
}

std::string time_text(double seconds) {
  char text[32];
  if (seconds < 1e-6) {
    std::snprintf(text, sizeof text, "%.1f ns", seconds * 1e9);
  } else if (seconds < 1e-3) {
    std::snprintf(text, sizeof text, "%.3f us", seconds * 1e6);
  } else {
    std::snprintf(text, sizeof text, "%.3f ms", seconds * 1e3);
  }
  return text;
}

std::string versus_text(const CaseResult& result, const Timing& rival) {
  if (rank(result.tenfold(), rival, result.noise) == 0) return "=";
  char text[32];
  std::snprintf(text, sizeof text, "%.2fx", rival.least / result.tenfold().least);
  return text;
}

}  // namespace tenfold::tools::bench
