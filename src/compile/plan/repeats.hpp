// SPDX-License-Identifier: Apache-2.0
//
// The order in which pieces of rows come, where some input has the same elements for each row: scale and shift of a
// norm, weights of a sum. Row by row such elements come from afar for each of them, as no cache near by holds those of
// a whole row; so a piece of all rows comes first, then the next.
#pragma once

#include "kernel/spec.hpp"

namespace tenfold::compiler {

/// Moves kept levels along which large inputs move outside of those along which these repeat. Computes the same thing,
/// to the bit: each reduction has its elements in the order that it had. `spec` is collapsed.
void read_repeats_once(kernel::KernelSpec& spec);

}  // namespace tenfold::compiler
