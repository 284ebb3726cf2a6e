// SPDX-License-Identifier: Apache-2.0
//
// Elementwise kernels of tensors whose elements are neighbours along different levels: a transposition, or a sum of a
// tensor and a transposed one. Along any level some operand would go element by element. So lanes run along one of the
// two, and what has its neighbours along the other is turned round, a block of them at a time, as short rows of
// reductions are (schedule/turned.hpp): the level of blocks counts as reduced, though nothing is.
#pragma once

#include "compile/plan/kernel_cut.hpp"
#include "kernel/spec.hpp"

namespace tenfold::compiler {

/// An elementwise spec that is to be run so, in one or two parts with blocks of one length each; not cut if it is not.
KernelCut transposed_parts(const kernel::KernelSpec& spec);

}  // namespace tenfold::compiler
