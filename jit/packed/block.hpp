// SPDX-License-Identifier: Apache-2.0
//
// One block of packed rows: as many rows as a register has lanes, one after another in memory, each down to one lane.
// No loop here; jit/packed/packed.cpp has that.
//
// A row (or several short ones) is loaded into a register, the rest of it combined on top, lane by lane; then registers
// of different rows meet, two at a time, in a transposing tree: each level halves the distance of the lanes that are
// combined and the number of registers, so that in the end each lane is a row. Lanes meet as in the one lane tree of
// all kernels: + 8, + 4, + 2, + 1.
//
// An arg-reduction has a register of places beside each of elements; places.cpp says how these meet. Or it takes
// keys: lanes twice as wide as the element, with the element above and below it a code of its place in the row, so that
// the greatest (least) key says where the first (last) extreme is.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "jit/assembler/frame.hpp"
#include "jit/packed/rows_block.hpp"
#include "jit/packed/rule.hpp"

namespace tenfold::jit {

class PackedBlock final : public RowsBlock, private PackedRule {
 public:
  PackedBlock(Assembler& assembler, const kernel::KernelSpec& spec, const schedule::ReduceBody& body);

  int rows() const override { return rows_of_block(); }
  int row_bytes() const override { return pitch_ * element_; }
  int gap_bytes() const override { return (pitch_ - count_ * cell_) * element_; }
  int result_bytes() const override { return cell_ * byte_size(output_); }
  int scratch_bytes() const override;

  /// Gives what a block reads of constants, as often as it does, the registers that it leaves; this sketches one.
  void keep_constants(const Xbyak::Reg64& in, const Xbyak::Reg64& out) override;
  void load_kept() override;
  void emit(const Xbyak::Reg64& in, const Xbyak::Reg64& out) override;
  bool trails() const override;
  void emit_last(const Xbyak::Reg64& out) override;
  void emit_out_of_line(const Xbyak::Reg64& in) override;

 private:
  using Register = PackedVectors::Register;
  /// Lanes that the terms of a sum are dealt to.
  static constexpr int kVirtualLanes = 16;
  /// Order: the keys that show NaNs which lose, over a whole block; of numbers a sum, which any NaN spoils; of bits the
  /// extreme that shows NaNs of the other sign. Places: magnitudes, of bits as above, which show any NaN.
  static constexpr Register kLosers = PackedVectors::kRegisters - 1;
  /// Numbers and bits have as many of these, from there down, as take turns: an addition takes three cycles, and all
  /// else of a register of a long row one.
  static constexpr int kWatches = 4;
  /// Of sums, which watch nothing: the results of the block before, where blocks trail.
  static constexpr Register kTrailing = kLosers;
  static constexpr int kTrailingSteps = 3;
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

  void emit_trailing(const Xbyak::Reg64& in, const Xbyak::Reg64& out);
  std::vector<std::function<void()>> steps_to_finish(const Xbyak::Reg64& out);
  void trail(int leaves, int of);

  Register block(const Xbyak::Reg64& in);
  Value tree(const Xbyak::Reg64& in, int first, int count);
  Value merge(Value x, const Value& y, int bytes);
  Register long_sums(const Xbyak::Reg64& in, int first);
  Register cells_in_f64(const Xbyak::Reg64& in);
  std::array<Register, 2> row_of_wide_cells(const Xbyak::Reg64& in, int number = 0);
  Register half_of_cells(const Xbyak::Reg64& in, int half);
  std::array<Register, 2> four_rows_in_f64(const Xbyak::Reg64& in, int first);
  std::array<Register, 2> pairs_in_f64(Register low, Register high);
  std::array<Register, 2> halves_in_f64(const std::array<Register, 4>& rows);
  void sort(const Value& value);
  void store_cells(const Xbyak::Reg64& out, Register result);

  bool loops_over_leaves() const;
  bool loops_along_rows() const;
  int pieces_in_loop() const;
  void along_row(const Xbyak::Reg64& in, const std::function<void(const Xbyak::Reg64& from, int piece)>& body);
  Register long_row(const Xbyak::Reg64& in);
  void find_along(const Xbyak::Reg64& in, Found& best);
  int leaf_bytes() const;
  int leaves_bytes() const { return loops_over_leaves() ? leaves() * leaf_bytes() : 0; }
  void store_leaves(const Xbyak::Reg64& in);
  int stored_number(int index) const;
  Value stored_leaf(int index);
  Found stored_row(int index);

  Value leaf(const Xbyak::Reg64& in, int index);
  Value key_leaf(const Xbyak::Reg64& in, int index);
  Register keys_of_part(const Xbyak::Reg64& in, int index, int begin, int end);
  void widen_keys(Register keys, int part);
  void map_to_order(Register reg);
  Value find(const Xbyak::Reg64& in);
  Found found_tree(const Xbyak::Reg64& in, int first, int count);
  Found found_row(const Xbyak::Reg64& in, int index);
  Found found_cells(const Xbyak::Reg64& in, int first, int count);
  Found found_row_of_cells(const Xbyak::Reg64& in, int index);
  Found found_piece_of_cells(const Xbyak::Reg64& in, int number, int first);
  Found found_short_cells(const Xbyak::Reg64& in, int index);
  void map_found(Register elements);
  void store_places_of_cells(const Xbyak::Reg64& out, Register result);
  Found found_leaf(const Xbyak::Reg64& in, int index, int piece);
  void take_better(Found& early, Found late, bool in_order, bool kept);
  void take_earlier_of_equals(const Found& early, const Found& late);
  Register place_register(const LaneNumbers& early, const LaneNumbers& late, Register mask, bool wins);
  PackedVectors::Bytes place_bytes(const LaneNumbers& places) const;
  PackedVectors::Bytes spread_rows() const;
  static LaneNumbers part_numbers(const LaneNumbers& x, const LaneNumbers& y, int bytes, int lane, bool late);
  int number_of_leaf(int index) const;
  Value rows_of_halves(const Xbyak::Reg64& in, int index);
  Value short_rows(const Xbyak::Reg64& in, int index);
  bool permutes_rows(int count) const;
  bool fills_segments() const;
  Value permuted_rows(const Xbyak::Reg64& in, int index);
  Register rows_of_three(const Xbyak::Reg64& in);
  Register part_of_three(const Xbyak::Reg64& in, int part);
  Value rows_of_three_words(const Xbyak::Reg64& in);
  Value rows_of_pairs(const Xbyak::Reg64& in);
  Value short_rows_widened(const Xbyak::Reg64& in, int index);
  Value rows_in_halves(const Xbyak::Reg64& in, int low_row, int high_row);
  Value pair_of_rows(const Xbyak::Reg64& in, int index);
  Register row(const Xbyak::Reg64& in, int number);
  std::vector<Register> lanes_of_row(const Xbyak::Reg64& in, int number);
  std::vector<Register> lanes_of_row(const Xbyak::Reg64& in, int number, int first, int end);
  Register row_in_f64(const Xbyak::Reg64& in, int number);
  Register piece(const Xbyak::Reg64& in, int number, int index);
  void spread_cells(Register reg);
  std::uint8_t source_of(int start, int number, int byte) const;
  Memory at(const Xbyak::Reg64& in, int offset, int bytes);

  PackedVectors::Bytes identity_past(int elements, int segment) const;
  void fill(Register reg, int elements, int segment);
  void fill_first(Register reg, int elements);
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

  bool looks_at_bits() const { return finds_bits() && !exact_ && !other_; }
  int watches() const { return !has_slow_way() ? 0 : numbers() && lane_ >= 4 && width_ > lanes_ ? kWatches : 1; }

  Assembler& assembler_;
  Xbyak::CodeGenerator& code_;
  PackedVectors v_;
  bool exact_ = false;  ///< order, places: NaNs of both signs are at the end that wins
  bool other_ = false;  ///< what settles: the second look at a block that the first leaves open
  Register taken_ = 0;  ///< registers that have been in use, from the first on
  int watched_ = 0;     ///< numbers: registers so far
  int turns_ = 0;       ///< within the loop over leaves, of it
  std::vector<std::function<void()>> trailing_;  ///< what is left of the block before, last step first
  Register upper_ = 0;                           ///< hands_on_f64(): the results of the upper half of a block's rows
  std::vector<Register> free_;
  Xbyak::Label slow_, unsettled_, result_;
};

}  // namespace tenfold::jit
