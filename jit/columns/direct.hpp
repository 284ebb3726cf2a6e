// SPDX-License-Identifier: Apache-2.0
//
// Columns of few rows: a vector step of columns at a time, or a few of them, their accumulators in registers.
#pragma once

#include "jit/columns/sweep.hpp"
#include "jit/nest/nest.hpp"

namespace tenfold::jit {

/// The rows of the innermost reduced level that columns go down, and how many vector steps a row has.
class ColumnRows {
 public:
  explicit ColumnRows(LoopNest& nest);

  void load_stride(const Xbyak::Reg64& d);  ///< bytes
  void load_count(const Xbyak::Reg64& d);
  void load_steps(const Xbyak::Reg64& d);  ///< whole ones
  /// Where the partial step runs over (LoopNest::runs_over): as long as enough columns follow, in the block where the
  /// loops stand and in those behind it, it is a whole one.
  void run_over();

 private:
  LoopNest& n_;
  Xbyak::CodeGenerator& c_;
  /// -1: without a reduced level every output is one element, a single row, whose stride does not matter.
  int inner_;
};

void emit_direct_columns(LoopNest& nest, ColumnRows& rows, ColumnSweep& sweep);

}  // namespace tenfold::jit
