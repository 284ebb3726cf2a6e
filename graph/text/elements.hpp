// SPDX-License-Identifier: Apache-2.0
//
// Constants' elements as text and back, bit for bit: shortest decimals that read back to the same value, `nan` for the
// canonical quiet NaN, raw bits (0x7fc00001) for every other one. Only for the text room.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.hpp"

namespace tenfold::graph {

/// True when the elements of `value` can be listed one by one; otherwise its data is printed as plain bytes.
bool elements_are_listable(const Value& value);

/// "[0, -1]", elements in row-major order.
std::string print_elements(const Value& value);

/// Appends one element of `dtype` read from `token`; false when the token is no such element.
bool parse_element(DType dtype, std::string_view token, std::vector<std::byte>& data);

/// Shortest decimal that reads back as the same double, with a point, an exponent, `inf` or `nan` in it, so that it
/// cannot be taken for an integer.
std::string print_real(double value);

}  // namespace tenfold::graph
