// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "jit/columns/narrow.hpp"
#include "jit/columns/next_block.hpp"
#include "jit/nest/blocks.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Label;

class NarrowSums {
 public:
  explicit NarrowSums(LoopNest& nest)
      : n_(nest),
        c_(nest.c),
        width_(nest.schedule.width),
        rows_of_step_(static_cast<int>(std::bit_floor(static_cast<unsigned>(nest.s.lanes() / width_)))),
        outer_(nest.other_levels(true)),
        inner_(outer_.back()),
        p_(nest.a) {
    outer_.pop_back();
    const int bytes_behind = nest.s.step_bytes() - rows_of_step_ * row_bytes();
    rows_behind_ = std::max(0, (bytes_behind + row_bytes() - 1) / row_bytes());
  }

  void emit() {
    n_.over(n_.other_levels(false), [this] {
      n_.s.init_totals();
      n_.over(outer_, [this] { rows(); });
      fold();
      n_.store_vector(width_ == n_.s.lanes() ? Part::full : Part::tail);
    });
  }

 private:
  int row_bytes() const { return width_ * n_.s.input_bytes(); }

  /// All rows of the innermost reduced level.
  void rows() {
    Gpr steps(n_.a), left(n_.a);
    Label counted;
    c_.mov(p_, n_.in);
    n_.load_extent(left, inner_);
    c_.xor_(steps.r32(), steps.r32());
    c_.cmp(left, rows_behind_ + rows_of_step_);
    c_.jb(counted);
    {
      const int shift = std::countr_zero(static_cast<unsigned>(rows_of_step_));
      Gpr taken(n_.a);
      c_.lea(steps, c_.ptr[left.reg() - rows_behind_]);
      if (shift > 0) c_.shr(steps, shift);
      c_.mov(taken, steps);
      if (shift > 0) c_.shl(taken, shift);
      c_.sub(left, taken);
    }
    c_.L(counted);
    take_blocks(n_, steps, schedule::kChainedUnroll, false, [this] {
      for (int set = 0; set < schedule::kChainedUnroll; ++set)
        n_.s.step(set, p_.reg() + set * rows_of_step_ * row_bytes(), Part::full);
      ask_next_block(n_, p_.reg(), schedule::kChainedUnroll * rows_of_step_ * row_bytes());
      c_.add(p_, schedule::kChainedUnroll * rows_of_step_ * row_bytes());
    });
    rest(steps, left);
  }

  /// Fewer whole steps than make a group, then single rows, as one chain.
  void rest(const Gpr& steps, const Gpr& rows) {
    Label whole, single, again, flush;
    n_.s.init_set(0);
    c_.test(steps, steps);
    c_.jz(single);
    c_.L(whole);
    n_.s.step(0, p_.reg(), Part::full);
    c_.add(p_, rows_of_step_ * row_bytes());
    c_.dec(steps);
    c_.jnz(whole);
    c_.L(single);
    c_.test(rows, rows);
    c_.jz(flush);
    c_.L(again);
    row();
    c_.add(p_, row_bytes());
    c_.dec(rows);
    c_.jnz(again);
    c_.L(flush);
    n_.s.flush(0);
  }

  void row() { n_.s.step(0, p_.reg(), width_ == n_.s.lanes() ? Part::full : Part::tail); }

  /// The lanes of a row of a step are `width` further than those of the row before.
  void fold() {
    if (rows_of_step_ == 1) return;
    const Memory record = Xbyak::util::rbp + frame::kRecords;
    n_.s.keep_totals(record);
    for (int row = 1; row < rows_of_step_; ++row)
      n_.s.roles().wide_totals->merge_totals(record + row * width_ * static_cast<int>(sizeof(double)));
  }

  LoopNest& n_;
  Xbyak::CodeGenerator& c_;
  int width_, rows_of_step_, rows_behind_ = 0;
  std::vector<int> outer_;  ///< reduced levels outside the innermost one
  int inner_;
  Gpr p_;
};

}  // namespace

void emit_narrow_sums(LoopNest& nest) { NarrowSums(nest).emit(); }

}  // namespace tenfold::jit
