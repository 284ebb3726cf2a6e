// SPDX-License-Identifier: Apache-2.0
//
// Kernels that speak AVX2 on machines of AVX-512. Their bits are the same on both.
#pragma once

#include "kernel/spec.hpp"
#include "schedule/body.hpp"
#include "target/target.hpp"

namespace tenfold::schedule {

/// Whether 512-bit registers do nothing for a reduction on this machine, whose operations on them take two turns, but
/// disturb the order of reading: sums of long rows but of bf16, those of columns that memory delivers, integers in rows
/// beyond L2, rows of anything but 16-bit and 8-bit extremes that memory delivers, and words of which every other one
/// is read. Rows and columns go by `vector_level`.
bool speaks_avx2(const kernel::KernelSpec& spec, Lanes lanes, int vector_level, const target::Target& target);

}  // namespace tenfold::schedule
