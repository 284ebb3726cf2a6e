// SPDX-License-Identifier: Apache-2.0
//
// Honest timing: contenders take turns, batch after batch, so that a noisy machine is noisy for all; and the noise
// itself, from one contender that runs twice, which says what differences mean nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tenfold::tools::bench {

/// Something to be timed: a call does the whole work once.
struct Contender {
  std::string name;
  std::function<void()> call;
};

/// Seconds for one call.
struct Timing {
  std::string name;
  double least = 0;
  double median = 0;
  double spread = 0;            ///< third quartile less first, as a part of the median
  double cpu = 0;               ///< of all threads of the process, mean over the batches
  std::int64_t calls = 0;       ///< in all batches
  std::vector<double> batches;  ///< in the order they ran
};

struct MeasureOptions {
  double seconds = 1.0;              ///< all contenders together
  std::function<void()> flush;       ///< empties the caches before each batch, which is then one call; or none
  std::function<bool()> is_stopped;  ///< asked before each batch and first call; what was measured until then counts
};

/// Runs the contenders in turn, each batch at least a millisecond long (one call, where caches are flushed) and, unless
/// they are, behind a call that is not timed, until the time is over and each has had at least five batches. Whoever
/// needs more than all of the time for the first call has only that one. Nothing when it was stopped before each had a
/// batch.
std::vector<Timing> measure(const std::vector<Contender>& contenders, const MeasureOptions& options);

/// Least, median and spread of these batches.
Timing summarise(std::string name, std::vector<double> batches);

/// Differences of the least time within this part of it mean nothing: one and a half times the greatest difference that
/// the two runs of one contender show, each taken whole and by every other batch; at least a hundredth.
double noise_of(const Timing& first, const Timing& second);

/// -1: `a` is faster than `b`, 1: slower; 0: the difference is inside the noise.
int rank(const Timing& a, const Timing& b, double noise);

}  // namespace tenfold::tools::bench
