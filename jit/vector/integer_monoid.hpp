// SPDX-License-Identifier: Apache-2.0
//
// What a reduction of integers is in the vector layer: which operation, and which bits it starts with. Of a floating
// dtype it is the max of magnitudes.
#pragma once

#include <cstdint>

#include "jit/vector/vector.hpp"
#include "kernel/tables.hpp"
#include "tenfold/dtype.hpp"

namespace tenfold::jit {

IntegerOp integer_op(kernel::Monoid monoid, DType dtype);

/// The start value: 0, 1, or the type's least or greatest value.
std::uint64_t integer_identity(kernel::Monoid monoid, DType dtype);

}  // namespace tenfold::jit
