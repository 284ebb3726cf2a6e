// SPDX-License-Identifier: Apache-2.0
//
// What sweeps over a tile of columns ask the caches for: rows, or whole tiles, that come later, and the lines of later
// stores.
#pragma once

#include <functional>
#include <vector>

#include "jit/staged/column_records.hpp"
#include "jit/staged/look_ahead.hpp"

namespace tenfold::jit {

class ColumnAhead : protected ColumnRecords {
 protected:
  using ColumnRecords::ColumnRecords;

  static bool writes(const StagePass& pass);
  /// Whether elements go from inputs to outputs past the caches and nothing else happens. One row at a time, with
  /// prefetches, is read and written best then: x / max |x| of f32 [1024, 4096] over axis 0 takes a tenth less than
  /// with two, LayerNorm, too.
  bool passes_on(const StagePass& pass) const;

  struct OfSweep {
    std::vector<Ahead> inputs, outputs;
    int times = 1;  ///< that each line of inputs is asked for
  };
  /// Before a sweep of `rows` rows; holds registers until the result is destroyed.
  OfSweep ahead_of(const StagePass& pass, int rows);
  /// At a vector of the sweep; `at` tells where its rows are.
  void ask(const OfSweep& of, int rows, const std::function<OperandWalk::At(int row)>& at);

  /// Of lines that are turned piece by piece: asks for the piece that comes after this one, of the same lines, or
  /// behind the last one the first of the next tile's.
  void ask_for_piece(std::size_t depth, bool backwards);

  bool takes_part_ = false;  ///< what is emitted goes through a part of a tile

 private:
  bool asks_for_next_tile() const;
  std::vector<Ahead> next_tile(const StagePass& pass);
  std::vector<Ahead> next_rows(const StagePass& pass, int rows);
  std::vector<Ahead> next_stores(const StagePass& pass, int rows, std::size_t most);
  int times(const StagePass& pass) const;
};

}  // namespace tenfold::jit
