// SPDX-License-Identifier: Apache-2.0
//
// How a heavy op is cut into tasks. By its shape alone: each piece is a spec of its own that runs on one thread, so no
// number of threads changes a bit of the result, and the threads are those of the caller's pool.
#pragma once

#include <cstdint>
#include <vector>

#include "onednn/spec.hpp"

namespace tenfold::onednn {

struct Piece {
  HeavySpec spec;
  std::vector<std::int64_t> input_offsets, output_offsets;  ///< bytes, by operand
};

/// At least one piece; together they write every output element once.
std::vector<Piece> cut_into_pieces(const HeavySpec& spec);

}  // namespace tenfold::onednn
