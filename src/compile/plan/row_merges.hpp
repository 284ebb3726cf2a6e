// SPDX-License-Identifier: Apache-2.0
//
// What pieces of rows gave, made the rows' (long_rows.hpp): the arithmetic where it is not the reduction itself.
//
// Max and sum of exponentials: those of a piece are less its own max.
//
// Means and centred moments, in f64. Pieces of elements side by side have moments about means of their own, which are
// moved to the row's. Those that take rows in turn have few elements each, and means that differ by more than what they
// are rounded by: they are read twice, the second time about a pilot, the row's own mean rounded to f32, with what is
// left of that taken off at last.
#pragma once

#include "compile/plan/kernel_draft.hpp"

namespace tenfold::compiler {

/// Whether what pieces give of a reduction is the row's by the reduction itself, at least.
bool can_combine(const kernel::KernelSpec& spec, int reduction);

/// The max of a piece, or NaN where the sum of its exponentials says so: kernels need not look for NaN in the max then.
int max_or_nan(KernelDraft& draft, int max, int sum);

/// Max and sum of the row, by those of the pieces, which are `loaded`; sums have the dtype `wide`.
struct MaxAndSum {
  int max, sum;
};
MaxAndSum online_of_pieces(KernelDraft& draft, const MaxAndSum& loaded, DType wide);

/// The greatest exponential is 1, and a row has less than 2^63: what a kernel is told that has not made the sum.
int within_bounds_of_online_sum(KernelDraft& draft, int sum);

/// The sum of a piece's squares about the row's mean (f64, as all): from its own sum, count and centred moment.
int moved_moment(KernelDraft& draft, int sum, int count, int moment, int mean);

/// Elements are summed in f32 times this for a pilot, so that only what is no number overflows; and the mean of `count`
/// whose sum that is.
inline constexpr double kPilotScale = 0x1p-8;
int mean_of_scaled(KernelDraft& draft, int sum, int count);

/// The pilot, f32: the mean, or 0 where that is no number.
int pilot_of(KernelDraft& draft, int mean);

/// Of a row's `count` elements, whose deviations from the pilot of `mean` and their squares have these sums.
struct RowMoments {
  int mean, moment;
};
RowMoments moments_about_pilot(KernelDraft& draft, int mean, int deviations, int squares, int count);

}  // namespace tenfold::compiler
