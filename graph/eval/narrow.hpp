// SPDX-License-Identifier: Apache-2.0
//
// Elements of the storage types that are quantized to and from: f8_e5m2 and f8_e4m3, a byte each, and s4 and u4, two in
// a byte, the first in its low half. Nothing computes in them; they are cast and moved.
#pragma once

#include <cstdint>

#include "graph/eval/element.hpp"

namespace tenfold::graph {

bool is_narrow(DType dtype) noexcept;

Real load_narrow(DType dtype, const void* data, std::int64_t index);

/// One rounding to nearest even. Integers saturate, and NaN becomes 0. Beyond the greatest f8_e5m2 is infinity; f8_e4m3
/// has none and gives NaN.
void store_narrow(DType dtype, void* data, std::int64_t index, Real value);

/// The greatest finite value.
Real largest_narrow(DType dtype) noexcept;

}  // namespace tenfold::graph
