// SPDX-License-Identifier: Apache-2.0
//
// Which input may be the same buffer as an output.
#pragma once

#include <vector>

#include "compile/report.hpp"
#include "runtime/program.hpp"

namespace tenfold::compiler {

/// Pairs of an input and an output, at most one for an output, that a program may be given as one buffer. So far those
/// of programs that are one elementwise kernel with one output.
std::vector<InPlace> find_in_place(const runtime::Program& program, const std::vector<RegionReport>& regions);

}  // namespace tenfold::compiler
