// SPDX-License-Identifier: Apache-2.0
//
// Where a NaN among the elements of a row goes.
#pragma once

#include "kernel/spec.hpp"

namespace tenfold::jit {

/// Whether the max of reals `node` is only taken from the elements that it is the max of, before exponentials whose sum
/// every result depends on. A NaN then reaches all results by way of that sum, and of two zeros either will do: the max
/// need not look for them. (Softmax, LogSoftmax, LogSumExp without its last addition.)
bool only_shifts_exponents(const kernel::KernelSpec& spec, int node);

}  // namespace tenfold::jit
