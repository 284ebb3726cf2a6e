// SPDX-License-Identifier: Apache-2.0
#include "jit/columns/direct.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
#include <vector>

#include "jit/columns/columns.hpp"
#include "jit/columns/next_block.hpp"
#include "jit/nest/blocks.hpp"
#include "schedule/columns.hpp"

namespace tenfold::jit {

using Xbyak::Label;
using Xbyak::Reg64;

ColumnRows::ColumnRows(LoopNest& nest) : n_(nest), c_(nest.c) {
  const std::vector<int> reduced = nest.other_levels(true);
  inner_ = reduced.empty() ? -1 : reduced.back();
}

void ColumnRows::load_stride(const Reg64& d) {
  if (inner_ >= 0) {
    n_.load_input_stride(d, inner_);
  } else {
    c_.xor_(d.cvt32(), d.cvt32());
  }
}

void ColumnRows::load_count(const Reg64& d) {
  if (inner_ >= 0) {
    n_.load_extent(d, inner_);
  } else {
    c_.mov(d.cvt32(), 1);
  }
}

void ColumnRows::run_over() {
  const int lanes = n_.s.lanes(), block = n_.other_levels(false).back();
  Gpr columns(n_.a), follow(n_.a), tail(n_.a);
  Label over;
  n_.load_extent(columns, n_.schedule.vector_level);
  c_.mov(follow, columns);
  c_.imul(follow, n_.slot(frame::kCounters + 8 * block));
  c_.mov(tail, columns);
  c_.add(columns, lanes - 1);
  c_.and_(columns, -lanes);
  c_.cmp(follow, columns);
  c_.mov(follow.r32(), 0);
  c_.jae(over);
  c_.mov(columns, tail);
  c_.mov(follow, tail);
  c_.and_(follow, lanes - 1);
  c_.L(over);
  c_.shr(columns, std::countr_zero(static_cast<unsigned>(lanes)));
  c_.mov(n_.slot(frame::kColumnSteps), columns);
  c_.mov(n_.slot(frame::kTailCount), follow);
}

void ColumnRows::load_steps(const Reg64& d) {
  if (n_.runs_over) {
    c_.mov(d, n_.slot(frame::kColumnSteps));
    return;
  }
  n_.load_extent(d, n_.schedule.vector_level);
  c_.shr(d, std::countr_zero(static_cast<unsigned>(n_.s.lanes())));
}

namespace {

class DirectColumns {
 public:
  DirectColumns(LoopNest& nest, ColumnRows& rows, ColumnSweep& sweep)
      : n_(nest), c_(nest.c), rows_(rows), sweep_(sweep) {
    if (!sweep.is_staged() && nest.output_contiguous(0)) most_sets_ = nest.s.traits().sets_in_registers;
  }

  void emit() {
    Gpr steps(n_.a), at_once(n_.a);
    Label partial, done;
    rows_.load_steps(steps);
    c_.test(steps, steps);
    c_.jz(partial);
    n_.store_either_way([&] {
      Label again, none;
      for (int sets = most_sets_; sets > 1; sets /= 2) several_at_once(sets, steps, at_once);
      if (most_sets_ > 1) {
        c_.test(steps, steps);
        c_.jz(none);
      }
      c_.mov(at_once.r32(), 1);
      c_.L(again);
      vector(Part::full);
      sweep_.advance(n_.in, at_once);
      n_.advance_outputs();
      c_.dec(steps);
      c_.jnz(again);
      c_.L(none);
    });
    c_.L(partial);
    c_.cmp(n_.slot(frame::kTailCount), 0);
    c_.jz(done);
    if (n_.ends_whole) {
      n_.step_back(n_.in, n_.s.input_bytes());
      n_.step_outputs_back();
    }
    vector(n_.ends_whole ? Part::full : Part::tail);
    c_.L(done);
  }

 private:
  void vector(Part part) {
    n_.set_whole_steps(part == Part::full);
    // Past a tail are start values, which settle nothing.
    if (part == Part::full && n_.s.traits().has_quick_pass) {
      quick_vector();
    } else {
      rows_of_vector(part);
      n_.set_whole_steps(false);
      n_.s.finish(Part::full);
    }
    n_.set_whole_steps(false);
    n_.store_finished(part);
  }

  /// Of `steps` as many as are multiples of `sets`.
  void several_at_once(int sets, const Reg64& steps, const Gpr& at_once) {
    Label again, left;
    c_.mov(at_once.r32(), sets);
    c_.sub(steps, at_once);
    c_.jb(left);
    c_.L(again);
    several_vectors(sets);
    sweep_.advance(n_.in, at_once);
    c_.sub(steps, at_once);
    c_.jae(again);
    c_.L(left);
    c_.add(steps, at_once);
  }

  /// The columns of neighbouring steps, each with a set of its own.
  void several_vectors(int sets) {
    Chains& chains = *n_.s.roles().chains;
    const int bytes = n_.s.step_bytes();
    const auto take = [&](const Memory& row) {
      std::vector<Memory> steps(static_cast<std::size_t>(sets), row);
      for (int set = 0; set < sets; ++set) steps[static_cast<std::size_t>(set)] = row + set * bytes;
      n_.s.step_sets(steps);
    };
    n_.set_whole_steps(true);
    init_sets(n_.s, sets);
    chains.start_groups(sets);
    each_rows(
        n_.s.traits().rows_in_registers, sets * bytes,
        [&](const std::vector<Memory>& rows) { std::for_each(rows.begin(), rows.end(), take); },
        [&](const Reg64& row) { take(row); });
    chains.end_groups(sets);
    for (int set = 0; set < sets; ++set) {
      n_.set_whole_steps(true);
      n_.s.flush(set);
      n_.set_whole_steps(false);
      n_.s.finish(Part::full);
      n_.store_finished(Part::full);
      n_.advance_outputs();
    }
  }

  /// Of many rows one has most likely the sign that settles an extreme. All columns must. An index is settled where
  /// there is no NaN, and so is an extreme of f64 but for zeros.
  void quick_vector() {
    const bool is_index = schedule::gives_index(n_.s.lane_kind());
    const Pass quick = n_.s.traits().settles_few_rows || has_rows_that_settle(n_.spec) ? Pass::first : Pass::numbers;
    Label clean, again, done;
    n_.s.set_pass(quick);
    n_.s.roles().sweep_passes->start_sweep();
    rows_of_vector(Part::full);
    n_.s.roles().sweep_passes->jump_if_clean(clean);
    c_.L(again);
    n_.s.set_pass(Pass::whole);
    rows_of_vector(Part::full);
    n_.s.finish(Part::full);
    c_.jmp(done, Xbyak::CodeGenerator::T_NEAR);
    c_.L(clean);
    n_.s.set_pass(quick);
    if (quick == Pass::first && !is_index) {
      n_.s.jump_if_settled(done, Part::full);
      c_.jmp(again, Xbyak::CodeGenerator::T_NEAR);
    } else {
      n_.s.finish(Part::full);
    }
    c_.L(done);
    n_.s.set_pass(Pass::whole);
  }

  /// The rows of a vector of columns at `in`, into set 0, some at a time.
  void rows_of_vector(Part part) {
    n_.s.init_totals();
    n_.s.init_set(0);
    each_rows(
        part == Part::full && !sweep_.is_staged() ? n_.s.traits().rows_in_registers : 1, n_.s.step_bytes(),
        [&](const std::vector<Memory>& rows) {
          n_.s.step_rows(0, rows);
          if (RowNumbers* const numbers = n_.s.roles().row_numbers) numbers->next_rows(static_cast<int>(rows.size()));
        },
        [&](const Reg64& row) { sweep_.step(row, part); });
    n_.s.flush(0);
  }

  /// All rows, from `in` down: `together` for `at_once` at a time, `alone` for each that is left, `bytes` of each.
  void each_rows(int at_once, int bytes, const std::function<void(const std::vector<Memory>&)>& together,
                 const std::function<void(const Reg64&)>& alone) {
    Gpr rows(n_.a), at(n_.a);
    Label again, single, done;
    rows_.load_count(rows);
    c_.mov(at, n_.in);
    if (at_once > 1) {
      std::optional<Gpr> stride3;
      if (at_once > 2) {
        stride3.emplace(n_.a);
        c_.lea(*stride3, c_.ptr[sweep_.row_stride.reg() + sweep_.row_stride.reg() * 2]);
      }
      c_.sub(rows, at_once);
      c_.jb(single);
      align_loop(c_);
      c_.L(again);
      const std::vector<Memory> places = places_of_streams(at, sweep_.row_stride, stride3, at_once);
      together(places);
      for (const Memory& row : places) ask_ahead(row, bytes);
      c_.lea(at, c_.ptr[at.reg() + sweep_.row_stride.reg() * at_once]);
      c_.sub(rows, at_once);
      c_.jae(again);
      c_.L(single);
      c_.add(rows, at_once);
    } else {
      c_.test(rows, rows);
    }
    c_.jz(done);
    Label one_more;
    c_.L(one_more);
    alone(at);
    ask_ahead(at.reg(), bytes);
    if (at_once != 2) {
      c_.add(at, sweep_.row_stride);
      c_.dec(rows);
      c_.jnz(one_more);
    }
    c_.L(done);
  }

  /// For as many lines of a row as `bytes` begin.
  void ask_ahead(const Memory& row, int bytes) {
    constexpr int kLine = 64;
    ask_next_block(n_, row, bytes);
    if (!n_.schedule.ahead) return;
    const int ahead = schedule::direct_ahead_bytes(n_.spec, n_.schedule.vector_level);
    for (int line = 0; line < bytes; line += kLine) c_.prefetcht0(c_.ptr[row + (ahead + line)]);
  }

  LoopNest& n_;
  Xbyak::CodeGenerator& c_;
  ColumnRows& rows_;
  ColumnSweep& sweep_;
  int most_sets_ = 1;
};

}  // namespace

void emit_direct_columns(LoopNest& nest, ColumnRows& rows, ColumnSweep& sweep) {
  DirectColumns(nest, rows, sweep).emit();
}

}  // namespace tenfold::jit
