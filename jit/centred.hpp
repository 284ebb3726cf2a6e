// SPDX-License-Identifier: Apache-2.0
//
// Mean and centred second moment of the same elements in one pass: which reductions of a body are such a pair, and the
// arithmetic on their totals. With K, the *pilot*, a number near the elements x, a lane sums d = x - K and d^2 in f32
// chains, and these into f64 totals D and Q. Of n elements the centred moment is Q - D^2 / n whatever K is, but
// rounding errors are relative to Q; so K is moved to the mean each time that the number of elements has doubled, which
// keeps Q within a few times the moment (docs/numerics.md has the proof).
#pragma once

#include <vector>

#include "jit/lane.hpp"
#include "kernel/spec.hpp"

namespace tenfold::jit {

/// By node: of a sum of the squares of what is left of f32 elements when their mean is taken off, the node of the sum
/// of the elements themselves; -1 of all others.
std::vector<int> sums_beside_moments(const kernel::KernelSpec& spec);

/// Elements that the first pilot is the mean of, as many as a chain has; of fewer, all.
inline constexpr int kPilotElements = 16;

/// The mean (f32) of n elements, of which `element` is the last, and `pilot` the mean of those before; `share` is 1 /
/// n.
Lane pilot_with(Lane pilot, Lane element, Lane share);

/// A lane's pilot (f32) and totals about it (f64).
struct Deviations {
  Lane pilot;
  Lane sum;
  Lane squares;
};

/// The same about the mean of the `count` (f64) elements so far.
Deviations recentred(const Deviations& of, Lane count);

/// The centred second moment of `count` elements, f64; 0 of none. `sum` is that of the elements: where it is finite and
/// the deviations have overflowed, so has the moment.
Lane centred_moment(Lane sum, Lane deviations, Lane squares, Lane count);

}  // namespace tenfold::jit
