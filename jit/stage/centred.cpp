// SPDX-License-Identifier: Apache-2.0
#include "jit/stage/centred.hpp"

#include <limits>

namespace tenfold::jit {

/// The mean of equal elements is that element.
Lane pilot_with(Lane pilot, Lane element, Lane share) { return fma(element - pilot, share, pilot); }

Lane pilot_for_sum(Lane mean) {
  constexpr double kMost = 0x1p122;
  return as(LaneType::f32, (abs(mean) < kMost) & as(LaneType::i32, mean));
}

Lane sum_about(Lane pilot, Lane deviations, Lane count) {
  return fma(count, convert(LaneOp::widen, pilot), deviations);
}

Deviations recentred(const Deviations& of, Lane count, bool for_sum) {
  const Lane from = convert(LaneOp::widen, of.pilot);
  const Lane mean = convert(LaneOp::narrow, from + of.sum / count);
  const Lane pilot = for_sum ? pilot_for_sum(mean) : mean;
  const Lane shift = convert(LaneOp::widen, pilot) - from;
  const Lane sum = fnma(count, shift, of.sum);
  return {pilot, sum, fnma(shift, of.sum + sum, of.squares)};
}

Lane is_far(const Deviations& of, Lane count) { return count * of.squares < of.sum * of.sum * 5.0; }

Lane moved_pilot(const Deviations& of, Lane count) {
  return pilot_for_sum(convert(LaneOp::narrow, convert(LaneOp::widen, of.pilot) + of.sum / count));
}

Lane centred_moment(Lane sum, Lane deviations, Lane squares, Lane count) {
  LaneBuilder& b = *sum.builder;
  const Lane zero = b.constant(LaneType::f64, 0);
  const Lane some = combine(LaneOp::greater, count, b.constant(LaneType::f64, 1));
  const Lane centred = fnma(deviations, deviations / some, squares);
  const Lane moment = combine(LaneOp::greater, zero, centred);  // a NaN stays
  const Lane overflows = and_not(is_nan(sum - sum), is_nan(moment));
  return select(overflows, b.constant(LaneType::f64, std::numeric_limits<double>::infinity()), moment);
}

}  // namespace tenfold::jit
