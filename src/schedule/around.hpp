// SPDX-License-Identifier: Apache-2.0
//
// How a kernel's elements are stored: past the caches, or through them with their lines claimed ahead. A store past the
// caches does not first read the line that it replaces, and leaves the caches to what is read. One through them waits
// for its line, and all later stores wait for it.
#pragma once

#include <cstdint>

#include "kernel/spec.hpp"
#include "schedule/body.hpp"
#include "schedule/schedule.hpp"
#include "target/target.hpp"

namespace tenfold::schedule {

/// Whether the kernel stores whole lines of elements at all, with lanes along `vector_level`: without an output of 32
/// or 64 bits, or of narrow elements alone, that has its elements side by side, it cannot.
bool may_go_around(const kernel::KernelSpec& spec, int vector_level);

/// What becomes of elements that are expensive to compute: stores go `through` the caches, whatever is moved; or may go
/// around like those of others, as scratch or an output has `kept` them or they are computed again in their place; or
/// likewise with `powers`, whose exponentials the maximum's pass sums, and the last one computes again.
enum class Expensive : std::uint8_t { through, kept, powers };

/// Whether exponentials of rows that scratch keeps may (machine.hpp).
bool kept_rows_go_around(const kernel::KernelSpec& spec, int vector_level, const target::Target& target);

/// Whether that pays: where inputs and outputs fill the last cache (machine.hpp), elements are cheap to compute, or
/// `expensive` ones not bound to go through it, and rows lie on lines. What is expensive is bound by its arithmetic,
/// and does better through the caches, which take a store at a time; so are elements of 16 bits, which take a few
/// operations to round.
bool pays_around(const kernel::KernelSpec& spec, int vector_level, const target::Target& target,
                 Expensive expensive = Expensive::through);

/// The same of columns: steps store whole lines of each output, which is a good part of what is moved. It pays where
/// that is twice the last cache.
bool may_store_columns_around(const kernel::KernelSpec& spec, Lanes lanes, const Schedule& schedule);
bool pays_to_store_columns_around(const kernel::KernelSpec& spec, Lanes lanes, const Schedule& schedule,
                                  const target::Target& target);

/// Whether the kernel has an output with elements side by side, of any size, along `vector_level`.
bool may_claim(const kernel::KernelSpec& spec, int vector_level);

/// Whether stores through the caches ask for their lines some way ahead, so as to own them by then: where inputs and
/// outputs are more than a core's own caches have room for, and the last cache is far away (machine.hpp).
bool pays_to_claim(const kernel::KernelSpec& spec, int vector_level, const target::Target& target);

}  // namespace tenfold::schedule
