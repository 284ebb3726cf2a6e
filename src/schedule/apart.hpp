// SPDX-License-Identifier: Apache-2.0
//
// Reductions whose reduced levels lie apart: which of them are left to a second kernel.
// What is decided here depends on the shape alone, as it decides the order of additions.
#pragma once

#include <vector>

#include "kernel/spec.hpp"
#include "schedule/body.hpp"

namespace tenfold::schedule {

/// The reduced levels that a first kernel keeps, so that it reads memory in order, and a second kernel reduces in what
/// the first one wrote; none where one kernel does it all.
std::vector<int> levels_apart(const kernel::KernelSpec& spec);

/// What a reduction hands on unfinished: sums of narrower floats in f64, all else as it comes out.
DType partial_dtype(const kernel::KernelSpec& spec, const ReduceBody& body);

}  // namespace tenfold::schedule
