// SPDX-License-Identifier: Apache-2.0
//
// runtime::run() with every kernel emulated: a Program for any instruction-set level runs on this machine, and every
// byte that a kernel touches is checked against the operands.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/program.hpp"
#include "target/target.hpp"
#include "tenfold/status.hpp"

namespace tenfold::numeric {

struct Bytes {
  void* data = nullptr;
  std::size_t size = 0;
};

/// Runs the steps one after the other, and each step's tasks last to first, which must not matter. Inputs are
/// read-only.
Status emulated_run(const runtime::Program& program, target::Isa isa, std::span<const Bytes> inputs,
                    std::span<const Bytes> outputs);

/// Where this CPU has that level, twice on it: step by step, with scratch that ends at a page that cannot be touched,
/// and then as users run it, on one thread; only so in place, where a second run finds other inputs. Emulated where
/// not.
Status run_at(const runtime::Program& program, target::Isa isa, std::span<const Bytes> inputs,
              std::span<const Bytes> outputs);

/// Whether two programs are the same machine code over the same operands: what ran for one need not run for the other.
bool same_program(const runtime::Program& a, const runtime::Program& b);

}  // namespace tenfold::numeric
