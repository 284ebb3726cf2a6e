// SPDX-License-Identifier: Apache-2.0
//
// Quotients by a row's value, in kernels that have no rows: elementwise ones, whose divisors are vectors like any
// other.
#pragma once

#include "kernel/spec.hpp"

namespace tenfold::compiler {

/// `spec` with products by the reciprocal in place of elements' quotients by a root of their row's, where these end in
/// 16 bits after sums and products at most: the reciprocal is a row's value then, which a kernel before can make.
/// Within 1.5 units of f32, of roots of f32, which are neither subnormal nor too great.
kernel::KernelSpec with_reciprocals(const kernel::KernelSpec& spec);

}  // namespace tenfold::compiler
