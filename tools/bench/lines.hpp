// SPDX-License-Identifier: Apache-2.0
//
// What memory moves for a tensor: whole lines, gaps between elements included.
#pragma once

#include <cstdint>

#include "tenfold/tensor.hpp"

namespace tenfold::tools::bench {

/// Bytes of the elements of `desc`, whose shape and strides span_bytes() takes; where there are gaps between them, of
/// all lines (64 bytes) that these lie in, the first element being at the start of one. Elements that share an address
/// (strides of 0) count once.
std::int64_t bytes_moved(const TensorDesc& desc);

}  // namespace tenfold::tools::bench
