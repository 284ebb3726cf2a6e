// SPDX-License-Identifier: Apache-2.0
//
// What functions of bf16 and f16 may leave out.
#pragma once

#include <span>

#include "jit/lane/lane.hpp"
#include "kernel/tables.hpp"

namespace tenfold::jit {

/// The function of f32 lanes that hold bf16 or f16, within graph::kBriefUlps before the result is rounded to these;
/// null where it is the one of f32.
Lane (*brief_function(kernel::Function function))(std::span<const Lane> args);

}  // namespace tenfold::jit
