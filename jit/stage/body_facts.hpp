// SPDX-License-Identifier: Apache-2.0
//
// What is known of the values of a kernel's body before it runs: signs, bounds, and what becomes of them. Each fact
// allows a shorter sequence for what is made of the value.
#pragma once

#include <vector>

#include "kernel/spec.hpp"

namespace tenfold::jit {

class BodyFacts {
 public:
  explicit BodyFacts(const kernel::KernelSpec& spec);

  /// f32 that is the result of arithmetic, so that a NaN is quiet, and has no sign otherwise.
  bool is_never_negative(int node) const { return never_negative_[static_cast<std::size_t>(node)]; }
  /// kernel::ends_in_words().
  bool ends_in_words(int node) const { return ends_in_words_[static_cast<std::size_t>(node)]; }
  /// What is left of elements when the greatest is taken from each, or no more than 0 by a minimum.
  bool is_never_positive(int node) const;
  /// min(x, c) of f32, which the machine's own does with c first: x where it is NaN, or both are zeros.
  bool is_below_constant(int node) const;
  /// Roots, sums of exponentials of which the greatest is 1, and what is kept within such bounds.
  bool is_moderate(int node) const;
  /// Of moderate values, those with roundings of their own: a quotient by them is rarely one that half a unit decides.
  bool is_rounded(int node) const { return is_moderate(node) && !is_kept_above_zero(node); }

 private:
  const kernel::Node& at(int node) const { return kernel::node(spec_, node); }
  bool is_kept_above_zero(int node) const;
  bool finds_never_negative(int node) const;

  const kernel::KernelSpec& spec_;
  std::vector<bool> never_negative_, ends_in_words_;  ///< by node
};

}  // namespace tenfold::jit
