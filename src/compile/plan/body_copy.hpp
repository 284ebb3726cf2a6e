// SPDX-License-Identifier: Apache-2.0
//
// Nodes of a body in the kernels that its rows are cut into (long_rows.hpp). A value of rows that a kernel before has
// stored is loaded; all else is written anew.
#pragma once

#include <map>

#include "compile/plan/kernel_cut.hpp"
#include "compile/plan/kernel_draft.hpp"
#include "compile/plan/piece_layout.hpp"
#include "kernel/spec.hpp"

namespace tenfold::compiler {

/// Nodes are given by their numbers in the body of `spec`, which, as the layout, must outlive it.
class BodyCopy {
 public:
  BodyCopy(const kernel::KernelSpec& spec, const PieceLayout& layout) : spec_(spec), layout_(layout) {}

  /// The node of `draft` that is `index` of the whole, with all that it is made of, up to what the draft knows or a
  /// kernel holds. `range`: the draft has a level of pieces, and takes its elements.
  int copy(KernelDraft& draft, int index, const PieceRange* range) const;

  /// The kernel that is being written stores this value of rows, for those after it.
  void hold(int index, Place place) { waiting_[index] = place; }
  void end_kernel();
  const Place& held(int index) const { return held_.at(index); }

  /// A held value lies there once more for each of the pieces in turn, beside their columns.
  void repeat(int index, Place place) { repeated_[index] = place; }
  bool is_repeated(int index) const { return repeated_.contains(index); }

  /// This sum of exponentials was made with its max, one piece at a time.
  void made_online(int sum) { online_[kernel::node(spec_, sum).args[0]] = sum; }

 private:
  int load_held(KernelDraft& draft, int index, const PieceRange* range) const;
  bool is_exponential(int index) const;
  bool is_online_sum(int index) const;

  const kernel::KernelSpec& spec_;
  const PieceLayout& layout_;
  std::map<int, Place> held_;
  std::map<int, Place> repeated_;
  std::map<int, Place> waiting_;  ///< held from end_kernel() on
  std::map<int, int> online_;     ///< by exponential: its sum
};

}  // namespace tenfold::compiler
