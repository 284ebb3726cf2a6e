// SPDX-License-Identifier: Apache-2.0
//
// From a core graph with static shapes to a Program. compile.cpp is the ordered list of what happens on the way:
// partition into regions, lower each to kernel specs, choose schedules, emit, bind buffers.
#pragma once

#include <string>
#include <vector>

#include "compile/plan/row_pieces.hpp"
#include "compile/report.hpp"
#include "graph/ir/graph.hpp"
#include "jit/code.hpp"
#include "runtime/program.hpp"
#include "target/target.hpp"
#include "tenfold/status.hpp"

// Not `tenfold::compile`: that is the public function, and C++ allows no namespace of the same name beside it.
namespace tenfold::compiler {

struct Compiled {
  runtime::Program program;
  std::vector<RegionReport> regions;
  std::vector<UnfusedReport> unfused;
  std::vector<std::string> notices;  ///< what was asked for and ignored; nothing that changes a result
  std::vector<InPlace> in_place;     ///< pairs that may be one buffer
};

class Tuning;

struct Options {
  bool fuse = true;                ///< false: a kernel for each op
  const Tuning* tuning = nullptr;  ///< measured schedules (tuning.hpp); null: the heuristic's
  RowPieces pieces = {};           ///< decides bits
};

/// For tests and the command: kernels and bytes of code memory in use.
jit::CodeMemoryStats kernel_cache_stats();

/// Compiles `graph` (after graph::run_pipeline, every value static) for `target`.
Result<Compiled> compile(const graph::Graph& graph, const target::Target& target, const Options& options = {});

/// The region reports as text, for people.
std::string explain(const Compiled& compiled, const target::Target& target);

}  // namespace tenfold::compiler
