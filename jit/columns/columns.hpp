// SPDX-License-Identifier: Apache-2.0
//
// The columns nest, in all its forms but the one of narrow sums (narrow.hpp).
#pragma once

#include "jit/nest/nest.hpp"

namespace tenfold::jit {

/// A kept level is contiguous: lanes are neighbouring outputs.
void emit_columns(LoopNest& nest);

/// Whether there are so many rows that each column has most likely an element of the sign that settles its extreme.
bool has_rows_that_settle(const kernel::KernelSpec& spec);

}  // namespace tenfold::jit
