// SPDX-License-Identifier: Apache-2.0
//
// Ops that move elements as a whole: core.slice, and core.concat, which is a copy for each of its inputs.
#pragma once

#include <vector>

#include "compile/lower.hpp"

namespace tenfold::compiler {

bool is_movement(const graph::Op& op) noexcept;

/// One kernel of one load and one store for each part that has elements.
Result<std::vector<Lowered>> lower_copies(const graph::Graph& graph, const graph::Op& op);

}  // namespace tenfold::compiler
