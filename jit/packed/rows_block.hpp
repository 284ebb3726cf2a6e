// SPDX-License-Identifier: Apache-2.0
//
// What the packed nest (jit/packed/packed.cpp) knows of a block of rows, one after another in memory, each reduced to
// one element, or one for each element of a cell. Two kinds are there: block.hpp, for all there is, and
// gathered_block.hpp.
#pragma once

#include "jit/assembler/assembler.hpp"

namespace tenfold::jit {

class RowsBlock {
 public:
  RowsBlock() = default;
  virtual ~RowsBlock() = default;
  RowsBlock(const RowsBlock&) = delete;
  RowsBlock& operator=(const RowsBlock&) = delete;

  /// A power of two.
  virtual int rows() const = 0;
  /// From one row to the next, of which the last so many are not its own.
  virtual int row_bytes() const = 0;
  virtual int gap_bytes() const { return 0; }
  virtual int result_bytes() const = 0;
  int input_bytes() const { return rows() * row_bytes(); }
  int output_bytes() const { return rows() * result_bytes(); }
  /// Bytes from frame::kRecords on that a block writes and reads.
  virtual int scratch_bytes() const { return 0; }
  /// Bytes past the last row's own that a block's loads touch, which only other rows may be. Known once emit() is done.
  int overread() const { return overread_; }

  /// Before emit(): chooses registers for what blocks read again and again.
  virtual void keep_constants(const Xbyak::Reg64&, const Xbyak::Reg64&) {}
  /// Fills them; once before the first block.
  virtual void load_kept() = 0;
  /// The rows at `in`, their results to `out`; those of the block before, if blocks trail.
  virtual void emit(const Xbyak::Reg64& in, const Xbyak::Reg64& out) = 0;
  /// Whether a block finishes the results of the one before it (the first: what nobody reads), and leaves its own to
  /// the next, or to emit_last().
  virtual bool trails() const { return false; }
  virtual void emit_last(const Xbyak::Reg64&) {}
  /// Code that emit() jumps to where a block has what the fast way does not see. Comes back by itself.
  virtual void emit_out_of_line(const Xbyak::Reg64&) {}

 protected:
  int overread_ = 0;
};

}  // namespace tenfold::jit
