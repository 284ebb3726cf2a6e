// SPDX-License-Identifier: Apache-2.0
//
// Lines on stderr about compiles and runs, where the environment variable TENFOLD_VERBOSE asks for them
// (docs/environment.md): the one place of the library that prints.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "api/partition.hpp"

namespace tenfold::api {

/// A number for a partition that is being compiled, from 1; 0 when nobody asked for lines.
std::int64_t verbose_number();

void say_compiled(const CompiledPartition::Impl& impl, std::size_t ops, std::chrono::nanoseconds took);
/// Nothing unless runs were asked for, too.
void say_executed(const CompiledPartition::Impl& impl, const Status& status, std::chrono::nanoseconds took);

}  // namespace tenfold::api
