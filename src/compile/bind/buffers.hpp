// SPDX-License-Identifier: Apache-2.0
//
// Where each value of a graph is while its program runs: a user's buffer, a constant, or a place in the arena, which it
// has from the region that writes it to the last one that reads it.
#pragma once

#include <cstdint>
#include <vector>

#include "compile/bind/arena.hpp"
#include "compile/lower/operand_source.hpp"
#include "compile/partition/partition.hpp"
#include "graph/ir/graph.hpp"
#include "runtime/program.hpp"
#include "tenfold/status.hpp"

namespace tenfold::compiler {

class Buffers {
 public:
  /// Places inputs, outputs and constants; constants are copied into `program`. `regions` in the order in which they
  /// run.
  Buffers(const graph::Graph& graph, const std::vector<Region>& regions, runtime::Program& program);

  /// The value's place. A value that nobody outside sees gets one in the arena the first time it is asked for.
  runtime::Location location(graph::ValueId value);
  /// Where an operand begins in its value's place.
  runtime::Location location(const OperandSource& operand);
  /// A temporary that is no value of the graph: until the end of the region.
  runtime::Location temporary(std::int64_t bytes);
  /// The steps of the region are there: what none of the next ones reads makes room.
  void end_region();

 private:
  /// In the arena, until the end of region `last`.
  runtime::Location block(std::int64_t bytes, std::size_t last);

  const graph::Graph& graph_;
  runtime::Program& program_;
  std::vector<runtime::Location> locations_;
  std::vector<bool> placed_;
  ArenaLayout arena_;
  std::size_t region_ = 0;                         ///< whose steps are being made
  std::vector<std::size_t> last_;                  ///< by value: the last region that reads it
  std::vector<std::vector<std::int64_t>> ending_;  ///< by region: the blocks that are given back after it
};

}  // namespace tenfold::compiler
