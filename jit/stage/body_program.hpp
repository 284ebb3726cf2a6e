// SPDX-License-Identifier: Apache-2.0
//
// The body of an elementwise kernel spec as a lane program: its functions and casts spelled out.
#pragma once

#include "jit/lane/lane.hpp"
#include "kernel/spec.hpp"
#include "tenfold/status.hpp"

namespace tenfold::jit {

/// Input k of the program is operand k of the spec, in lanes of lane_type(), or of the width that all values have,
/// where that does; result r is what the r-th store stores. unsupported_op or unsupported_dtype for functions or casts
/// that there are not.
Result<LaneProgram> body_program(const kernel::KernelSpec& spec);

}  // namespace tenfold::jit
