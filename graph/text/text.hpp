// SPDX-License-Identifier: Apache-2.0
//
// The text form of the graph IR, for dumps, golden tests and bug reports. print() and parse() round-trip.
//
//   graph {
//     %0 = input : f32[1,128,150,150]
//     %5 = constant : s32[2] = [0, -1]
//     %1 = onednn.ReduceMax "REDUCTION_0" (%0) {axes = [1], keep_dims = true} : f32[1,1,150,150]
//     output %1
//   }
//
// %N is the value's id. A dim that is not known prints as ?, an unknown rank as f32[*]; strides that are not row-major
// follow the shape: f32[4,8]{1,4}; then, where they are not the default, `layout any` and `property host_scalar`. An op
// whose id is not its position says it: onednn.Abs #7 "name". A left-out input is _. Keys of a file that we do not know
// are kept among the attributes: {json:key = "[1]"}; facts of the whole file stand before the brace:
// graph (version = "3.0.0") {. Constants list their elements, exactly (nan, -0, or bits such as 0x7fc00001), or
// bytes "00ff" where there is no such list. A tensor that nothing defines is `unbound`. `;` starts a comment.
#pragma once

#include <string>
#include <string_view>

#include "graph/ir/graph.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

std::string print(const Graph& graph);

/// invalid_file with line and column when `text` is not a graph.
Result<Graph> parse(std::string_view text);

}  // namespace tenfold::graph
