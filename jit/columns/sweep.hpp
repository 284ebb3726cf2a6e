// SPDX-License-Identifier: Apache-2.0
//
// A tile of columns, whose accumulators lie in records in scratch, and the sweeps of rows over it.
#pragma once

#include <functional>
#include <optional>

#include "jit/nest/nest.hpp"

namespace tenfold::jit {

class ColumnSweep {
 public:
  explicit ColumnSweep(LoopNest& nest);

  /// Of a chain, whether this sweep is the first, which starts from nothing, and whether it is the last, which flushes
  /// what it has into the totals. Other states have no chains, and neither begin nor end.
  struct Of {
    bool begins;
    bool ends;
  };

  Gpr row_stride;  ///< bytes from a row to the next
  Gpr stream;      ///< bytes from a stream to the next
  Gpr first;       ///< where the first row of the next sweep starts in the tile

  /// `body` for each whole record of the tile, then for the partial one; as for a whole one if LoopNest::ends_whole,
  /// behind `step_back`, which moves the pointers there that `body` has.
  using Body = std::function<void(const Xbyak::Reg64& record, Part part)>;
  void each_record(const Body& body, const std::function<void()>& step_back = {});
  /// One row of each of `at_once` streams over the tile, and on to the next.
  void take(int at_once, Of of);
  /// The same, stream after stream, each over the whole tile: between one that begins chains and one that ends them.
  void take_in_turn(int at_once);
  /// `count` sweeps of two vector steps at a time (grouped_sweeps.hpp); records end with a chain to flush.
  void take_groups(const Xbyak::Reg64& count);
  /// Flushes a chain whose last sweep has not.
  void end_chain();
  /// One row's step for the columns at `from`.
  void step(const Xbyak::Reg64& from, Part part);
  /// Moves a pointer into the input on by `steps` vector steps.
  void advance(const Xbyak::Reg64& pointer, const Xbyak::Reg64& steps);
  /// The input is not contiguous along the vector level, and is copied together element by element.
  bool is_staged() const { return staged_input_; }

 private:
  void sweep(int at_once, Of of);
  void next(int at_once);
  void take_rows(const Xbyak::Reg64& record, int at_once, Part part, Pass pass, Of of,
                 const std::optional<Gpr>& stream3);
  void add_to_totals(const Xbyak::Reg64& record);
  void rows_together(int at_once, const std::optional<Gpr>& stream3);
  void rows_one_by_one(int at_once, Part part);

  LoopNest& n_;
  Xbyak::CodeGenerator& c_;
  bool staged_input_;
  Gpr p_;
};

}  // namespace tenfold::jit
