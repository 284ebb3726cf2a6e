// SPDX-License-Identifier: Apache-2.0
//
// Which values of a body need no more precision than 16-bit floats have.
#pragma once

#include <vector>

#include "kernel/spec.hpp"

namespace tenfold::kernel {

/// By node: of f32, whether all that is made of it is rounded to 16 bits, after sums and products at most.
std::vector<bool> ends_in_words(const KernelSpec& spec);

}  // namespace tenfold::kernel
