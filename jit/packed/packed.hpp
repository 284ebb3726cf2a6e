// SPDX-License-Identifier: Apache-2.0
//
// The packed nest, of rows that are short.
#pragma once

#include <cstdint>

#include "jit/nest/nest.hpp"
#include "schedule/body.hpp"

namespace tenfold::jit {

/// The reduced level is contiguous and short, and rows are one after another. Gives the bytes of scratch that it takes.
std::int64_t emit_packed(LoopNest& nest, const schedule::ReduceBody& body);

}  // namespace tenfold::jit
