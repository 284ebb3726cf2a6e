// SPDX-License-Identifier: Apache-2.0
//
// What orders reals: IEEE 754-2019 maximum and minimum, sign. A bound that is a constant takes two operations.
#include <bit>
#include <cmath>

#include "jit/function/families.hpp"

namespace tenfold::jit {
namespace {

bool is_plain_constant(Lane x) { return is_constant(x) && !std::isnan(constant_value(x)); }

}  // namespace

bool is_constant(Lane x) { return x.builder->program().nodes[static_cast<std::size_t>(x.node)].op == LaneOp::constant; }

std::uint64_t constant_bits(Lane x) { return x.builder->program().nodes[static_cast<std::size_t>(x.node)].immediate; }

double constant_value(Lane x) {
  const std::uint64_t bits = constant_bits(x);
  if (x.type == LaneType::f32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return std::bit_cast<double>(bits);
}

/// The machine's own gives the second of two that are not in order, and of two zeros: not the bound. Where the bound is
/// +0, adding 0 makes +0 of either zero.
Lane maximum_lane(Lane a, Lane b) {
  if (is_plain_constant(a) && !is_constant(b)) return maximum_lane(b, a);
  if (is_plain_constant(b)) {
    const double bound = constant_value(b);
    const Lane most = combine(LaneOp::greater, b, a);
    return bound == 0 && !std::signbit(bound) ? most + 0.0 : most;
  }
  return negate(minimum_lane(negate(a), negate(b)));
}

Lane minimum_lane(Lane a, Lane b) {
  if (is_plain_constant(a) && !is_constant(b)) return minimum_lane(b, a);
  if (is_plain_constant(b)) {
    const double bound = constant_value(b);
    if (bound == 0 && std::signbit(bound)) return select(b <= a, b, a);
    return combine(LaneOp::lesser, b, a);
  }
  // The same number either way but for zeros and NaNs: then each, whose bits together are the lesser zero or a NaN.
  return combine(LaneOp::lesser, a, b) | combine(LaneOp::lesser, b, a);
}

/// Adding 0 makes +0 of both zeros and keeps NaN.
Lane sign_lane(Lane x) { return select(x < 0.0, -1.0, select(x > 0.0, 1.0, x + 0.0)); }

Lane narrow_mask(Lane mask) { return mask.type == LaneType::i64 ? convert(LaneOp::low_half, mask) : mask; }

Lane truth(Lane mask) {
  const Lane narrow = narrow_mask(mask);
  return narrow & narrow.builder->constant(narrow.type, 1);
}

Lane not_a_number(Lane like) {
  return like.builder->bits(like.type, like.type == LaneType::f32 ? 0x7fc00000U : 0x7ff8000000000000U);
}

Lane through_f64(Lane (*function)(LaneArgs), LaneArgs args) {
  if (args[0].type == LaneType::f64) return function(args);
  std::vector<Lane> wide;
  for (const Lane arg : args) wide.push_back(convert(LaneOp::widen, arg));
  return convert(LaneOp::narrow, function(wide));
}

}  // namespace tenfold::jit
