// SPDX-License-Identifier: Apache-2.0
//
// The packed nest: many short rows, one after another in memory, in blocks of as many rows as a register has lanes
// (rows_block.hpp). Of the last rows, too few for a block, a block takes some of those before them once more; what is
// so close to the end that a block's loads would touch what is past it, or all where there are too few for any block,
// is copied to scratch and runs there. All that by the same code: a row's bits do not depend on where it lies.
#include "jit/packed/packed.hpp"

#include <algorithm>
#include <bit>
#include <memory>

#include "jit/packed/block.hpp"
#include "jit/packed/gathered_block.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Label;
using Xbyak::Reg64;

constexpr int kLine = 64;
/// Bytes that a block asks for ahead of itself, where it does (schedule::Schedule::ahead), and of memory (`far`).
constexpr int kAhead = 4096, kFarAhead = 8192;
/// Are copied as fast as a block of rows is reduced.
constexpr int kFewBytes = 512;

std::unique_ptr<RowsBlock> make_block(LoopNest& nest, const schedule::ReduceBody& body) {
  if (GatheredBlock::takes(nest.v, nest.spec, body, nest.schedule))
    return std::make_unique<GatheredBlock>(nest.v, nest.spec, body, nest.schedule.width);
  return std::make_unique<PackedBlock>(nest.a, nest.spec, body);
}

class Packed {
 public:
  Packed(LoopNest& nest, const schedule::ReduceBody& body)
      : n_(nest),
        c_(nest.c),
        block_(make_block(nest, body)),
        level_(nest.schedule.vector_level - 1),
        p_(nest.a),
        q_(nest.a),
        before_(nest.a),
        blocks_(nest.a),
        rows_(nest.a) {}

  void emit() {
    std::vector<int> outside = n_.other_levels(false);
    outside.erase(std::ranges::find(outside, level_), outside.end());
    n_.over(outside, [this] { all_rows(); });
  }

  /// The last rows, in two blocks at most, with what their loads touch, and the results of these. Where loads touch
  /// nothing past a row only those of a cut that has no block are copied.
  std::int64_t scratch_bytes() const { return copies() + copies_bytes() + 2 * block_->output_bytes(); }

 private:
  int copies() const { return frame::kRecords + block_->scratch_bytes(); }
  int copied_blocks() const { return rows_beyond() == 0 ? 1 : 2; }
  int copies_bytes() const { return (copied_blocks() * block_->input_bytes() + block_->overread() + 63) / 64 * 64; }

  void all_rows() {
    Label copied, done, end;
    c_.mov(p_, n_.in);
    c_.mov(q_, n_.out);
    n_.load_extent(rows_, level_);
    block_->keep_constants(p_, q_);
    // How many rows a block's loads go beyond it is known once it is emitted: further below.
    Label count, again, blocks;
    c_.jmp(count);
    align_loop(c_);
    c_.L(again);
    if (n_.schedule.ahead) ask();
    block_->emit(p_, block_->trails() ? before_ : q_);
    if (block_->trails()) c_.mov(before_, q_);
    c_.add(p_, block_->input_bytes());
    c_.add(q_, block_->output_bytes());
    c_.dec(blocks_);
    c_.jnz(again);
    if (block_->trails()) block_->emit_last(before_);
    // Rows left; or below zero, how many of the copies there were.
    c_.mov(rows_, n_.slot(frame::kStepsLeft));
    c_.test(rows_, rows_);
    c_.jz(end);
    c_.js(copied);
    Label rest;
    c_.cmp(rows_, rows_copied());
    c_.jbe(rest);
    step_back();
    c_.jmp(blocks);
    c_.L(rest);
    copy_in();
    c_.jmp(blocks);
    c_.L(copied);
    copy_out();
    c_.jmp(end);
    c_.L(count);
    block_->load_kept();
    count_blocks(rest);
    c_.L(blocks);
    // The first block finishes what is not there, to where results of copies will be.
    if (block_->trails()) c_.lea(before_, c_.ptr[c_.rbp + (copies() + copies_bytes())]);
    c_.jmp(again);
    block_->emit_out_of_line(p_);
    c_.L(end);
  }

  void ask() {
    const bool far = n_.schedule.far;
    for (int line = 0; line < block_->input_bytes(); line += kLine) {
      const Xbyak::Address next = c_.ptr[p_.reg() + ((far ? kFarAhead : kAhead) + line)];
      far ? c_.prefetcht1(next) : c_.prefetcht0(next);
    }
  }

  /// Of the last block's, those that its loads may touch.
  int rows_beyond() const { return (block_->overread() + block_->row_bytes() - 1) / block_->row_bytes(); }

  /// So many rows that are left are copied: all that must, and where some must, as many more as take no longer than
  /// another block.
  int rows_copied() const {
    if (rows_beyond() == 0) return 0;
    return std::max(rows_beyond(), std::min(block_->rows(), kFewBytes / block_->row_bytes()));
  }

  /// Whole blocks, but for what must be copied; jumps to `rest` when there is none.
  void count_blocks(const Label& rest) {
    const int shift = std::countr_zero(static_cast<unsigned>(block_->rows()));
    Gpr taken(n_.a);
    c_.xor_(taken.r32(), taken.r32());
    c_.mov(blocks_, rows_);
    c_.sub(blocks_, rows_beyond());
    c_.cmovs(blocks_, taken);
    c_.shr(blocks_, shift);
    c_.mov(taken, blocks_);
    c_.shl(taken, shift);
    c_.sub(rows_, taken);
    c_.mov(n_.slot(frame::kStepsLeft), rows_);
    c_.test(blocks_, blocks_);
    c_.jz(rest);
  }

  /// To one more block, of the last rows of the `rows_` that are left which need no copy, and of rows before them.
  void step_back() {
    Gpr again(n_.a), bytes(n_.a);
    c_.mov(again.r32(), block_->rows() + rows_beyond());
    c_.sub(again, rows_);
    c_.imul(bytes, again, block_->row_bytes());
    c_.sub(p_, bytes);
    c_.imul(bytes, again, block_->result_bytes());
    c_.sub(q_, bytes);
    c_.mov(n_.slot(frame::kStepsLeft), rows_beyond());
    c_.mov(blocks_.r32(), 1);
  }

  /// `rows_` rows at `p_` to scratch, and the pointers there.
  void copy_in() {
    Gpr to(n_.a), bytes(n_.a);
    c_.lea(to, c_.ptr[c_.rbp + copies()]);
    c_.imul(bytes, rows_, block_->row_bytes());
    if (block_->gap_bytes() > 0) c_.sub(bytes, block_->gap_bytes());
    copy(to, p_, bytes);
    c_.lea(p_, c_.ptr[c_.rbp + copies()]);
    c_.mov(n_.slot(frame::kNestOutput), q_);
    c_.lea(q_, c_.ptr[c_.rbp + (copies() + copies_bytes())]);
    c_.lea(blocks_, c_.ptr[rows_.reg() + (block_->rows() - 1)]);
    c_.shr(blocks_, std::countr_zero(static_cast<unsigned>(block_->rows())));
    c_.neg(rows_);
    c_.mov(n_.slot(frame::kStepsLeft), rows_);
  }

  void copy_out() {
    Gpr from(n_.a), bytes(n_.a);
    c_.neg(rows_);
    c_.imul(bytes, rows_, block_->result_bytes());
    c_.mov(q_, n_.slot(frame::kNestOutput));
    c_.lea(from, c_.ptr[c_.rbp + (copies() + copies_bytes())]);
    copy(q_, from, bytes);
  }

  /// Moves all three.
  void copy(const Reg64& to, const Reg64& from, const Reg64& bytes) {
    Gpr word(n_.a);
    Label lines, words, single, next, done;
    const auto move_words = [&](int count) {
      for (int at = 0; at < 8 * count; at += 8) {
        c_.mov(word, c_.qword[from + at]);
        c_.mov(c_.qword[to + at], word);
      }
      c_.add(from, 8 * count);
      c_.add(to, 8 * count);
      c_.sub(bytes, 8 * count);
    };
    c_.L(lines);
    c_.cmp(bytes, kLine);
    c_.jb(words);
    move_words(kLine / 8);
    c_.jmp(lines);
    c_.L(words);
    c_.cmp(bytes, 8);
    c_.jb(single);
    move_words(1);
    c_.jmp(words);
    c_.L(single);
    c_.test(bytes, bytes);
    c_.jz(done);
    c_.L(next);
    c_.movzx(word.r32(), c_.byte[from]);
    c_.mov(c_.byte[to], word.reg().cvt8());
    c_.inc(from);
    c_.inc(to);
    c_.dec(bytes);
    c_.jnz(next);
    c_.L(done);
  }

  LoopNest& n_;
  Xbyak::CodeGenerator& c_;
  std::unique_ptr<RowsBlock> block_;
  int level_;
  Gpr p_, q_;
  Gpr before_;  ///< where the results of the block before go, if blocks trail
  Gpr blocks_, rows_;
};

}  // namespace

std::int64_t emit_packed(LoopNest& nest, const schedule::ReduceBody& body) {
  Packed packed(nest, body);
  packed.emit();
  return packed.scratch_bytes();
}

}  // namespace tenfold::jit
