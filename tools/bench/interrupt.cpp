// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/interrupt.hpp"

#include <csignal>

namespace tenfold::tools::bench {
namespace {

volatile std::sig_atomic_t noted = 0;

void note(int signal) {
  noted = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

InterruptWatch::InterruptWatch() {
  noted = 0;
  before_ = std::signal(SIGINT, &note);
}

InterruptWatch::~InterruptWatch() { std::signal(SIGINT, before_); }

bool interrupted() { return noted != 0; }

Status error_if_interrupted() { return interrupted() ? Status(Code::internal_error, "stopped by Ctrl-C") : Status(); }

}  // namespace tenfold::tools::bench
