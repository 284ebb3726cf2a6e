// SPDX-License-Identifier: Apache-2.0
//
// The flat nest: no reduction, any number of operands, each with its own strides; the body is a lane program that is
// run once for each vector of elements.
#pragma once

#include <cstdint>

#include "jit/lane/layer.hpp"
#include "kernel/spec.hpp"
#include "schedule/schedule.hpp"

namespace tenfold::jit {

/// Emits the loops between prologue and epilogue; tells how many bytes of KernelArgs::scratch they use.
std::int64_t emit_flat(Assembler& assembler, LaneLayer& layer, const LaneProgram& program,
                       const kernel::KernelSpec& spec, const schedule::Schedule& schedule);

}  // namespace tenfold::jit
