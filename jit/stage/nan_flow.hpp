// SPDX-License-Identifier: Apache-2.0
//
// Where a NaN among the elements of a row goes, and what its bits are.
#pragma once

#include "kernel/spec.hpp"

namespace tenfold::jit {

/// Whether the max of reals `node` is only taken from the elements that it is the max of, before exponentials whose sum
/// every result depends on, and added to the logarithm of such a sum. A NaN then reaches all results by way of that
/// sum, and of two zeros either will do: the max need not look for them. (Softmax, LogSoftmax, LogSumExp.)
bool only_shifts_exponents(const kernel::KernelSpec& spec, int node);

/// The same, but for rows whose max is infinite, and is the result itself where it is: these need the max as it should
/// be. (ReduceLogSumExp.)
bool only_shifts_where_finite(const kernel::KernelSpec& spec, int node);

/// Whether the value is f32 in lanes, of which no NaN has any of the lower 16 bits set: it is made of bf16 by
/// arithmetic, which passes on the bits of an argument or makes the default NaN.
bool has_short_nans(const kernel::KernelSpec& spec, int node);

}  // namespace tenfold::jit
