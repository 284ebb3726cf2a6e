// SPDX-License-Identifier: Apache-2.0
//
// The phrases that the text form's statements are made of: types, attribute lists, constants' elements. Each takes one
// from the scanner, or lets the scanner fail and is false. Only for the text room.
#pragma once

#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/text/scan.hpp"

namespace tenfold::graph {

/// f32[4,?]{8,1} layout any property constant
bool scan_type(Scanner& scan, Value& value);

/// name = value, ..., json:key = "text", up to `close`.
bool scan_attributes(Scanner& scan, char close, std::vector<NamedAttribute>& named, std::vector<ExtraKey>& extras);

/// [0, -1] of the value's dtype, or bytes "00ff".
bool scan_elements(Scanner& scan, Value& value);

}  // namespace tenfold::graph
