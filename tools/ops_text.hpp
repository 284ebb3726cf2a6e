// SPDX-License-Identifier: Apache-2.0
//
// The op tables as text: lists of names (ops.cpp), and the page docs/ops_reference.md (ops_page.cpp).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "schemas/op_table.hpp"

namespace tenfold::tools {

/// The names of the dtypes in the set, in the order of the table of dtypes.
std::vector<std::string> dtype_names(schemas::DTypeSet set);

std::string joined(const std::vector<std::string>& names, const char* separator);

/// A page in Markdown: all dtypes, then these ops, by dialect and category. Depends on the tables alone.
std::string ops_page(std::span<const schemas::OpDesc* const> ops);

}  // namespace tenfold::tools
