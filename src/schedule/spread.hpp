// SPDX-License-Identifier: Apache-2.0
//
// Short rows of elementwise kernels: x + y with x [1000000, 3] and y [3], or [1000000, 1]. Row by row, most lanes would
// be empty. But the rows of what has all elements lie one after another, so they are taken as one; and what repeats,
// along the rows or from row to row, is spread into scratch, a few hundred elements at a time, where it lies side by
// side as well.
#pragma once

#include "kernel/spec.hpp"
#include "schedule/schedule.hpp"
#include "target/target.hpp"

namespace tenfold::schedule {

/// How an operand of joined rows has its elements.
enum class Spread : std::uint8_t {
  none,    ///< side by side in memory, or one for all rows
  rows,    ///< one for each row, which repeats along it
  columns  ///< one row, which repeats
};

/// Elements of the rows, along the innermost level of an elementwise spec, that are joined to those of the level
/// outside it; 0: they are not.
int spread_width(const kernel::KernelSpec& spec);

/// For a spec that has such rows.
Spread spread_of(const kernel::KernelSpec& spec, const kernel::Operand& operand);

/// The same elements with one level in place of both, for what asks how much is read and written, and in which order.
kernel::KernelSpec joined(const kernel::KernelSpec& spec);

/// Elements that are spread at a time: whole rows, and whole vector steps.
std::int64_t choose_spread(const kernel::KernelSpec& spec);
/// Of a schedule of such a spec: internal_error when its width and columns cannot be followed.
Status check_spread(const kernel::KernelSpec& spec, const Schedule& schedule);

}  // namespace tenfold::schedule
