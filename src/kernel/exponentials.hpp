// SPDX-License-Identifier: Apache-2.0
//
// Which reductions of a body are the maximum of elements and the sum of the exponentials of what is left of them when
// it is taken off: softmax, log-softmax, log-sum-exp.
#pragma once

#include <vector>

#include "kernel/spec.hpp"

namespace tenfold::kernel {

/// Whether node `sum` sums e^(x - max) of the elements x that node `max` is the maximum of.
bool is_sum_of_exponentials(const KernelSpec& spec, int sum, int max);

/// By node: of such a sum, all in f32, the node of the maximum; -1 of all others.
std::vector<int> maxima_beside_exponentials(const KernelSpec& spec);

}  // namespace tenfold::kernel
