// SPDX-License-Identifier: Apache-2.0
//
// Max pools window by window, for the few elements that oneDNN's kernels get wrong. Those start at the least finite
// number, so a window without anything above it has that as its maximum and no place for its gradient; and they skip
// NaN. No type of oneDNN's is in here.
#pragma once

#include "onednn/spec.hpp"

namespace tenfold::onednn {

class MaxWindows {
 public:
  /// Of a max_pool or max_pool_to_input.
  explicit MaxWindows(const HeavySpec& spec);

  /// Puts maxima right that are the least finite number: of infinities below it, pads or NaN alone they are not.
  void repair(const float* input, float* maxima) const;
  /// Whether oneDNN may have put a gradient in a wrong place, or nowhere.
  bool is_doubtful(const float* input, const float* maxima) const;
  /// All of the gradient: each window's goes to its first maximum in row-major order, or to its first NaN. The input
  /// lies as its gradient does.
  void find_gradient(const float* input, const float* of_maxima, float* of_input) const;

 private:
  TensorDesc input_, maxima_;
  Window window_;
};

}  // namespace tenfold::onednn
