// SPDX-License-Identifier: Apache-2.0
//
// Turning a tile of blocks round (schedule/turned.hpp). In memory each of these rows has its elements side by side; in
// scratch element 0 of all rows comes first, then element 1, and so on. As many rows are turned at once as two vectors
// of 16 bytes have elements, in units of a few elements of each row, which are loaded into registers, a row in each
// half, and interleaved until each register has one element of all rows. Back again it is the other way round.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "jit/operand/walk.hpp"

namespace tenfold::jit {

enum class Turn { in, out };

class TurnedRows {
 public:
  /// Rows of `width` elements, 2 or more, of operand `k`. In scratch elements are `apart` bytes from one another.
  TurnedRows(Assembler& assembler, const OperandWalk& walk, std::size_t k, int width, int apart);

  /// Turns `count` rows from where `rows` points to (in) or to there (out); element 0 of the first one is at `place` of
  /// scratch. No byte outside the rows is touched. Clobbers both pointers and the count.
  void emit(Turn turn, const Xbyak::Reg64& rows, const Xbyak::Reg64& place, const Xbyak::Reg64& count);
  /// The same of as many elements as `width`, a dword, says, one by one.
  void emit_short(Turn turn, const Xbyak::Reg64& rows, const Xbyak::Reg64& place, const Xbyak::Reg64& count,
                  const Xbyak::Address& width);

 private:
  /// Registers of a step, by number; kNone where nothing is needed, or known.
  using Registers = std::vector<int>;
  static constexpr int kNone = -1;

  /// What is turned together: `elements` of each row from `first` on, in one load or store of `bytes` or a few.
  struct Unit {
    int first, elements, bytes;
  };
  std::vector<Unit> units() const;

  void block(Turn turn, const Xbyak::Reg64& place);
  void turn_in(const Unit& unit, const Xbyak::Reg64& place);
  void turn_out(const Unit& unit, const Xbyak::Reg64& place);
  using LoadWidth = std::function<void(const Xbyak::Reg32& d)>;
  void one_by_one(Turn turn, const Xbyak::Reg64& rows, const Xbyak::Reg64& place, const Xbyak::Reg64& count,
                  const LoadWidth& load_width);

  /// Lower or upper halves of `a` and `b`, element by element in turn.
  int interleave(bool upper, int a, int b);
  /// Row `row` of each half of the block, as a register.
  int load_row(int row, const Unit& unit);
  /// Bytes from `from` on of each half of `s`.
  void store_row(int row, const Unit& unit, int s, int from);
  void load_bytes(const Xbyak::Xmm& d, const Xbyak::RegExp& from, int bytes);
  void store_bytes(const Xbyak::RegExp& to, const Xbyak::Xmm& s, int first, int bytes);

  /// Where an element of a row of the block is.
  Xbyak::RegExp row_at(int row, int element) const;
  /// To the rows four further on, and back.
  void move_pointers(bool on);

  int take();
  void give(int reg) { free_.push_back(reg); }

  Assembler& a_;
  Xbyak::CodeGenerator& c_;
  const OperandWalk& walk_;
  std::size_t operand_;
  int width_, apart_;
  int element_;                         ///< bytes
  int lanes_;                           ///< elements of 16 bytes
  std::vector<Xbyak::Reg64> quarters_;  ///< pointers to the first row of each quarter of a block
  Xbyak::Reg64 pitch_, three_pitches_;
  int moved_ = 0;  ///< rows that the pointers are further on
  std::vector<int> free_;
};

}  // namespace tenfold::jit
