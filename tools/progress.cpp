// SPDX-License-Identifier: Apache-2.0
#include "tools/progress.hpp"

#include <unistd.h>

#include <cstdio>

#include "tools/printable.hpp"

namespace tenfold::tools {
namespace {

constexpr double kSecondsBetweenLines = 5;

double seconds_of(std::chrono::steady_clock::duration d) { return std::chrono::duration<double>(d).count(); }

}  // namespace

Progress::Progress(std::size_t steps, First first)
    : steps_(steps),
      terminal_(isatty(STDERR_FILENO) == 1),
      at_once_(first == First::at_once),
      start_(Clock::now()),
      shown_(start_) {}

void Progress::begin(const std::string& name) {
  if (steps_ == 0) return;
  const Clock::time_point now = Clock::now();
  const std::size_t step = ++done_;
  const bool first = step == 1 && at_once_;
  if (!terminal_ && !first && seconds_of(now - shown_) < kSecondsBetweenLines) return;
  shown_ = now;
  char left[48] = "";
  if (step > 1)
    std::snprintf(left, sizeof left, ", %.0f s left",
                  seconds_of(now - start_) / static_cast<double>(step - 1) * static_cast<double>(steps_ - step + 1));
  std::fprintf(stderr, "%s[%zu/%zu%s] %.100s%s", terminal_ ? "\r\033[K" : "", step, steps_, left,
               printable(name).c_str(), terminal_ ? "" : "\n");
  std::fflush(stderr);
}

void Progress::end() {
  if (steps_ != 0 && terminal_) std::fprintf(stderr, "\r\033[K");
}

}  // namespace tenfold::tools
