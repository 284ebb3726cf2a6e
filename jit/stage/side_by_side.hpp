// SPDX-License-Identifier: Apache-2.0
//
// Several steps of a program in one, an operation of each in turns: a vector unit that waits with an operation until
// its arguments are there has fewer of them waiting, and so looks further ahead.
#pragma once

#include <functional>

#include "jit/stage/stages.hpp"

namespace tenfold::jit {

/// Operands, sets and kept values of step i have StagePlace::step i; values of rows, constants, and operands of which
/// `repeats` says that all steps read the same, are shared.
StageProgram side_by_side(const StageProgram& program, int steps = 2,
                          const std::function<bool(int operand)>& repeats = {});

/// The same of a program of rows where lanes are columns, whose totals and saved values are their own as well.
StageProgram columns_side_by_side(const StageProgram& program);

/// The program, which reads inputs again where they are needed much later than before, so that no vector has them
/// meanwhile.
StageProgram reading_again(const StageProgram& program);

/// A program of an even number of steps whose results for operands that `joins` names are one result for two of them,
/// StagePlace::Kind::joined and the former's step, rounded to bf16 by LaneOp::join_bf16: it finds NaNs by itself, so
/// that no node makes them canonical. Constants stay as they are. Where `loads_bf16` says of what operands elements are
/// loaded that have 16 bits, results of bf16 are known that need no rounding.
StageProgram with_joined_results(const StageProgram& steps, const std::function<bool(int operand)>& joins,
                                 const std::function<bool(int operand)>& loads_bf16);

}  // namespace tenfold::jit
