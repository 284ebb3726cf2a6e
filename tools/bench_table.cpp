// SPDX-License-Identifier: Apache-2.0
//
// Timings as a table and as JSON.
#include <cstdio>

#include "tools/bench.hpp"

namespace tenfold::tools {

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

double roof_seconds(const std::vector<Timing>& timings, std::size_t probes) {
  double roof = 0;
  for (std::size_t i = 0; i < probes; ++i)
    if (roof == 0 || timings[i].least < roof) roof = timings[i].least;
  return roof;
}

void print_timings(const std::vector<Timing>& timings, std::int64_t bytes, double roof) {
  std::printf("  %-28s %12s %12s %9s %8s\n", "", "least", "median", "GB/s", "of roof");
  for (const Timing& timing : timings) {
    std::printf("  %-28s %12s %12s %9.2f", timing.name.c_str(), time_text(timing.least).c_str(),
                time_text(timing.median).c_str(), static_cast<double>(bytes) / timing.least * 1e-9);
    if (roof > 0) std::printf(" %8.3f", roof / timing.least);
    std::printf("\n");
  }
}

Json timings_json(const std::vector<Timing>& timings, std::int64_t bytes, double roof) {
  Json list = Json::array();
  for (const Timing& timing : timings)
    list.push_back({{"name", timing.name},
                    {"least_seconds", timing.least},
                    {"median_seconds", timing.median},
                    {"batches", timing.batches},
                    {"bytes_per_second", static_cast<double>(bytes) / timing.least},
                    {"of_roof", roof > 0 ? Json(roof / timing.least) : Json()}});
  return list;
}

}  // namespace tenfold::tools
