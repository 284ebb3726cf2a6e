// SPDX-License-Identifier: Apache-2.0
//
// Numbers as graph files have them: each reads back as the same bits.
#pragma once

#include <string>

#include "graph/ir/graph.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

/// Significant digits that tell every two f64 apart.
inline constexpr int kF64Digits = 17;
std::string real_text(double value, int digits);

/// A constant's `, "data": [...]`. unsupported_dtype for f8, unsupported_shape for more than a million elements.
Result<std::string> data_text(const Value& value);

}  // namespace tenfold::graph
