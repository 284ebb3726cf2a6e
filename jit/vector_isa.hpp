// SPDX-License-Identifier: Apache-2.0
//
// The two implementations of the vector layer, for vector.cpp alone.
#pragma once

#include <memory>

#include "jit/vector.hpp"

namespace tenfold::jit {

std::unique_ptr<VectorLayer> make_avx2_layer(Assembler& assembler);
std::unique_ptr<VectorLayer> make_avx512_layer(Assembler& assembler);

}  // namespace tenfold::jit
