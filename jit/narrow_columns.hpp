// SPDX-License-Identifier: Apache-2.0
//
// Columns so few that they fit one vector step, rows one after another in memory: most rows are taken with the
// accumulators in registers, without masks. A step reads on into the rows behind, whose elements end up in lanes that
// are no column; so the last rows are left to the columns nest, which masks.
#pragma once

#include "jit/nest.hpp"

namespace tenfold::jit {

class NarrowColumns {
 public:
  explicit NarrowColumns(Nest& nest) : n_(nest), c_(nest.c), width_(nest.schedule.width) {}

  /// Chained reductions: as many sweeps over four streams as make whole groups of chains, in the order of the columns
  /// nest. `first` moves to the next row of the first stream, `sweeps` becomes what is left.
  void take_sweeps(const Xbyak::Reg64& first, const Xbyak::Reg64& stream, const Xbyak::Reg64& sweeps);

  /// The others: as many rows as possible from `first` on, which moves behind them; `rows` becomes what is left.
  void take_rows(const Xbyak::Reg64& first, const Xbyak::Reg64& rows);

 private:
  int row_bytes() const { return width_ * n_.s.input_bytes(); }
  /// Rows that a step must have behind it, so that what it reads is there.
  int rows_behind(int rows_of_step) const;
  Memory record(int number) const { return Xbyak::util::rbp + (frame::kRecords + number * n_.s.record_bytes()); }
  void in_order(const Xbyak::Reg64& first, const Xbyak::Reg64& rows);
  void in_any_order(const Xbyak::Reg64& first, const Xbyak::Reg64& rows);
  void fold_segments(int segments);

  Nest& n_;
  Xbyak::CodeGenerator& c_;
  int width_;
};

}  // namespace tenfold::jit
