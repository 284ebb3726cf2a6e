// SPDX-License-Identifier: Apache-2.0
//
// The implementations of the vector layer, and of what only one of them has, for vector*.cpp alone.
#pragma once

#include <memory>

#include "jit/vector.hpp"

namespace tenfold::jit {

std::unique_ptr<VectorLayer> make_avx2_layer(Assembler& assembler);
std::unique_ptr<VectorLayer> make_avx512_layer(Assembler& assembler);
std::unique_ptr<GatherVectors> make_avx512_gather_vectors(Assembler& assembler);

}  // namespace tenfold::jit
