// SPDX-License-Identifier: Apache-2.0
//
// Programs as a tuning file may ask for them: each kernel by one of the schedules beside the heuristic's, which must
// give the same bits.
#pragma once

#include <cstdint>
#include <optional>

#include "compile/compile.hpp"

namespace tenfold::numeric {

/// Compiles `core` with neighbour number `pick` (modulo their number) of each kernel of `chosen`, which was compiled
/// from the same graph for the same target. Empty when no kernel has any.
std::optional<Result<compiler::Compiled>> compile_neighbour(const graph::Graph& core, const target::Target& target,
                                                            const compiler::Compiled& chosen, std::uint64_t pick);

}  // namespace tenfold::numeric
