// SPDX-License-Identifier: Apache-2.0
//
// The tile of columns that a staged kernel is at: which columns it has, and the walk over their records in scratch.
#pragma once

#include <cstdint>
#include <functional>

#include "jit/operand/walk.hpp"

namespace tenfold::jit {

class ColumnTile {
 public:
  /// Of at most `columns`, in steps of `lanes`, which may be gone through in parts of `part`; 0: there are no parts.
  ColumnTile(Assembler& assembler, OperandWalk& walk, int lanes, std::int64_t columns, std::int64_t part)
      : a_(assembler), c_(assembler.code()), walk_(walk), lanes_(lanes), columns_(columns), part_(part) {}

  /// Before the first take().
  void start();
  /// As many whole vectors as a tile has, or what is left; the last tile takes the partial vector along.
  void take();
  /// On to the next tile: jumps to `again` when there is one.
  void go_on(const Xbyak::Label& again);

  /// When there is another tile of these rows.
  void jump_unless_last(const Xbyak::Label& target);

  /// Runs `body` for each part of the tile, which each_vector() then takes for the tile. Their records lie
  /// `record_bytes` apart.
  void each_part(int record_bytes, const std::function<void()>& body);
  /// The first column of the tile, or of the part.
  void load_first(const Xbyak::Reg64& d);
  /// How many it has, those of the partial vector among them.
  void load_count(const Xbyak::Reg64& d);

  using Body = std::function<void(const Xbyak::Reg64& index, const Xbyak::Reg64& record, Part part)>;
  /// For each vector of the tile, with its record; they lie `record_bytes` apart from byte `first` of scratch on.
  void each_vector(int first, int record_bytes, const Body& body);

 private:
  Xbyak::Address slot(int offset) const { return c_.qword[c_.rbp + offset]; }

  Assembler& a_;
  Xbyak::CodeGenerator& c_;
  OperandWalk& walk_;
  int lanes_;
  std::int64_t columns_, part_;
};

}  // namespace tenfold::jit
