// SPDX-License-Identifier: Apache-2.0
//
// Which reductions of a body are mean and centred second moment of the same elements. What kernels make of such a pair
// is in jit/stage/centred.hpp.
#pragma once

#include <vector>

#include "kernel/spec.hpp"

namespace tenfold::kernel {

/// By node: of a sum of the squares of what is left of f32 elements when their mean is taken off, the node of the sum
/// of the elements themselves; -1 of all others.
std::vector<int> sums_beside_moments(const KernelSpec& spec);

}  // namespace tenfold::kernel
