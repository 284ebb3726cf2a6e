// SPDX-License-Identifier: Apache-2.0
//
// What a kernel costs, in bytes of memory traffic: those that it moves, and its arithmetic at the rate at which memory
// would have moved bytes meanwhile.
#pragma once

#include "kernel/spec.hpp"

namespace tenfold::compiler {

double cost_of(const kernel::KernelSpec& spec);

}  // namespace tenfold::compiler
