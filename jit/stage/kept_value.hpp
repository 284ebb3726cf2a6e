// SPDX-License-Identifier: Apache-2.0
//
// Which element values may be kept from one pass for a later one (KeptValue): who asks for them, and what else those
// passes read.
#pragma once

#include <vector>

#include "jit/stage/builder.hpp"

namespace tenfold::jit {

/// Whether elements that a pass after `pass` stores or reduces need the value `node`.
bool is_read_after(const kernel::KernelSpec& spec, const std::vector<Position>& positions, int node, int pass);

/// Whether no later pass reads an input, and the kept value is read for the one store to its output alone: when that is
/// computed, nothing asks for the kept value again.
bool stands_alone(const kernel::KernelSpec& spec, const std::vector<Position>& positions, const KeptValue& kept);

}  // namespace tenfold::jit
