// SPDX-License-Identifier: Apache-2.0
//
// What follows from a packed reduction itself, before a register is taken: how wide lanes are, how many of them a row
// has of a register, and which ways a block goes. How it goes them is PackedBlock's.
#pragma once

#include <cstdint>

#include "jit/state/keys.hpp"
#include "jit/vector/packed.hpp"
#include "kernel/spec.hpp"
#include "schedule/packed.hpp"

namespace tenfold::jit {

class PackedRule {
 protected:
  PackedRule(const kernel::KernelSpec& spec, const schedule::ReduceBody& body);

  static constexpr int kBytes = PackedVectors::kBytes;  ///< of a register
  static constexpr int kHalf = kBytes / 2;

  /// Bits pay from this width on: of narrower rows of either sign too many blocks have one without an element of the
  /// sign that settles it. Blocks of 16 bits have twice the rows. Likewise words of which places are wanted, f64 and
  /// one order of the operands.
  static constexpr int kLeastWidthOfBits = 7, kLeastWidthOfBitsOf16 = 8, kLeastWidthOfOneOrder = 8;

  bool widened() const { return lane_ != element_; }
  bool order() const { return kind_ == schedule::Lanes::order; }
  /// Extremes that the machine finds by itself where there is no NaN: all but those of 16 bits in the shortest rows.
  bool numbers() const { return order() && (lane_ >= 4 || count_ >= kLeastWidthOfBitsOf16); }
  /// Those of f32 and of 16 bits in rows that are not the shortest: bits as integers, as in the order state. One
  /// extreme of them is the answer if it has the sign that settles it; where a row has none, the block is done again
  /// with the other.
  bool bits() const { return settles() && lane_ <= 4; }
  /// Bits, and f64 in rows as long: one order of the operands, and the block again in both where an extreme is a zero.
  bool settles() const {
    return numbers() && count_ >= (lane_ == 2   ? kLeastWidthOfBitsOf16
                                   : lane_ == 4 ? kLeastWidthOfBits
                                                : kLeastWidthOfOneOrder);
  }
  IntegerOp own_extreme() const { return maximum() ? IntegerOp::greatest_signed : IntegerOp::greatest_unsigned; }
  IntegerOp watched_extreme() const { return maximum() ? IntegerOp::greatest_unsigned : IntegerOp::greatest_signed; }
  /// Arg-reductions are one of these.
  bool keys() const { return schedule::gives_index(kind_) && widened(); }
  bool places() const { return schedule::gives_index(kind_) && !widened(); }
  /// Places: rows of two or more to a register, which lie as its lanes do.
  bool are_side_by_side() const {
    return cell_ == 1 && are_dense() && width_ == segment_ && segment_ < lanes_ &&
           (lane_ >= 4 || width_ * element_ >= 8);
  }
  /// Places of floats in rows that are not the shortest: bits as integers. Where a row has no element of the sign that
  /// settles it, the block is done again with integers of the elements' order.
  bool finds_bits() const {
    return places() && is_floating(input_) && count_ >= (lane_ == 4 ? kLeastWidthOfBits : kLeastWidthOfBitsOf16);
  }
  /// True when a second way through the block is there for NaNs.
  bool has_slow_way() const { return order() || (schedule::gives_index(kind_) && is_floating(input_)); }
  bool floats() const { return kind_ != schedule::Lanes::integer && !order() && !schedule::gives_index(kind_); }
  bool maximum() const { return body_.monoid == kernel::Monoid::max || body_.monoid == kernel::Monoid::argmax; }
  bool has_rows_of_halves() const {
    return segment_ == lanes_ && width_ > lanes_ / 2 && width_ <= lanes_ && !widened() && !places() && !pads_cells() &&
           cell_lanes_ <= lanes_ / 2;
  }
  bool has_rows_of_three() const { return are_dense() && width_ == 3 && element_ >= 2 && lane_ <= 4 && !places(); }
  /// bf16 that f32 sums or multiplies, in rows of 2, 4 or 8.
  bool has_rows_of_pairs() const {
    return input_ == DType::bf16 && kind_ == schedule::Lanes::chained_f32 && cell_ == 1 && are_dense() &&
           (width_ == 2 || width_ == 4 || width_ == 8);
  }
  /// Results whose even rows are in the lower half of the lanes and whose odd ones are in the upper one.
  bool has_rows_in_turn() const { return has_rows_of_pairs() && width_ == 8 && output_ == DType::bf16; }
  /// True of extremes, of whatever type.
  bool idempotent() const { return kernel::row(body_.monoid).state == kernel::State::order; }
  /// Sums of so many narrow floats that the last levels are in f64: two, three, or all.
  bool ends_in_f64() const { return kind_ == schedule::Lanes::chained_f32 && !stays_in_f32(); }
  /// Whose results another kernel goes on with (schedule/apart.hpp), two registers of them.
  bool hands_on_f64() const { return kind_ == schedule::Lanes::chained_f32 && output_ == DType::f64; }
  bool three_levels_in_f64() const { return width_ > schedule::kMostWidthWithTwoLevelsInF64; }
  bool all_levels_in_f64() const { return ends_in_f64() && width_ > schedule::kMostWidthWithThreeLevelsInF64; }
  /// Cells that leave lanes of theirs empty.
  bool pads_cells() const { return cell_ < cell_lanes_; }
  /// Rows that follow one another without gaps.
  bool are_dense() const { return pitch_ == count_ * cell_; }
  /// A power of two: as many as a register has cells.
  int rows_of_block() const { return lanes_ / cell_lanes_; }
  /// Registers that the tree of a block begins with.
  int leaves() const { return segment_ / cell_lanes_; }
  /// Bytes from the start of a row to the element that lane `number` of its lanes has.
  int offset_of(int number) const { return (number / cell_lanes_ * cell_ + number % cell_lanes_) * element_; }
  KeyRule key_rule() const { return {input_, maximum(), body_.last}; }
  /// Sums of bf16 rows that are longer than half a register of f32.
  bool widens_in_halves() const;
  /// By kMostWidthInF32 and kMostAdditionsOfNarrowSum.
  bool stays_in_f32() const;
  int choose_segment() const;
  std::uint64_t identity() const;

  const kernel::KernelSpec& spec_;
  const schedule::ReduceBody& body_;
  schedule::Lanes kind_;
  DType input_, output_;
  int count_;       ///< elements of a row, or cells
  int cell_;        ///< elements of a cell, each with a result of its own; 1: a row has but one
  int pitch_;       ///< elements from one row to the next
  int cell_lanes_;  ///< lanes that a cell takes up: a power of two
  int width_;       ///< lanes that a row takes up, those of all registers
  int element_;     ///< bytes of an element in memory
  int lane_;        ///< and in a register
  int lanes_;       ///< of a register
  int segment_;     ///< lanes that a row has of a leaf: a power of two
};

}  // namespace tenfold::jit
