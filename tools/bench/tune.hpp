// SPDX-License-Identifier: Apache-2.0
//
// `tenfold tune`: measures the neighbours of the heuristic's schedules and keeps what is faster.
#pragma once

#include <string>

#include "tools/bench/batch.hpp"

namespace tenfold::tools::bench {

struct TuneOptions {
  CaseTexts texts;
  std::string batch;
  std::string file;      ///< what is gained is appended to; empty: nothing is written
  double seconds = 1.0;  ///< of measuring a kernel, all schedules together
  int most = 24;         ///< schedules that are measured for a kernel
  bool json = false;
};
int run_tune(const TuneOptions& options);

}  // namespace tenfold::tools::bench
