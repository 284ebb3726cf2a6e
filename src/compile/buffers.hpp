// SPDX-License-Identifier: Apache-2.0
//
// Where each value of a graph is while its program runs: a user's buffer, a constant, or a place in the arena.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/ir/graph.hpp"
#include "runtime/program.hpp"
#include "tenfold/status.hpp"

namespace tenfold::compiler {

class Buffers {
 public:
  /// Places inputs, outputs and constants; constants are copied into `program`.
  Buffers(const graph::Graph& graph, runtime::Program& program);

  /// The value's place. A value that nobody outside sees gets one in the arena the first time it is asked for.
  runtime::Location location(graph::ValueId value);
  /// A temporary that is no value of the graph.
  runtime::Location temporary(std::int64_t bytes);

 private:
  const graph::Graph& graph_;
  runtime::Program& program_;
  std::vector<runtime::Location> locations_;
  std::vector<bool> placed_;
};

}  // namespace tenfold::compiler
