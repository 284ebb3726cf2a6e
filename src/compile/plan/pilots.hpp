// SPDX-License-Identifier: Apache-2.0
//
// Centred moments of rows whose pieces take elements in turn (row_merges.hpp): a first reading makes the rows' means,
// and pilots of them; a second one reduces what is left of the elements when the pilot is taken off.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "compile/plan/body_copy.hpp"
#include "compile/plan/kernel_draft.hpp"
#include "compile/plan/piece_layout.hpp"
#include "kernel/spec.hpp"

namespace tenfold::compiler {

/// Nodes are given by their numbers in the body of `spec`. `sums`: kernel::sums_beside_moments(); all must outlive it.
class Pilots {
 public:
  Pilots(const kernel::KernelSpec& spec, const PieceLayout& layout, const BodyCopy& body, const std::vector<int>& sums)
      : spec_(spec), layout_(layout), body_(body), sums_(sums) {}

  /// The first reading: kernels that make the pilots of all sums that moments among `reductions` are beside.
  Status make(const std::vector<int>& reductions, CutDraft& cut);

  /// Whether it is a moment, or the sum that one is beside: what is reduced about a pilot.
  bool has(int reduction) const;

  /// Of a kernel of the second reading: the sum of what is left of the elements, or of its squares.
  int reduce(KernelDraft& draft, int reduction, const PieceRange& range) const;

  /// Of the kernel that combines what the pieces gave, which it has loaded: the reductions, and their nodes in it.
  std::vector<std::pair<int, int>> combine(KernelDraft& draft, const std::vector<int>& reductions,
                                           const std::vector<int>& loaded) const;

 private:
  int sum_beside(int reduction) const { return sums_[static_cast<std::size_t>(reduction)]; }
  Status read_means(int sum, CutDraft& cut);
  Status read_pilots(int sum, CutDraft& cut);

  const kernel::KernelSpec& spec_;
  const PieceLayout& layout_;
  const BodyCopy& body_;
  const std::vector<int>& sums_;
  std::map<int, Place> means_;   ///< by sum: of the rows, f64
  std::map<int, Place> pilots_;  ///< made of these, f32, beside the columns of all pieces
};

}  // namespace tenfold::compiler
