// SPDX-License-Identifier: Apache-2.0
//
// Lowering of casts from and to what is only stored: elements of 4 bits, two in a byte, to bytes, f8 to f16, which
// holds all of them, and f32 to f8. Kernels do it by operations on bits alone, as integers of whatever width; what
// comes before or behind the cast is in kernels of its own.
#pragma once

#include "compile/lower/lower.hpp"

namespace tenfold::compiler {

/// s4 to s8, u4 to u8, f8 to f16, f32 to f8.
bool is_narrow_cast(const graph::Graph& graph, const graph::Op& op) noexcept;

/// Of such an op. unsupported_shape: elements of 4 bits of which a byte belongs to two rows, or which are no neighbours
/// along the same dim before and after.
Result<Lowered> lower_narrow_cast(const graph::Graph& graph, const graph::Op& op);

}  // namespace tenfold::compiler
