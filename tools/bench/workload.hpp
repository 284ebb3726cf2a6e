// SPDX-License-Identifier: Apache-2.0
//
// A case made ready to run: its graph, its operands in memory that the roof's probes use as well, and everybody who
// takes part in the measurement.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "tenfold/compiled_partition.hpp"
#include "tenfold/graph_builder.hpp"
#include "tenfold/status.hpp"
#include "tools/bench/case.hpp"
#include "tools/bench/measure.hpp"

namespace tenfold::tools::bench {

/// One block of memory for all inputs, or all outputs, so that a probe can go through it in one piece.
struct Arena {
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> memory;
  std::int64_t bytes = 0;
};

struct Operands {
  Arena in, out;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  std::int64_t read_bytes = 0;   ///< that memory moves for all inputs (lines.hpp)
  std::int64_t write_bytes = 0;  ///< and for all outputs
};

/// The verified graph file, or the reduction's graph.
Result<Graph> graph_of(const Case& what);

CompileOptions compile_options(const Case& what);

/// Inputs filled as the case says, outputs untouched. out_of_memory, or what the partition says about the inputs; an
/// error after Ctrl-C.
Result<Operands> make_operands(const Case& what, const Graph& graph, const CompiledPartition& partition);

enum class Role { roof, tenfold, again, rival };

struct Entrant {
  Role role;
  Contender contender;
};

struct Workload {
  Case what;
  CompiledPartition compiled;
  Operands operands;
  std::vector<Entrant> entrants;
  std::vector<std::string> schedules;  ///< of each kernel, in the order they run
  std::vector<std::string> absent;     ///< rivals that do not take part, and why
};

/// Compiles the case, runs it once, and invites the roof's probes, ourselves twice and, unless there are to be none,
/// the rivals. An error after Ctrl-C.
Result<std::unique_ptr<Workload>> make_workload(const Case& what, bool with_rivals);

}  // namespace tenfold::tools::bench
