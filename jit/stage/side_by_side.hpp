// SPDX-License-Identifier: Apache-2.0
//
// Two steps of a program in one, an operation of each in turns: a vector unit that waits with an operation until its
// arguments are there has fewer of them waiting, and so looks further ahead.
#pragma once

#include <functional>

#include "jit/stage/stages.hpp"

namespace tenfold::jit {

/// The second step's operands, sets and kept values have StagePlace::step 1; values of rows and constants are shared.
StageProgram side_by_side(const StageProgram& program);

/// The same of a program of rows where lanes are columns, whose totals and saved values are their own as well.
StageProgram columns_side_by_side(const StageProgram& program);

/// A program of two steps whose results for operands that `joins` names are one result of both,
/// StagePlace::Kind::joined and step 0, rounded to bf16 by LaneOp::join_bf16: it finds NaNs by itself, so that no node
/// makes them canonical. Constants stay as they are. Where `loads_bf16` says of what operands elements are loaded that
/// have 16 bits, results of bf16 are known that need no rounding.
StageProgram with_joined_results(const StageProgram& both, const std::function<bool(int operand)>& joins,
                                 const std::function<bool(int operand)>& loads_bf16);

}  // namespace tenfold::jit
