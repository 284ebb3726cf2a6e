// SPDX-License-Identifier: Apache-2.0
#include "jit/stage/ranked.hpp"

#include "jit/stage/numbered.hpp"

namespace tenfold::jit {
namespace {

using kernel::Monoid;

bool is_least(Monoid monoid) { return monoid == Monoid::min || monoid == Monoid::argmin; }

int top_bit(LaneType type) { return 8 * lane_bytes(type) - 1; }
std::uint64_t sign_of(LaneType type) { return std::uint64_t{1} << top_bit(type); }

/// All bits below the sign, of integers that are negative.
Lane turned_if_negative(Lane bits) {
  const Lane negative = bits < 0.0;
  return bits ^ shift_right(negative, 1);
}

/// An integer for each element, in the order of the elements, the first of all being the greatest.
Lane key_of(Monoid monoid, DType dtype, Lane element) {
  if (!is_real(element.type)) return compared(is_least(monoid) ? Monoid::argmin : Monoid::argmax, dtype, element);
  const LaneType type = integer_of(element.type);
  const Lane nan = element.builder->bits(type, element.type == LaneType::f32 ? 0x7fc00000 : 0x7ff8000000000000);
  const Lane key = select(is_nan(element), nan, turned_if_negative(as(type, element + 0.0)));
  return is_least(monoid) ? complement(key) : key;
}

/// Of reals twice the number, and one more for -0.
Lane marked(Lane element, Lane number) {
  if (!is_real(element.type)) return number;
  const Lane negative_zero = equal(as(number.type, element), number.builder->bits(number.type, sign_of(number.type)));
  return shift_left(number, 1) - negative_zero;
}

/// Integers of all bits may equal what a list begins with.
bool may_be_least(DType dtype) { return !is_floating(dtype) && byte_size(dtype) >= 4; }

Lane number_in(StageBuilder& made, const StageReduction& of) {
  if (of.index < 0) return made.input({StagePlace::Kind::number, 0, of.set_type});
  const Lane index = made.value(of.index);
  return of.set_type == LaneType::i64 ? convert(LaneOp::extend_zero, index) : index;
}

}  // namespace

std::uint64_t first_ranked_number(DType dtype) {
  if (!may_be_least(dtype)) return 0;
  return byte_size(dtype) == 8 ? ~std::uint64_t{0} : 0xffffffffU;
}

void take_up_ranks(StageBuilder& made, const std::vector<StageReduction>& reductions, int first) {
  const StageReduction& of = reductions[static_cast<std::size_t>(first)];
  const LaneType type = of.set_type;
  const Lane element = made.value(of.element);
  const Lane key = key_of(of.monoid, of.dtype, element);
  Numbered next{key, marked(element, number_in(made, of))};
  for (int place = 0; place < of.places; ++place) {
    const StagePlace key_set{StagePlace::Kind::set, ranked_at(first, place), type},
        number_set{StagePlace::Kind::set, ranked_number_at(first, place), type};
    const Numbered here{made.input(key_set), made.input(number_set)};
    // What has been moved down comes before its equals, whatever place it takes.
    Lane enters = here.element < key;
    if (may_be_least(of.dtype)) enters = enters | (here.number < 0.0);
    const bool by_select = lane_bytes(type) == 8;
    const auto either = [&](LaneOp op, Lane yes, Lane no) {
      return by_select ? select(enters, yes, no) : combine(op, yes, no);
    };
    // What moves down is taken before its place is.
    const Numbered down{either(LaneOp::least_signed, here.element, next.element),
                        select(enters, here.number, next.number)};
    made.result(either(LaneOp::greatest_signed, next.element, here.element), key_set);
    made.result(select(enters, next.number, here.number), number_set);
    next = down;
  }
}

Lane takes_a_place(StageBuilder& made, const std::vector<StageReduction>& reductions, int first) {
  const StageReduction& of = reductions[static_cast<std::size_t>(first)];
  const auto last = [&](int reduction) { return made.input({StagePlace::Kind::set, reduction, of.set_type}); };
  const Lane key = key_of(of.monoid, of.dtype, made.value(of.element));
  const Lane takes = last(ranked_at(first, of.places - 1)) < key;
  return may_be_least(of.dtype) ? takes | (last(ranked_number_at(first, of.places - 1)) < 0.0) : takes;
}

Lane ranked_element(Monoid monoid, DType dtype, Lane compared_lane, Lane number) {
  const LaneType type = compared_lane.type;
  if (!is_floating(dtype)) return compared(is_least(monoid) ? Monoid::argmin : Monoid::argmax, dtype, compared_lane);
  const Lane key = is_least(monoid) ? complement(compared_lane) : compared_lane;
  return as(type == LaneType::i32 ? LaneType::f32 : LaneType::f64,
            turned_if_negative(key) | shift_left(number, top_bit(type)));
}

Lane ranked_index(DType dtype, Lane number) {
  const Lane index = is_floating(dtype) ? shift_right(number, 1) : number;
  return index.type == LaneType::i64 ? index : convert(LaneOp::extend_zero, index);
}

}  // namespace tenfold::jit
