// SPDX-License-Identifier: Apache-2.0
//
// The implementations of the vector layer, and of what only one of them has, for this folder alone.
#pragma once

#include <memory>
#include <vector>

#include "jit/vector/vector.hpp"

namespace tenfold::jit {

std::unique_ptr<VectorLayer> make_avx2_layer(Assembler& assembler);
std::unique_ptr<VectorLayer> make_avx512_layer(Assembler& assembler);
std::unique_ptr<GatherVectors> make_avx512_gather_vectors(Assembler& assembler);
std::unique_ptr<NanWatch> make_avx2_nan_watch(Assembler& assembler, std::vector<Vec> slots);
std::unique_ptr<NanWatch> make_avx512_nan_watch(Assembler& assembler, DType dtype, bool maximum,
                                                std::vector<Vec> slots);

}  // namespace tenfold::jit
