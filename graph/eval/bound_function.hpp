// SPDX-License-Identifier: Apache-2.0
//
// The error bound of one element of an elementwise op: what a kernel's function may add of its own, and what becomes of
// the errors that its arguments bring along. Only for the eval room and for tests of kernels.
#pragma once

#include <span>

#include "graph/eval/functions.hpp"
#include "tenfold/dtype.hpp"

namespace tenfold::graph {

/// What a kernel computes an elementwise op in, and what it stores.
struct Precision {
  DType arithmetic;  ///< f32 or f64; undef: in integers, exactly
  DType result;
  /// A quotient of f32 may be a product with the divisor's reciprocal, which is known to twice the precision: the
  /// nearest number but where two are about as near, and of subnormal quotients within 1.5 units.
  bool by_reciprocal = false;
};

/// Whether `value`, off by `error`, may be on either side of where an integral `dtype` wraps; false for other dtypes.
bool may_wrap(DType dtype, double value, double error);

/// The bound on |compiled - function(x)| before it is rounded to `precision.result`, when each argument may be off by
/// its `error`. 0: the same bits; infinite: nothing is stated. Infinities and NaNs of exact arguments are exact, and so
/// are the zeros of zeros and infinities.
double function_bound(const FunctionRow& function, const Parameters& parameters, const Precision& precision,
                      std::span<const double> x, std::span<const double> error);

}  // namespace tenfold::graph
