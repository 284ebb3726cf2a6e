// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/measure.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

namespace tenfold::tools::bench {
namespace {

constexpr double kBatchSeconds = 1e-3;
constexpr std::size_t kLeastBatches = 5;
/// What takes so long for one call, and longer than all shall take together, is not asked again.
constexpr double kSlowSeconds = 0.25;
/// No clock and no machine is better than that.
constexpr double kLeastNoise = 0.01;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double cpu_now() { return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC); }

double time_batch(const Contender& contender, std::int64_t calls) {
  const double start = now();
  for (std::int64_t i = 0; i < calls; ++i) contender.call();
  return (now() - start) / static_cast<double>(calls);
}

/// Calls that take as long as a batch should.
std::int64_t calls_of_batch(const Contender& contender) {
  std::int64_t calls = 1;
  for (;;) {
    const double seconds = time_batch(contender, calls) * static_cast<double>(calls);
    if (seconds >= kBatchSeconds || calls >= (1 << 20)) return calls;
    calls *= seconds < kBatchSeconds / 8 ? 4 : 2;
  }
}

/// How a contender takes part.
struct Pace {
  std::int64_t calls = 1;  ///< per batch; 0: its first call took so long that it stays the only one
  double first = 0;        ///< seconds of that call
};

/// From a first call, which also warms caches and makes pools and scratch memory.
Pace find_pace(const Contender& contender, const MeasureOptions& options) {
  Pace pace;
  pace.first = time_batch(contender, 1);
  const double most = std::max(options.seconds, kSlowSeconds);
  // Somebody else may have had the core.
  if (pace.first > most && pace.first < 4 * most) pace.first = std::min(pace.first, time_batch(contender, 1));
  if (pace.first > most) {
    pace.calls = 0;
  } else if (!options.flush) {
    pace.calls = calls_of_batch(contender);
  }
  return pace;
}

/// The least of every other batch, from `first` on.
double least_of_half(const std::vector<double>& batches, std::size_t first) {
  double least = batches[first];
  for (std::size_t i = first; i < batches.size(); i += 2) least = std::min(least, batches[i]);
  return least;
}

}  // namespace

Timing summarise(std::string name, std::vector<double> batches) {
  Timing timing;
  timing.name = std::move(name);
  timing.batches = std::move(batches);
  if (timing.batches.empty()) return timing;
  std::vector<double> sorted = timing.batches;
  std::sort(sorted.begin(), sorted.end());
  timing.least = sorted.front();
  timing.median = sorted[sorted.size() / 2];
  timing.spread = (sorted[sorted.size() * 3 / 4] - sorted[sorted.size() / 4]) / timing.median;
  return timing;
}

std::vector<Timing> measure(const std::vector<Contender>& contenders, const MeasureOptions& options) {
  const auto is_stopped = [&] { return options.is_stopped && options.is_stopped(); };
  std::vector<Pace> paces;
  paces.reserve(contenders.size());
  for (const Contender& contender : contenders) {
    if (is_stopped()) return {};
    paces.push_back(find_pace(contender, options));
  }
  std::vector<std::vector<double>> batches(contenders.size());
  std::vector<double> cpu(contenders.size(), 0);
  const double end = now() + options.seconds;
  bool stopped = false;
  for (std::size_t round = 0; !stopped && (round < kLeastBatches || now() < end); ++round) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      stopped = is_stopped();
      if (stopped && round == 0) return {};
      if (stopped) break;
      if (paces[i].calls == 0) continue;
      if (options.flush) {
        options.flush();
      } else {
        contenders[i].call();  // the one before it may have left other lines in the caches, and in other states
      }
      const double before = cpu_now();
      batches[i].push_back(time_batch(contenders[i], paces[i].calls));
      cpu[i] += cpu_now() - before;
    }
  }
  std::vector<Timing> timings;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const bool once = paces[i].calls == 0;
    if (once) batches[i] = {paces[i].first};
    timings.push_back(summarise(contenders[i].name, std::move(batches[i])));
    timings[i].calls = (once ? 1 : paces[i].calls) * static_cast<std::int64_t>(timings[i].batches.size());
    timings[i].cpu = once ? paces[i].first : cpu[i] / static_cast<double>(timings[i].calls);
  }
  return timings;
}

double noise_of(const Timing& first, const Timing& second) {
  std::vector<double> leasts{first.least, second.least};
  for (const Timing* timing : {&first, &second})
    if (timing->batches.size() >= 2)
      for (const std::size_t half : {std::size_t{0}, std::size_t{1}})
        leasts.push_back(least_of_half(timing->batches, half));
  const auto [least, most] = std::minmax_element(leasts.begin(), leasts.end());
  if (*least <= 0) return kLeastNoise;
  return std::max(kLeastNoise, 1.5 * (*most / *least - 1));
}

int rank(const Timing& a, const Timing& b, double noise) {
  if (a.least * (1 + noise) < b.least) return -1;
  if (b.least * (1 + noise) < a.least) return 1;
  return 0;
}

}  // namespace tenfold::tools::bench
