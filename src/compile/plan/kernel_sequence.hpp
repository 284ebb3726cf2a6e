// SPDX-License-Identifier: Apache-2.0
//
// An elementwise body of more inputs than one kernel takes, as kernels that run one after the other: each hands one
// value of every element on to the next. What they compute is what one kernel would, to the bit.
#pragma once

#include <cstddef>

#include "compile/plan/kernel_cut.hpp"
#include "kernel/spec.hpp"
#include "tenfold/status.hpp"

namespace tenfold::compiler {

/// Cuts `spec`, which is elementwise and has one output, into as few parts of at most `most_inputs` as its order
/// allows. unsupported_shape when there is a stretch of more inputs in which several values are always needed at once.
Result<KernelCut> cut_into_sequence(const kernel::KernelSpec& spec, std::size_t most_inputs);

}  // namespace tenfold::compiler
