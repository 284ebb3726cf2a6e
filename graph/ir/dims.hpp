// SPDX-License-Identifier: Apache-2.0
//
// Dims of which some are not known.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tenfold/tensor.hpp"

namespace tenfold::graph {

/// Whether the two may turn out to be one: they are equal, or one is not known.
constexpr bool may_agree(std::int64_t a, std::int64_t b) { return a == b || a == kUnknownDim || b == kUnknownDim; }

inline bool may_agree(const Dims& a, const Dims& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](std::int64_t x, std::int64_t y) { return may_agree(x, y); });
}

}  // namespace tenfold::graph
