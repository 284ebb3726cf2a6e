// SPDX-License-Identifier: Apache-2.0
//
// Core ops as nodes of a kernel's body. Which operands and levels the kernel has is not known here.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "graph/ir/graph.hpp"
#include "kernel/spec.hpp"
#include "tenfold/status.hpp"

namespace tenfold::compiler {

/// Writes the body of a spec that has none; what is there already is not written again.
class BodyWriter {
 public:
  explicit BodyWriter(kernel::KernelSpec& spec) : spec_(spec) {}

  int load(int input);
  int count();
  int constant(DType dtype, double value);
  int cast(DType to, int value);
  int apply(kernel::Function function, std::vector<int> args);
  /// `last`: of an arg-reduction, the last of equal elements.
  int reduce(kernel::Monoid monoid, int value, bool last = false);
  DType dtype_of(int node) const { return kernel::dtype_of(spec_, node); }
  /// How many elements the levels reduce, of a spec that has them.
  std::int64_t reduced_count() const { return kernel::reduced_count(spec_); }

 private:
  /// All that a node is; of its value the bits.
  using Key = std::tuple<kernel::Node::Kind, int, kernel::Function, kernel::Monoid, std::vector<int>, DType,
                         std::uint64_t, bool>;

  int add(kernel::Node node);

  kernel::KernelSpec& spec_;
  std::map<Key, int> known_;
};

/// Whether an op gives one of its inputs, or a bound, with or without its sign, by their order alone: rounding what it
/// gives comes to the same as rounding what it takes.
bool commutes_with_rounding(const graph::Op& op);

/// core.map, core.cast or core.select of `args`, the values of its inputs; gives the node of its result, which has the
/// dtype `to`. unsupported_* when kernels have no such function.
Result<int> write_elementwise(BodyWriter& body, const graph::Op& op, std::span<const int> args, DType to);

/// core.arg_reduce, along the one reduced level: an index, s64 or as `to` has it.
int write_arg_reduction(BodyWriter& body, const graph::Op& op, int value, DType to);

/// core.reduce, along all reduced levels.
Result<int> write_reduction(BodyWriter& body, const graph::Op& op, int value);

}  // namespace tenfold::compiler
