// SPDX-License-Identifier: Apache-2.0
//
// The first of all (core.top_k) where lines are long or many places are asked for. A kernel takes each element past
// every place (ordered.hpp); but most elements of a long line are behind all of them. So a line comes in blocks, of
// which a kernel finds the extremes as fast as memory is read. As many blocks as there are places begin with elements
// as far ahead as the last of these blocks' extremes: who is behind it is out, and so are all elements of the blocks
// whose extremes are. The rest, which is little, is put in order one by one (bind/first_of_line.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "compile/lower/operand_source.hpp"
#include "graph/ir/graph.hpp"
#include "kernel/spec.hpp"
#include "tenfold/status.hpp"
#include "tenfold/tensor.hpp"

namespace tenfold::compiler {

struct Selection {
  std::int64_t places = 0;
  bool largest = true;
  std::size_t axis = 0;
  TensorDesc input;
  OperandSource source;
  std::array<TensorDesc, 2> results;  ///< elements and indices
  std::array<OperandSource, 2> targets;
  /// Elements of a block. 0: there is little to skip, and lines are looked through whole, without a kernel.
  std::int64_t block = 0;
  /// Of the blocks' extremes, which have the input's dims but that of the axis, in that order and dense. What is left
  /// of a line behind its blocks has none.
  kernel::KernelSpec extremes;

  std::int64_t extent() const noexcept { return input.shape[axis]; }
  std::int64_t blocks() const noexcept { return block > 0 ? extent() / block : 0; }
};

/// Whether the op is a core.top_k that is better selected.
bool is_selection(const graph::Graph& graph, const graph::Op& op);

/// Of such an op, whose input is read where it lies through the views among `through`. unsupported_* where one has to
/// be written out first, or the reference evaluator has to run the op.
Result<Selection> lower_selection(const graph::Graph& graph, const graph::Op& op, std::span<const graph::OpId> through);

}  // namespace tenfold::compiler
