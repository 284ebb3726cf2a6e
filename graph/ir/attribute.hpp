// SPDX-License-Identifier: Apache-2.0
//
// An op's attributes with the defaults that the op tables give them. Whoever reads one by its name in the table need
// not repeat its default.
#pragma once

#include <cstdint>
#include <string_view>

#include "graph/ir/graph.hpp"
#include "schemas/op_table.hpp"

namespace tenfold::graph {

/// The version of the op's table row that its opset sees; null when there is no such op or it is younger.
const schemas::OpVersion* version_of(const Op& op) noexcept;

/// The default of an attribute of type f32 as the table writes it, not rounded; 0 when it has none.
double f32_default(const schemas::AttrDesc& attribute) noexcept;

/// The attribute as given, else the default of the op's version, else 0.
std::int64_t integer_attribute(const Op& op, std::string_view name) noexcept;

/// The same of type f32, in whose precision it is meant, however exactly a file wrote it.
double f32_attribute(const Op& op, std::string_view name) noexcept;

/// Where the tables do not have the default, as those of core ops.
double f32_attribute(const Op& op, std::string_view name, double fallback) noexcept;

}  // namespace tenfold::graph
