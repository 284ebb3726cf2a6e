// SPDX-License-Identifier: Apache-2.0
//
// One kernel of several as it is written: a space, nodes, what it reads and where it writes; and the several.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "compile/plan/kernel_cut.hpp"
#include "tenfold/status.hpp"

namespace tenfold::compiler {

class KernelDraft {
 public:
  explicit KernelDraft(std::vector<kernel::Level> levels) { made_.spec.levels = std::move(levels); }

  /// Each returns the node that it has added.
  int add(kernel::Node node);
  int load(kernel::Operand operand, Place from);
  /// The same of a reduction's result, which another kernel has left there.
  int load_total(kernel::Operand operand, Place from);
  int apply(kernel::Function function, std::vector<int> args);
  int reduce(kernel::Monoid monoid, int arg);
  /// `arg` itself where it is of that dtype.
  int cast(DType dtype, int arg);
  int count();
  int constant(DType dtype, double value);
  void store(int node, kernel::Operand operand, Place to);

  const kernel::Node& node(int index) const { return kernel::node(made_.spec, index); }
  DType dtype(int node) const { return kernel::dtype_of(made_.spec, node); }
  bool stores() const { return !made_.writes.empty(); }

  /// Collapsed, with an input first whose elements are neighbours along level `along`, if there is one: the order of
  /// levels follows from it. unsupported_shape for too many operands or levels. `count`: what its nodes of that kind
  /// are.
  Result<CutKernel> finish(double count, std::optional<std::size_t> along = {});

  std::map<int, int> known;  ///< by node of the whole body: the node here

 private:
  void lead_with(std::size_t input);

  CutKernel made_;
};

/// The several, in the order that they run in, and the buffers between them.
class CutDraft {
 public:
  Place new_buffer(std::int64_t elements, DType dtype);
  void add(CutKernel kernel) { made_.kernels.push_back(std::move(kernel)); }
  /// Arguments and errors: KernelDraft::finish().
  Status add(KernelDraft& draft, std::int64_t count, std::optional<std::size_t> along);
  KernelCut finish() { return std::move(made_); }

 private:
  KernelCut made_;
};

}  // namespace tenfold::compiler
