// SPDX-License-Identifier: Apache-2.0
//
// Runs lane programs in portable C++, by the definitions in jit/lane/lane.hpp, bit for bit but for the payloads of
// NaNs. Tests hold the formulas against the reference evaluator with it, and the vector layers against it.
#pragma once

#include <cstddef>
#include <span>

#include "jit/lane/lane.hpp"

namespace tenfold::jit {

/// Runs `program` on `count` lanes. inputs[i] points at the lanes of argument i, 4 or 8 bytes each, as its type is;
/// results[i] gets those of result i. Steps of `step` lanes, a power of two, see each other's (is_between_lanes).
void interpret(const LaneProgram& program, std::size_t count, std::span<const void* const> inputs,
               std::span<void* const> results, std::size_t step = 16);

}  // namespace tenfold::jit
