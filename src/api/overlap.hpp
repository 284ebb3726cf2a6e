// SPDX-License-Identifier: Apache-2.0
//
// Whether two tensors share a byte, element by element: what is to be asked when the spans of their buffers meet, as
// tensors with gaps may lie in each other's.
#pragma once

#include "tenfold/tensor.hpp"

namespace tenfold::api {

/// True when an element of the tensor at `a` has a byte in common with one of the tensor at `b`. Both descs have passed
/// span_bytes(). Allocates nothing, and looks at 16384 pairs of parts at the most; when that settles nothing, as it can
/// be of tensors whose strides have little to do with each other, the answer is true, so that no call is let through
/// that writes over its own operands.
bool share_bytes(const TensorDesc& a_desc, const void* a, const TensorDesc& b_desc, const void* b) noexcept;

}  // namespace tenfold::api
