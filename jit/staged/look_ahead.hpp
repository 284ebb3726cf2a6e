// SPDX-License-Identifier: Apache-2.0
//
// Of which operands a pass in stages asks for rows that come later, and how far on those are.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "jit/operand/walk.hpp"
#include "jit/stage/stages.hpp"

namespace tenfold::jit {

struct Ahead {
  std::size_t operand;
  std::unique_ptr<Gpr> distance;  ///< in bytes
};

/// For how many operands a pass has a register to spare, besides those of the operands' pointers.
std::size_t most_ahead(const kernel::KernelSpec& spec);

/// Whether tasks of columns in stages have less than a page of them each.
bool has_narrow_tasks(const schedule::Schedule& schedule);

/// Those operands among `places` that have their elements side by side and move along `level`, at most so many, each
/// with the distance of the row that is taken `rows` rows of that level later.
std::vector<Ahead> look_ahead(Assembler& assembler, OperandWalk& walk, const std::vector<StagePlace>& places, int level,
                              int rows, std::size_t most);

}  // namespace tenfold::jit
