// SPDX-License-Identifier: Apache-2.0
//
// The room's door: a HeavySpec as something that a program calls. What oneDNN compiles, it compiles in make_call(). No
// type of oneDNN's is in here; without libdnnl every spec is refused with unsupported_op.
//
// oneDNN runs on the calling thread alone: its own (OpenMP) threads are never asked for, whatever the host has set.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "onednn/spec.hpp"
#include "tenfold/status.hpp"

namespace tenfold::onednn {

/// Immutable and re-entrant: any number of threads may run any tasks at once.
class HeavyCall {
 public:
  virtual ~HeavyCall() = default;

  /// Independent parts, by the shape alone; all of them make the op.
  virtual std::int64_t tasks() const noexcept = 0;
  /// Bytes that each running task needs, aligned to 64.
  virtual std::int64_t scratch_bytes() const noexcept = 0;
  /// What oneDNN calls the kernel that it chose, such as "gemm:jit".
  virtual const std::string& implementation() const noexcept = 0;
  /// Runs one task; operands in the spec's order. Allocates little beside what oneDNN does.
  virtual Status run(std::span<const void* const> inputs, std::span<void* const> outputs, std::int64_t task,
                     void* scratch) const = 0;
};

/// The call, or the one that somebody holds already of the same spec. Thread-safe. unsupported_* with oneDNN's reason
/// when it has no kernel for the spec, or none but its reference code.
Result<std::shared_ptr<const HeavyCall>> make_call(const HeavySpec& spec);

/// The version of the library in use, "2.6.3"; empty: there is none.
std::string library_version();

}  // namespace tenfold::onednn
