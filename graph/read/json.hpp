// SPDX-License-Identifier: Apache-2.0
//
// Reader of oneDNN Graph JSON files, as its dumps and test inputs write them (schemas/graph.schema.json). Reads text
// that it is given; never opens a file. Bounded: hostile input costs no more than the limits say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "graph/ir/graph.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

struct ReadLimits {
  std::size_t bytes = std::size_t{64} << 20;
  int depth = 64;
  std::size_t ops = 100'000;
  std::size_t tensors = 200'000;   ///< distinct tensor ids
  std::size_t list = 1'000'000;    ///< elements of one array
  std::size_t values = 2'000'000;  ///< JSON values in one op
  std::size_t string = 64 << 10;   ///< bytes of one string
  std::size_t constant_bytes = std::size_t{64} << 20;
};

/// The graph in the file's own order, connected but not verified. invalid_file with line, column and JSON pointer:
/// "line 12, column 9, at /graph/0/attrs/axes/value: expected an array of integers, found a string".
Result<Graph> read_json(std::string_view text, const ReadLimits& limits = {});

}  // namespace tenfold::graph
