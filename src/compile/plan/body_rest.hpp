// SPDX-License-Identifier: Apache-2.0
//
// What is left of a body for a kernel that runs behind others: some of its values of rows are found where these have
// stored them, and some outputs are written already.
#pragma once

#include <map>
#include <vector>

#include "compile/plan/kernel_cut.hpp"
#include "compile/plan/kernel_draft.hpp"
#include "kernel/spec.hpp"

namespace tenfold::compiler {

class BodyRest {
 public:
  /// `spec` must outlive it.
  explicit BodyRest(const kernel::KernelSpec& spec) : spec_(spec) {}

  /// Node `node` of the body, of one element for each row, lies in `place`, without gaps.
  void find(int node, DType dtype, Place place) { found_[node] = {dtype, place}; }
  /// A kernel before has written it.
  void leave_out(int output) { written_.push_back(output); }

  /// Stores all other outputs; none where there are no others. `reduces`: whether the draft has the reduced levels;
  /// without them all that it stores is of rows. A found value goes on as f32 where it is f32 to the body.
  KernelDraft draft(bool reduces) const;
  /// Whether the draft asks how many elements are reduced.
  bool counts(const KernelDraft& draft) const;

 private:
  struct Found {
    DType dtype;
    Place place;
  };
  int copy(KernelDraft& draft, int index, bool reduces) const;
  std::vector<std::int64_t> strides(const std::vector<std::int64_t>& whole, bool reduces) const;

  const kernel::KernelSpec& spec_;
  std::map<int, Found> found_;
  std::vector<int> written_;
};

}  // namespace tenfold::compiler
