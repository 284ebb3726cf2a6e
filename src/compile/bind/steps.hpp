// SPDX-License-Identifier: Apache-2.0
//
// Steps of a program from what was decided: planned kernels, or a call of oneDNN or of the reference evaluator.
#pragma once

#include "compile/bind/buffers.hpp"
#include "compile/heavy/heavy.hpp"
#include "compile/lower/lower.hpp"
#include "compile/plan/plan.hpp"
#include "compile/report.hpp"

namespace tenfold::compiler {

/// Emits the plan's kernels, which run `lowered`, and appends their steps; fills `report`.
Status add_kernel_steps(const Plan& plan, const Lowered& lowered, Buffers& buffers, runtime::Program& program,
                        RegionReport& report);

/// Appends the steps of a selection; fills `report`.
Status add_selection_steps(const PlannedSelection& planned, Buffers& buffers, runtime::Program& program,
                           RegionReport& report);

/// Appends a step that calls oneDNN; fills `report`.
void add_heavy_step(const HeavyOp& heavy, Buffers& buffers, runtime::Program& program, RegionReport& report);

/// Appends a step that evaluates `op` by the reference evaluator.
Status add_reference_step(const graph::Graph& graph, const graph::Op& op, Buffers& buffers, runtime::Program& program);

/// Appends steps that copy values which leave the graph without an op having written them there.
void add_copy_steps(const graph::Graph& graph, Buffers& buffers, runtime::Program& program);

}  // namespace tenfold::compiler
