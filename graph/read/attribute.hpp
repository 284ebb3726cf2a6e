// SPDX-License-Identifier: Apache-2.0
//
// One attribute of an op: "name": {"type": ..., "value": ...}.
#pragma once

#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/read/tape.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

/// `item` is the object, whose key is the attribute's name. Keys that we do not know go to `extras` as
/// "attrs/NAME/KEY".
Result<NamedAttribute> read_attribute(Item item, std::vector<ExtraKey>& extras);

}  // namespace tenfold::graph
