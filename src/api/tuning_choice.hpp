// SPDX-License-Identifier: Apache-2.0
//
// Which tuning a partition is compiled with: that of the file which the caller names, or else the environment.
#pragma once

#include <string>

#include "api/partition.hpp"
#include "tenfold/status.hpp"

namespace tenfold::api {

/// Sets the partition's tuning, and notes what was ignored. invalid_file when `file` is not empty and cannot be read.
Status choose_tuning(const std::string& file, CompiledPartition::Impl& impl);

}  // namespace tenfold::api
