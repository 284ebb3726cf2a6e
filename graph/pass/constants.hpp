// SPDX-License-Identifier: Apache-2.0
//
// Numbers as the data of constants and back, by the evaluator's loads and stores, which know every dtype. Only for the
// pass room.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "graph/ir/graph.hpp"

namespace tenfold::graph {

/// The numbers as elements of `dtype`, each rounded to the nearest; those of 4 bits packed.
std::vector<std::byte> element_bytes(DType dtype, std::span<const double> numbers);

/// The element of a constant that has but one; of 64 bits it may be rounded.
std::optional<double> scalar_of(const Value& value);

}  // namespace tenfold::graph
