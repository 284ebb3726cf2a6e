// SPDX-License-Identifier: Apache-2.0
//
// A body of one pass whose reductions are plain (schedule/body.hpp): a mean and what is made of it, or the mean and the
// maximum of one tensor. The nests of plain reductions read short rows several at a time, and elements of 8 and 16 bits
// in lanes of their own width, which bodies in stages cannot. So where that pays each reduction is a kernel of its own,
// and what follows them another, of one element for each row.
//
// Several of them read the tensor once each, which pays where it lies in the caches.
#pragma once

#include "compile/plan/kernel_cut.hpp"
#include "kernel/spec.hpp"

namespace tenfold::compiler {

/// The plain reductions of `spec`, then what is made of them; no kernels where that does not pay, or `spec` is another
/// body. By the shape and the body alone, as it decides bits. The kernels are specs that may be cut again.
KernelCut cut_into_plain(const kernel::KernelSpec& spec);

/// Whether all that `spec` reduces are extremes of narrow elements that it computes and stores, in one pass, and in the
/// caches: plain reductions of what has been stored take less time.
bool has_slow_extremes(const kernel::KernelSpec& spec);

}  // namespace tenfold::compiler
