// SPDX-License-Identifier: Apache-2.0
//
// Which pass over the elements each value of a body waits for.
#pragma once

#include <vector>

#include "kernel/spec.hpp"

namespace tenfold::kernel {

/// By node: how many reductions, one after another, it waits for, itself included; so the pass in which it is known.
std::vector<int> passes_of(const KernelSpec& spec);

/// How often elements are read: once, and once more for all that waits for a reduction. Kernels may read them once less
/// for a mean and its centred moment (moments.hpp).
int pass_count(const KernelSpec& spec);

}  // namespace tenfold::kernel
