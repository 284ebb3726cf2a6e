// SPDX-License-Identifier: Apache-2.0
//
// What a body in stages is like, as far as its schedule goes by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel/spec.hpp"

namespace tenfold::schedule {

/// Whether anything is stored that is not one value a row.
bool writes_elements(const kernel::KernelSpec& spec);

/// Whether an output takes the value as it is, a cast to what the output holds being the store's own.
bool stores_value(const kernel::KernelSpec& spec, int value);

std::ptrdiff_t reductions(const kernel::KernelSpec& spec);

/// Whether no pass has two reductions.
bool reduces_one_at_a_time(const kernel::KernelSpec& spec);

/// Whether anything that is stored is made of elements of the value `node`, in a pass that comes after its own.
bool is_read_again(const kernel::KernelSpec& spec, int node);

/// By node: of sums of e^(x - max) that columns make in the pass of the maximum (StageForm::powers of jit/stage), the
/// maximum; -1 of all others. By the spec alone, as it decides bits.
std::vector<int> maxima_in_one_pass(const kernel::KernelSpec& spec);

/// Functions of elements that are expensive to compute.
std::ptrdiff_t expensive_functions(const kernel::KernelSpec& spec);

/// Inputs that move along what is reduced.
int moving_inputs(const kernel::KernelSpec& spec);

}  // namespace tenfold::schedule
