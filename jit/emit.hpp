// SPDX-License-Identifier: Apache-2.0
//
// The emitter's door: a spec and a schedule in, machine code out. Needs no CPU of the schedule's level to emit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/spec.hpp"
#include "schedule/schedule.hpp"
#include "tenfold/status.hpp"

namespace tenfold::jit {

/// Position-independent machine code, not yet executable.
struct EmittedCode {
  std::vector<std::uint8_t> bytes;
  std::int64_t scratch_bytes = 0;
};

/// Emits the kernel for the class of `spec` (dtypes, body, kinds of strides; not extents) under `schedule`. Both must
/// have passed their check(). internal_error when emission fails; nothing is left behind.
Result<EmittedCode> emit(const kernel::KernelSpec& spec, const schedule::Schedule& schedule);

/// Whether emit() knows all that the body asks for: unsupported_op with what it does not know.
Status check_body(const kernel::KernelSpec& spec, const schedule::Schedule& schedule);

/// What the emitted bytes depend on: two specs and schedules with the same key give the same code.
std::string class_key(const kernel::KernelSpec& spec, const schedule::Schedule& schedule);

}  // namespace tenfold::jit
