// SPDX-License-Identifier: Apache-2.0
//
// Tells others about kernels, where environment variables ask for it (docs/environment.md): profilers, by perf's map or
// by a jitdump file, and people, by a folder of dumped code. Nothing here can fail a compile: what cannot be written is
// left out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kernel/spec.hpp"
#include "schedule/schedule.hpp"

namespace tenfold::jit {

/// A kernel as it lies in executable memory. `description` is its class key, for the dump.
struct PublishedKernel {
  std::span<const std::uint8_t> bytes;
  std::string name;
  std::string_view description;
};

/// A name for people and profilers, which may also be part of a file's: "tenfold_avx2_rows_sum_f32_f32_9c41a07e". The
/// last part tells kernels of other class keys apart.
std::string kernel_name(const kernel::KernelSpec& spec, const schedule::Schedule& schedule, std::string_view class_key);

/// Whether anybody asked; a name need not be made otherwise.
bool announces();

/// Called once for each kernel, by one thread at a time.
void announce(const PublishedKernel& kernel) noexcept;

}  // namespace tenfold::jit
