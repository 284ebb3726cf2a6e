// SPDX-License-Identifier: Apache-2.0
//
// Results in Google Benchmark's form, so that what reads its files (compare.py among others) reads ours. An entry of
// kind "iteration" has the least time of a call, which is what the tables rank by; aggregates have the median and the
// spread.
#include "tools/bench/bench.hpp"

namespace tenfold::tools::bench {
namespace {

Json context(const BenchRun& run) {
  Json caches = Json::array();
  const auto add = [&caches](const char* type, int level, std::int64_t size) {
    caches.push_back({{"type", type}, {"level", level}, {"size", size}, {"num_sharing", 1}});
  };
  add("Data", 1, run.l1_bytes);
  add("Unified", 2, run.l2_bytes);
  add("Unified", 3, run.l3_bytes);
  return {{"date", run.date},
          {"host_name", run.host},
          {"executable", run.executable},
          {"num_cpus", run.cores},
          {"caches", std::move(caches)},
          {"library_build_type", "release"},
          {"json_schema_version", 1},
          {"cpu", run.cpu},
          {"isa", run.isa},
          {"seconds_a_case", run.seconds}};
}

/// What all entries of a contender share.
Json entry(const CaseResult& result, const Timed& timed, std::size_t index) {
  const std::string name = result.name + "/" + timed.timing.name;
  return {{"name", name},          {"family_index", index},          {"per_family_instance_index", 0},
          {"run_name", name},      {"run_type", "iteration"},        {"repetitions", 1},
          {"repetition_index", 0}, {"threads", result.what.threads}, {"iterations", timed.timing.calls}};
}

Json aggregate(Json made, const std::string& name, const char* unit, double seconds) {
  made["name"] = made["run_name"].get<std::string>() + "_" + name;
  made["run_type"] = "aggregate";
  made.erase("repetition_index");
  made["aggregate_name"] = name;
  made["aggregate_unit"] = unit;
  const double scaled = std::string(unit) == "time" ? seconds * 1e9 : seconds;
  made["real_time"] = made["cpu_time"] = scaled;
  made["time_unit"] = "ns";
  return made;
}

void add_entries(Json& list, const CaseResult& result, const Timed& timed, std::size_t index) {
  static constexpr const char* kRoles[] = {"roof", "tenfold", "tenfold", "rival"};
  const Json shared = entry(result, timed, index);
  Json made = shared;
  made["real_time"] = timed.timing.least * 1e9;
  made["cpu_time"] = timed.timing.cpu * 1e9;
  made["time_unit"] = "ns";
  made["bytes_per_second"] = result.bytes() / timed.timing.least;
  if (result.roof > 0) made["of_roof"] = result.of_roof(timed.timing);
  made["role"] = kRoles[static_cast<int>(timed.role)];
  made["family"] = std::string(result.family);
  made["noise"] = result.noise;
  if (timed.role == Role::tenfold) made["schedules"] = result.schedules;
  list.push_back(std::move(made));
  list.push_back(aggregate(shared, "median", "time", timed.timing.median));
  list.push_back(aggregate(shared, "spread", "percentage", timed.timing.spread));
}

}  // namespace

Json google_json(const BenchRun& run) {
  Json json = json_answer("bench");
  json["context"] = context(run);
  json["stopped"] = run.stopped;
  json["benchmarks"] = Json::array();
  json["not_run"] = Json::array();
  std::size_t index = 0;
  for (const CaseResult& result : run.results) {
    if (!result.not_run.empty()) json["not_run"].push_back({{"name", result.name}, {"reason", result.not_run}});
    for (const Timed& timed : result.timed) add_entries(json["benchmarks"], result, timed, index++);
  }
  json["families"] = Json::array();
  for (const FamilySummary& family : summarise_families(run.results)) {
    Json versus = Json::array();
    for (const FamilySummary::Versus& v : family.versus)
      versus.push_back({{"rival", v.rival},
                        {"cases", v.cases},
                        {"ahead", v.ahead},
                        {"behind", v.behind},
                        {"times_faster", v.ratio},
                        {"of_roof", v.of_roof}});
    json["families"].push_back({{"family", std::string(family.family)},
                                {"cases", family.cases},
                                {"of_roof", family.of_roof},
                                {"least_of_roof", family.least_of_roof},
                                {"versus", std::move(versus)}});
  }
  return json;
}

}  // namespace tenfold::tools::bench
