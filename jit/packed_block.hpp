// SPDX-License-Identifier: Apache-2.0
//
// One block of packed rows: as many rows as a register has lanes, one after another in memory, each down to one lane.
// No loop here; jit/packed.cpp has that.
//
// A row (or several short ones) is loaded into a register, the rest of it combined on top, lane by lane; then registers
// of different rows meet, two at a time, in a transposing tree: each level halves the distance of the lanes that are
// combined and the number of registers, so that in the end each lane is a row. Lanes meet as in the one lane tree of
// all kernels: + 8, + 4, + 2, + 1.
//
// An arg-reduction has a register of places beside each of elements; packed_places.cpp says how these meet. Or it takes
// keys: lanes twice as wide as the element, with the element above and below it a code of its place in the row, so that
// the greatest (least) key says where the first (last) extreme is.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "jit/frame.hpp"
#include "jit/keys.hpp"
#include "jit/rows_block.hpp"
#include "kernel/spec.hpp"
#include "schedule/packed.hpp"

namespace tenfold::jit {

class PackedBlock final : public RowsBlock {
 public:
  PackedBlock(Assembler& assembler, const kernel::KernelSpec& spec, const schedule::ReduceBody& body, int width);

  int rows() const override { return lanes_; }
  int row_bytes() const override { return width_ * element_; }
  int result_bytes() const override { return byte_size(output_); }
  int scratch_bytes() const override;

  /// Gives what a block reads of constants, as often as it does, the registers that it leaves; this sketches one.
  void keep_constants(const Xbyak::Reg64& in, const Xbyak::Reg64& out) override;
  void load_kept() override;
  void emit(const Xbyak::Reg64& in, const Xbyak::Reg64& out) override;
  void emit_out_of_line(const Xbyak::Reg64& in) override;

 private:
  using Register = PackedVectors::Register;
  /// Order: the keys that show NaNs which lose, over a whole block; of numbers a sum, which any NaN spoils; of bits the
  /// extreme that shows NaNs of the other sign. Places: magnitudes, of bits as above, which show any NaN.
  static constexpr Register kLosers = PackedVectors::kRegisters - 1;
  /// Numbers and bits have as many of these, from there down, as take turns: an addition takes three cycles, and all
  /// else of a register of a long row one.
  static constexpr int kWatches = 4;
  /// Bits pay from this width on: of narrower rows of either sign too many blocks have one without an element of the
  /// sign that settles it. Blocks of 16 bits have twice the rows. Likewise words of which places are wanted, f64 and
  /// one order of the operands.
  static constexpr int kLeastWidthOfBits = 7, kLeastWidthOfBitsOf16 = 8, kLeastWidthOfOneOrder = 8;
  /// A slot of the frame: how many blocks have just been open (places of floats).
  static constexpr int kOpen = frame::kChainLeft;
  /// A number for each lane, at most one a byte. An array, as a block makes thousands of these.
  using LaneNumbers = std::array<int, PackedVectors::kBytes>;
  /// A register, and by lane the row that it belongs to.
  struct Value {
    Register reg;
    LaneNumbers rows;
  };
  /// Arg-reductions: elements, and by lane their places, which are known (`first`) until registers have met.
  struct Found {
    Register elements;
    std::optional<Register> places;
    LaneNumbers first, rows;
  };

  Register take();
  void give(Register reg) { free_.push_back(reg); }

  Register block(const Xbyak::Reg64& in);
  Value tree(const Xbyak::Reg64& in, int first, int count);
  Value merge(Value x, const Value& y, int bytes);
  Register long_sums(const Xbyak::Reg64& in, int first);
  std::array<Register, 2> four_rows_in_f64(const Xbyak::Reg64& in, int first);
  std::array<Register, 2> pairs_in_f64(Register low, Register high);
  std::array<Register, 2> halves_in_f64(const std::array<Register, 4>& rows);
  void sort(const Value& value);

  bool loops_over_leaves() const;
  int leaf_bytes() const;
  void store_leaves(const Xbyak::Reg64& in);
  Value stored_leaf(int index);
  Found stored_row(int index);

  Value leaf(const Xbyak::Reg64& in, int index);
  Value key_leaf(const Xbyak::Reg64& in, int index);
  void map_to_order(Register reg);
  Value find(const Xbyak::Reg64& in);
  Found found_tree(const Xbyak::Reg64& in, int first, int count);
  Found found_row(const Xbyak::Reg64& in, int index);
  Found found_leaf(const Xbyak::Reg64& in, int index, int piece);
  void take_better(Found& early, Found late, bool in_order, bool kept);
  void take_earlier_of_equals(const Found& early, const Found& late);
  Register place_register(const LaneNumbers& early, const LaneNumbers& late, Register mask, bool wins);
  PackedVectors::Bytes place_bytes(const LaneNumbers& places) const;
  PackedVectors::Bytes spread_rows() const;
  static LaneNumbers part_numbers(const LaneNumbers& x, const LaneNumbers& y, int bytes, int lane, bool late);
  KeyRule key_rule() const { return {input_, maximum(), body_.last}; }
  int number_of_leaf(int index) const;
  Value rows_of_halves(const Xbyak::Reg64& in, int index);
  Value short_rows(const Xbyak::Reg64& in, int index);
  Register rows_of_three(const Xbyak::Reg64& in);
  Value rows_of_pairs(const Xbyak::Reg64& in);
  Value short_rows_widened(const Xbyak::Reg64& in, int index);
  bool widens_in_halves() const;
  Value rows_in_halves(const Xbyak::Reg64& in, int low_row, int high_row);
  Register row(const Xbyak::Reg64& in, int number);
  std::vector<Register> lanes_of_row(const Xbyak::Reg64& in, int number);
  Register row_in_f64(const Xbyak::Reg64& in, int number);
  Register piece(const Xbyak::Reg64& in, int number, int index);
  Memory at(const Xbyak::Reg64& in, int offset, int bytes);

  PackedVectors::Bytes identity_past(int elements, int segment) const;
  void fill(Register reg, int elements, int segment);
  void start_watch();
  void jump_if_watched(Register result);
  void watch_into(Register watch, Register reg);
  void watch(Register reg);
  void map(Register reg);
  void combine(Register into, Register from, int lane_bytes);
  void finish_sums(Register reg, int lane_bytes);
  void divide_by_count(Register reg, int lane_bytes);
  void finish(Register reg);
  void finish_order(Register reg);

  bool widened() const { return lane_ != element_; }
  bool order() const { return kind_ == schedule::Lanes::order; }
  /// Extremes that the machine finds by itself where there is no NaN: all but those of 16 bits in the shortest rows.
  bool numbers() const { return order() && (lane_ >= 4 || width_ >= kLeastWidthOfBitsOf16); }
  /// Those of f32 and of 16 bits in rows that are not the shortest: bits as integers, as in the order state. One
  /// extreme of them is the answer if it has the sign that settles it; where a row has none, the block is done again
  /// with the other.
  bool bits() const { return settles() && lane_ <= 4; }
  /// Bits, and f64 in rows as long: one order of the operands, and the block again in both where an extreme is a zero.
  bool settles() const {
    return numbers() && width_ >= (lane_ == 2   ? kLeastWidthOfBitsOf16
                                   : lane_ == 4 ? kLeastWidthOfBits
                                                : kLeastWidthOfOneOrder);
  }
  IntegerOp own_extreme() const { return maximum() ? IntegerOp::greatest_signed : IntegerOp::greatest_unsigned; }
  IntegerOp watched_extreme() const { return maximum() ? IntegerOp::greatest_unsigned : IntegerOp::greatest_signed; }
  /// Arg-reductions are one of these.
  bool keys() const { return schedule::gives_index(kind_) && widened(); }
  bool places() const { return schedule::gives_index(kind_) && !widened(); }
  /// Places: rows of two or more to a register, which lie as its lanes do.
  bool are_side_by_side() const { return width_ == segment_ && segment_ < lanes_ && (lane_ >= 4 || row_bytes() >= 8); }
  /// Places of floats in rows that are not the shortest: bits as integers. Where a row has no element of the sign that
  /// settles it, the block is done again with integers of the elements' order.
  bool finds_bits() const {
    return places() && is_floating(input_) && width_ >= (lane_ == 4 ? kLeastWidthOfBits : kLeastWidthOfBitsOf16);
  }
  /// True when a second way through the block is there for NaNs.
  bool has_slow_way() const { return order() || (schedule::gives_index(kind_) && is_floating(input_)); }
  bool looks_at_bits() const { return finds_bits() && !exact_ && !other_; }
  int watches() const { return !has_slow_way() ? 0 : numbers() && lane_ >= 4 && width_ > lanes_ ? kWatches : 1; }
  bool floats() const { return kind_ != schedule::Lanes::integer && !order() && !schedule::gives_index(kind_); }
  bool maximum() const { return body_.monoid == kernel::Monoid::max || body_.monoid == kernel::Monoid::argmax; }
  bool has_rows_of_halves() const {
    return segment_ == lanes_ && width_ > lanes_ / 2 && width_ <= lanes_ && !widened() && !places();
  }
  bool has_rows_of_three() const { return width_ == 3 && lane_ == 4 && element_ == 4 && !places(); }
  /// bf16 that f32 sums or multiplies, in rows of 2, 4 or 8.
  bool has_rows_of_pairs() const {
    return input_ == DType::bf16 && kind_ == schedule::Lanes::chained_f32 &&
           (width_ == 2 || width_ == 4 || width_ == 8);
  }
  /// Results whose even rows are in the lower half of the lanes and whose odd ones are in the upper one.
  bool has_rows_in_turn() const { return has_rows_of_pairs() && width_ == 8 && output_ == DType::bf16; }
  /// True of extremes, of whatever type.
  bool idempotent() const { return kernel::row(body_.monoid).state == kernel::State::order; }
  /// Sums of so many narrow floats that the last levels are in f64: two, three, or all.
  bool ends_in_f64() const { return kind_ == schedule::Lanes::chained_f32 && width_ > schedule::kMostWidthInF32; }
  /// Whose results another kernel goes on with (schedule/apart.hpp), two registers of them.
  bool hands_on_f64() const { return kind_ == schedule::Lanes::chained_f32 && output_ == DType::f64; }
  bool three_levels_in_f64() const { return width_ > schedule::kMostWidthWithTwoLevelsInF64; }
  bool all_levels_in_f64() const { return ends_in_f64() && width_ > schedule::kMostWidthWithThreeLevelsInF64; }
  std::uint64_t identity() const;

  Assembler& assembler_;
  Xbyak::CodeGenerator& code_;
  PackedVectors v_;
  const kernel::KernelSpec& spec_;
  const schedule::ReduceBody& body_;
  schedule::Lanes kind_;
  DType input_, output_;
  int width_;
  int element_;         ///< bytes of an element in memory
  int lane_;            ///< and in a register
  int lanes_;           ///< of a register, and rows of a block
  int segment_;         ///< lanes that a row has of a leaf: a power of two
  bool exact_ = false;  ///< order, places: NaNs of both signs are at the end that wins
  bool other_ = false;  ///< what settles: the second look at a block that the first leaves open
  Register taken_ = 0;  ///< registers that have been in use, from the first on
  int watched_ = 0;     ///< numbers: registers so far
  int turns_ = 0;       ///< within the loop over leaves, of it
  Register upper_ = 0;  ///< hands_on_f64(): the results of the upper half of a block's rows
  std::vector<Register> free_;
  Xbyak::Label slow_, unsettled_, result_;
};

}  // namespace tenfold::jit
