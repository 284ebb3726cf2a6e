// SPDX-License-Identifier: Apache-2.0
//
// Few long lines in order (schedule/ordered.hpp) leave lanes empty, as these run across lines. So each is taken as
// several that follow one another, its pieces. Of sums so far, one kernel sums the pieces, one scans those sums, and
// one scans the pieces and adds what comes before each. The first of a line are the first among the first of its
// pieces, whose indices go along.
#pragma once

#include "compile/plan/kernel_cut.hpp"
#include "kernel/spec.hpp"
#include "tenfold/status.hpp"

namespace tenfold::compiler {

/// By the shape alone, as sums of floats meet in another order. Not cut: lines that are many or short, or, of sums,
/// have no divisor that would do; of the first of all, what pieces leave are candidates themselves.
Result<KernelCut> cut_lines(const kernel::KernelSpec& spec);

}  // namespace tenfold::compiler
