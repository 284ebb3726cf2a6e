// SPDX-License-Identifier: Apache-2.0
//
// The tuning file that TENFOLD_TUNING names, and what is wrong with it. The library prints nothing of its own accord.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compile/tuning.hpp"

namespace tenfold::tools {

/// The file as compiling reads it. Null where no file is named or it cannot be read, which a note then says; there is a
/// note for each of the first few entries that are left out, too.
std::shared_ptr<const compiler::Tuning> load_tuning(std::vector<std::string>& notes);

/// The notes on stderr. `command` is the subcommand's name.
void print_tuning_notes(const std::string& command);

}  // namespace tenfold::tools
