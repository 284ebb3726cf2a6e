// SPDX-License-Identifier: Apache-2.0
//
// Integers of 8 and 16 bits that are but moved, or combined bit by bit, as words of 32 bits: a lane has one of these,
// whatever it is of. Not floats, whose NaNs are canonical wherever they are stored.
#pragma once

#include <optional>

#include "kernel/spec.hpp"

namespace tenfold::kernel {

/// The same memory in words, of an elementwise spec whose operands are all of one such dtype, side by side
/// along the innermost level, in rows that are whole words, and words apart. Its values are the same bits. Nothing of
/// other specs.
std::optional<KernelSpec> in_words(const KernelSpec& spec);

}  // namespace tenfold::kernel
