// SPDX-License-Identifier: Apache-2.0
//
// What repeats beside joined rows (schedule/spread.hpp), in scratch: elements side by side, those of a few hundred at a
// time.
#pragma once

#include <vector>

#include "jit/operand/walk.hpp"
#include "schedule/schedule.hpp"

namespace tenfold::jit {

class SpreadOperands {
 public:
  /// Tells the walk, which must not have started, where it finds them.
  SpreadOperands(Assembler& assembler, OperandWalk& walk, const schedule::Schedule& schedule);

  /// Of all joined rows, at `depth`.
  void load_elements(const Xbyak::Reg64& d);
  /// Fills the scratch of what each row has again. Clobbers vector register 0, as does fill_next().
  void fill_columns(std::size_t depth);
  /// That of what has one element for each row, for the next rows; `begin` comes before the first ones.
  void begin() { code_.mov(rows_taken(), 0); }
  void fill_next(std::size_t depth);
  /// First byte of scratch that is left to others.
  int scratch_end() const { return end_; }

 private:
  struct Place {
    std::size_t operand;
    int bytes;  ///< of an element
    int at;     ///< in scratch
  };
  Xbyak::Address rows_taken() const;
  void fill_row(const Place& place, std::size_t depth);
  void repeat_row(const Place& place);
  void repeat_elements(const Place& place, std::size_t depth);

  Assembler& assembler_;
  Xbyak::CodeGenerator& code_;
  OperandWalk& walk_;
  int width_, rows_at_once_;
  int rows_level_;
  std::vector<Place> rows_, columns_;
  int end_ = 0;
};

}  // namespace tenfold::jit
