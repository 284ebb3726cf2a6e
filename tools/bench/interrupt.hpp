// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C in a long run: noted, and asked for between batches, so that what is done is kept. A second one ends the
// program at once.
#pragma once

#include "tenfold/status.hpp"

namespace tenfold::tools::bench {

/// What a shell says of a program that Ctrl-C ended: the command's exit code when it kept what was done.
inline constexpr int kExitInterrupted = 128 + 2;

/// While one lives, Ctrl-C is noted instead of ending the program.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

 private:
  void (*before_)(int);
};

/// Whether Ctrl-C came since the last watch began.
bool interrupted();

/// An error when it came, for what has not got far enough to keep anything.
Status error_if_interrupted();

}  // namespace tenfold::tools::bench
