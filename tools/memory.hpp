// SPDX-License-Identifier: Apache-2.0
//
// How much memory there is to be had. Linux promises any size and then kills the process that touches it, so whoever
// makes tensors asks first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenfold/compiled_partition.hpp"
#include "tenfold/status.hpp"

namespace tenfold::tools {

/// Bytes that can be touched now without swapping or being killed: what the system counts as available, or what the
/// memory limit of the process's cgroup, or of one above it, leaves, if that is less. `root` is where the system's
/// files are. nullopt when none of them can be read.
std::optional<std::int64_t> available_bytes(const std::string& root = "");

/// out_of_memory, with both numbers, when `what` takes more than there is.
Status check_memory(const std::string& what, std::int64_t bytes);

/// What these tensors take together; those whose dims are not known yet count nothing.
Result<std::int64_t> bytes_of(const std::vector<TensorInfo>& infos);

}  // namespace tenfold::tools
