// SPDX-License-Identifier: Apache-2.0
//
// Whether a kernel's elements are stored past the caches. Such a store does not first read the line that it replaces,
// and leaves the caches to what is read.
#pragma once

#include "kernel/spec.hpp"
#include "schedule/schedule.hpp"
#include "target/target.hpp"

namespace tenfold::schedule {

/// Whether the kernel stores whole lines of elements at all, with lanes along `vector_level`: without an output of 32
/// or 64 bits that has its elements side by side, it cannot.
bool may_go_around(const kernel::KernelSpec& spec, int vector_level);

/// Whether that pays: where inputs and outputs fill the last cache, and elements are cheap to compute, or `kept` in
/// scratch where they are dear.
bool pays_around(const kernel::KernelSpec& spec, int vector_level, const target::Target& target, bool kept = false);

}  // namespace tenfold::schedule
