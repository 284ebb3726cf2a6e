// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>

#include "tools/bench.hpp"

namespace tenfold::tools {
namespace {

constexpr double kBatchSeconds = 1e-3;
constexpr std::size_t kLeastBatches = 5;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double time_batch(const Contender& contender, int calls) {
  const double start = now();
  for (int i = 0; i < calls; ++i) contender.call();
  return (now() - start) / calls;
}

/// Calls per batch, from a first call that also warms caches and makes pools and scratch memory.
int calibrate(const Contender& contender) {
  contender.call();
  int calls = 1;
  for (;;) {
    const double seconds = time_batch(contender, calls) * calls;
    if (seconds >= kBatchSeconds || calls >= (1 << 20)) return calls;
    calls *= seconds < kBatchSeconds / 8 ? 4 : 2;
  }
}

}  // namespace

std::vector<Timing> measure(const std::vector<Contender>& contenders, double seconds) {
  std::vector<int> calls;
  for (const Contender& contender : contenders) calls.push_back(calibrate(contender));
  std::vector<std::vector<double>> batches(contenders.size());
  const double end = now() + seconds;
  while (batches[0].size() < kLeastBatches || now() < end)
    for (std::size_t i = 0; i < contenders.size(); ++i) batches[i].push_back(time_batch(contenders[i], calls[i]));
  std::vector<Timing> timings;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    std::sort(batches[i].begin(), batches[i].end());
    timings.push_back({contenders[i].name, batches[i].front(), batches[i][batches[i].size() / 2],
                       static_cast<int>(batches[i].size())});
  }
  return timings;
}

}  // namespace tenfold::tools
