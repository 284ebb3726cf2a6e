// SPDX-License-Identifier: Apache-2.0
//
// The options that say which cases are meant, for all commands that measure.
#pragma once

#include <string>

#include "tools/bench/batch.hpp"

namespace CLI {
class App;
}

namespace tenfold::tools::bench {

void add_case_options(CLI::App& command, CaseTexts& texts, std::string& batch);

}  // namespace tenfold::tools::bench
