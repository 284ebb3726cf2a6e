// SPDX-License-Identifier: Apache-2.0
//
// How far a long run is, on stderr: one line that is written over on a terminal, a line every few seconds elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tenfold::tools {

class Progress {
 public:
  /// When the first line comes that is not for a terminal.
  enum class First : std::uint8_t { at_once, when_it_takes_long };
  /// Of 0 steps nothing is shown.
  explicit Progress(std::size_t steps, First first = First::at_once);
  /// The next step begins.
  void begin(const std::string& name);
  /// Wipes the line.
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  std::size_t steps_, done_ = 0;
  bool terminal_, at_once_;
  Clock::time_point start_, shown_;
};

}  // namespace tenfold::tools
