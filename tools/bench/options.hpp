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

/// Throws what the parser throws, a CLI::ParseError, when the command line has --graph and an option of reductions.
void refuse_reduction_options_with_graph(const CLI::App& command, const CaseTexts& texts);

}  // namespace tenfold::tools::bench
