// SPDX-License-Identifier: Apache-2.0
//
// How far a long run is, on stderr: one line that is written over on a terminal, a line every few seconds elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace tenfold::tools::bench {

class Progress {
 public:
  /// Of 0 steps nothing is shown.
  explicit Progress(std::size_t steps);
  /// The next step begins.
  void begin(const std::string& name);
  /// Wipes the line.
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  std::size_t steps_, done_ = 0;
  bool terminal_;
  Clock::time_point start_, shown_;
};

}  // namespace tenfold::tools::bench
