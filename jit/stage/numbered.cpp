// SPDX-License-Identifier: Apache-2.0
#include "jit/stage/numbered.hpp"

namespace tenfold::jit {
namespace {

/// Whether the lane stays as it is, or is to take the next element.
Lane stays(Lane element, Lane next, bool last) {
  return last ? (next < element) | and_not(is_nan(next), is_nan(element)) : (next <= element) | is_nan(element);
}

/// Integers in the order of the reals, all NaNs and both zeros being one.
Lane in_order(Lane element) {
  if (!is_real(element.type)) return element;
  const Lane bits = as(LaneType::i32, element + 0.0);
  const Lane flips = shift_right(shift_right_arithmetic(bits, 31), 1);
  return select(is_nan(element), bits.builder->bits(LaneType::i32, 0x7fffffff), bits ^ flips);
}

}  // namespace

Lane compared(kernel::Monoid monoid, DType dtype, Lane element) {
  const bool wraps = row(dtype).kind == DTypeKind::unsigned_integer && byte_size(dtype) == lane_bytes(element.type);
  if (wraps) element = element ^ element.builder->bits(element.type, std::uint64_t{1} << (8 * byte_size(dtype) - 1));
  if (monoid == kernel::Monoid::argmax) return element;
  return is_real(element.type) ? negate(element) : complement(element);
}

std::uint64_t least_compared(LaneType type) {
  switch (type) {
    case LaneType::f32: return 0xff800000;
    case LaneType::f64: return 0xfff0000000000000;
    default: return std::uint64_t{1} << (8 * lane_bytes(type) - 1);
  }
}

Numbered taken_up(const Numbered& so_far, const Numbered& next, bool last, const std::optional<Lane>& mask) {
  Lane stay = stays(so_far.element, next.element, last);
  if (mask) stay = stay | complement(*mask);
  return {select(stay, so_far.element, next.element), select(stay, so_far.number, next.number)};
}

Numbered number_taken_up(const Numbered& so_far, const Numbered& next, bool last, const std::optional<Lane>& mask) {
  const bool real = is_real(next.element.type);
  const Lane any = !last  ? so_far.element < next.element
                   : real ? so_far.element <= next.element
                          : complement(next.element < so_far.element);
  const Lane takes = mask ? any & *mask : any;
  const LaneOp greater = real ? LaneOp::greater : LaneOp::greatest_signed;
  return {mask ? select(takes, next.element, so_far.element) : combine(greater, next.element, so_far.element),
          select(takes, next.number, so_far.number)};
}

Lane joined(const Numbered& numbered, bool last) {
  const Lane element = convert(LaneOp::extend_zero, in_order(numbered.element));
  const Lane number = convert(LaneOp::extend_zero, last ? numbered.number : complement(numbered.number));
  return shift_left(element, 32) | number;
}

Lane number_of(Lane joined, bool last) {
  const Lane number = convert(LaneOp::low_half, joined);
  return last ? number : complement(number);
}

}  // namespace tenfold::jit
