// SPDX-License-Identifier: Apache-2.0
#include "jit/lane_layer.hpp"

namespace tenfold::jit {

std::unique_ptr<LaneLayer> LaneLayer::make(Assembler& assembler, target::Isa isa, int lanes) {
  return isa == target::Isa::avx2 ? make_avx2_lanes(assembler, lanes) : make_avx512_lanes(assembler, lanes);
}

}  // namespace tenfold::jit
