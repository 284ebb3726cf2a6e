// SPDX-License-Identifier: Apache-2.0
//
// Mean and centred second moment of the same elements (kernel/moments.hpp) in one pass: the arithmetic on their totals.
// With K, the *pilot*, a number near the elements x, a lane sums d = x - K and d^2 in f32 chains, and these into f64
// totals D and Q. Of n elements the centred moment is Q - D^2 / n whatever K is, but rounding errors are relative to Q.
// So columns move K to the mean each time that the number of elements has doubled, which keeps Q within a few times the
// moment; rows, all lanes of which have the same pilot, begin with the mean of a sixteenth of their elements,
// and are summed once more about their own mean where that is far from it (docs/numerics.md has the proofs).
#pragma once

#include "jit/lane/lane.hpp"

namespace tenfold::jit {

/// Elements that the first pilot is the mean of, as many as a chain has; of fewer, all.
inline constexpr int kPilotElements = 16;

/// The mean (f32) of n elements, of which `element` is the last, and `pilot` the mean of those before; `share` is 1 /
/// n.
Lane pilot_with(Lane pilot, Lane element, Lane share);

/// The pilot, where the sum follows from it: `mean` (f32) of elements, 0 where that is no number, or near the greatest
/// there are, so that deviations overflow only when the sum of the elements would.
Lane pilot_for_sum(Lane mean);

/// The sum (f64) of `count` elements whose deviations from `pilot` (f32) sum to `deviations`.
Lane sum_about(Lane pilot, Lane deviations, Lane count);

/// A lane's pilot (f32) and totals about it (f64).
struct Deviations {
  Lane pilot;
  Lane sum;
  Lane squares;
};

/// The same about the mean of the `count` (f64) elements so far; `for_sum`: by pilot_for_sum().
Deviations recentred(const Deviations& of, Lane count, bool for_sum);

/// Whether (a mask) the mean of the row's `count` (f64) elements is more than half a standard deviation away from the
/// pilot, so that the squares about this are more than 5/4 of the moment.
Lane is_far(const Deviations& of, Lane count);

/// That mean as the pilot of the same row.
Lane moved_pilot(const Deviations& of, Lane count);

/// The centred second moment of `count` elements, f64; 0 of none. `sum`, that of the elements or any other number that
/// is finite where these are: where it is finite and the deviations have overflowed, so has the moment.
Lane centred_moment(Lane sum, Lane deviations, Lane squares, Lane count);

}  // namespace tenfold::jit
