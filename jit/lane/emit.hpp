// SPDX-License-Identifier: Apache-2.0
//
// From a lane program to instructions: which vector holds which value, what is spilled, in one walk over the program.
#pragma once

#include <functional>
#include <vector>

#include "jit/lane/lane.hpp"
#include "jit/lane/layer.hpp"

namespace tenfold::jit {

/// Where inputs come from and results go. An input is asked for right before its first use, and may be asked for again;
/// a result is handed over as soon as it is there, and must be kept.
struct LaneOperands {
  std::function<void(int input, Vec d)> load;
  std::function<void(int result, Vec s)> store;
  /// Inputs that stay in a vector from one step to the next, and results that replace them there (-1, or missing:
  /// loaded and stored). The program has the vectors below `free` (-1: all of the layer's).
  std::vector<Vec> resident_inputs = {}, resident_results = {};
  int free = -1;
};

/// How many vectors a step of `program` needs so that nothing leaves them; not counting inputs that are `resident`.
int vectors_needed(const LaneProgram& program, const std::vector<bool>& resident);

/// How many it needs at least, where values may leave them.
int fewest_vectors(const LaneProgram& program, const std::vector<bool>& resident);

/// The constants that operations of `program` read, those first that it pays most to have in registers: the table of
/// roots, as a permutation of what is in memory is expensive, then by how often they are read.
std::vector<LaneSource> constants_by_use(const LaneProgram& program);

/// Emits one step of `program`, and tells how many bytes of scratch, from `spill` on, it uses.
std::int64_t emit_lanes(Assembler& assembler, LaneLayer& layer, const LaneProgram& program, const Memory& spill,
                        const LaneOperands& operands);

}  // namespace tenfold::jit
