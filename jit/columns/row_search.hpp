// SPDX-License-Identifier: Apache-2.0
//
// The end of columns whose indices are those of sweeps: of each column the rows of its sweep are copied together, and
// the state finds the one that has the extreme. A number that stands for a single row, of those that sweeps have left
// over, is the first of the rows that are looked at as well, or behind rows that have no extreme.
#pragma once

#include "jit/nest/nest.hpp"

namespace tenfold::jit {

class RowSearcher {
 public:
  explicit RowSearcher(LoopNest& nest) : n_(nest), c_(nest.c) {}

  /// Of so many rows, or whatever numbers count, `stride` bytes apart. Fewer than a sweep has need no search, and this
  /// jumps to end(). Clobbers `rows`.
  void begin(const Xbyak::Reg64& rows, const Xbyak::Reg64& stride);
  /// The record of the columns from `columns` on, which moves on by a step.
  void record(const Xbyak::Reg64& record, const Xbyak::Reg64& columns, Part part);
  void end();

 private:
  /// The rows of columns `first` and those behind, as many as a vector of numbers has.
  void copy(const Memory& numbers, const Xbyak::Reg64& columns, int first, Part part);

  LoopNest& n_;
  Xbyak::CodeGenerator& c_;
  Xbyak::Label none_;
};

}  // namespace tenfold::jit
