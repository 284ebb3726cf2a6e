// SPDX-License-Identifier: Apache-2.0
//
// JSON values as the C++ types that a graph is made of. Every mismatch is an error at its place in the file, which says
// what was expected and what was found.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/read/tape.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

/// A whole number in the range of s64; 2.0 is one, 2.5 is not.
Result<std::int64_t> read_integer(Item item);

/// A whole number of at least 0.
Result<std::int64_t> read_id(Item item);

/// A number, a bare inf or nan as oneDNN's writer prints them, or one of the strings "nan", "inf", "-inf".
Result<double> read_number(Item item);

/// A number that f32 can hold after rounding; the value itself is not rounded.
Result<double> read_f32(Item item);

/// true, false, 1 or 0.
Result<bool> read_boolean(Item item);

Result<std::string> read_string(Item item);

Result<std::vector<std::int64_t>> read_integers(Item item);
Result<std::vector<double>> read_f32s(Item item);

/// "expected WHAT, found ..." at the item.
Status mismatch(Item item, std::string_view what);

}  // namespace tenfold::graph
