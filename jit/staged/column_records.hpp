// SPDX-License-Identifier: Apache-2.0
//
// What staged columns have in scratch: for each vector of a tile a record with the sets and totals of all reductions
// and the saved values; of a part of the tile the elements that are kept for a later pass; and a tile of rows that are
// turned (schedule/turned.hpp). The sweeps over rows are in columns.cpp.
#pragma once

#include <functional>

#include "jit/assembler/frame.hpp"
#include "jit/operand/turned_rows.hpp"
#include "jit/staged/column_tile.hpp"
#include "jit/staged/staged.hpp"
#include "schedule/turned.hpp"

namespace tenfold::jit {

class ColumnRecords : protected StagedKernel {
 protected:
  ColumnRecords(Assembler& assembler, const Stages& stages, const kernel::KernelSpec& spec,
                const schedule::Schedule& schedule);

  const StageReduction& reduction(int r) const { return stages_.reductions[static_cast<std::size_t>(r)]; }
  /// Where in a record the value is.
  int set_of(int r) const { return sets_[static_cast<std::size_t>(r)]; }
  int total_of(int r) const { return totals_[static_cast<std::size_t>(r)]; }
  int saved_of(int slot) const { return saved_[static_cast<std::size_t>(slot)]; }

  Xbyak::Address slot(int offset) const { return c_.qword[c_.rbp + offset]; }
  /// Slot of the frame: rows until the next flush.
  static constexpr int kRowsLeft = frame::kStepsLeft;

  void each_vector(const ColumnTile::Body& body) { tile_.each_vector(places_, record_bytes_, body); }

  /// Whether lanes run across blocks that are turned into scratch, tile by tile.
  bool turns() const { return schedule_.width > 0; }
  int first_inside() const { return schedule::turned_levels(spec_).inside; }
  /// All blocks of the tile, of each input or output that is turned; of pieces of lines those from the element on that
  /// the slot kPieceFirst says, and of `short_piece` as many elements as kPieceExtent.
  void turn(Turn way, std::size_t depth, bool short_piece = false);
  /// Runs `body` for each piece of lines, from the last one on if `backwards`, with those slots set; that which is
  /// shorter than others comes last.
  void each_piece(bool backwards, const std::function<void(bool is_short)>& body);
  static constexpr int kPieceFirst = frame::kOutput2;
  static constexpr int kPieceExtent = frame::kNestOutput2;

  /// Start values of what the pass reduces, without the sets of chains.
  void fill_identities(const StagePass& pass);
  bool has_chains(const StagePass& pass) const;
  /// Before a row that sweeps take alone: start values of the sets of chains, if it begins one.
  void begin_chain(const StagePass& pass);
  /// Loads the values that the pass carries in vectors from row to row. Sets that begin a chain start here, and are
  /// stored only by sweeps that do not end it: rows a multiple of a page apart drive all records out of L1.
  void load_vectors(const StagePass& pass, const Xbyak::Reg64& record);
  /// Back to the record; behind the last `rows` rows of a chain, sums go on into their totals.
  void store_sets(const StagePass& pass, const Xbyak::Reg64& record, int rows);
  /// Adds chains that must not grow any longer to the totals, and begins them anew.
  void flush(const StagePass& pass);

  static bool touches_kept(const StageProgram& program);
  /// Rows of kept elements lie one after another, with room for a partial vector each.
  int kept_row_bytes() const { return static_cast<int>(schedule_.part + lanes_) * kKeptBytes; }
  /// Fills the slot kKeptRow: the elements of the row taken first, from where column 0 would be if the part began with
  /// it.
  void start_kept();
  /// Slot of the frame: the same, of the row that a sweep begins with.
  static constexpr int kKeptRow = frame::kSavedOutput;

  const bool keeps_;     ///< scratch keeps elements
  const bool in_parts_;  ///< not of a whole tile
  ColumnTile tile_;
  int record_bytes_ = 0;

 private:
  int place(LaneType type);
  void place_turned();
  int turned_apart(std::size_t k) const;
  void flush_vector(const PassVectors& vectors, int r, const Xbyak::Reg64& record);

  std::vector<int> saved_, sets_, totals_;
  int kept_ = 0;  ///< first byte of the kept elements
  struct Turned {
    int width;  ///< elements of a block; 0: it is not turned
    int place;  ///< their first byte
  };
  std::vector<Turned> turned_;  ///< by operand
};

}  // namespace tenfold::jit
