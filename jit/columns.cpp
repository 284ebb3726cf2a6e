// SPDX-License-Identifier: Apache-2.0
//
// The columns nest: lanes are neighbouring outputs. Two forms:
//
// direct (schedule.columns == 0): at most kChain rows; one vector of columns at a time, its accumulator in registers.
//
// tiled: the accumulators of a tile of columns lie in records in L1. The rows of the innermost reduced level are swept
// over the tile as `rows_at_once` streams side by side, each a run of consecutive rows that memory delivers in order.
// Chained reductions are flushed into f64 after kChain rows: kChain / rows_at_once from each stream. So a chain depends
// on the number of rows alone, never on the tile. States that must see rows in their order (arg-reductions) get
// adjacent rows instead: each sweep takes the next `rows_at_once`.
#include "schedule/columns.hpp"

#include <bit>
#include <optional>

#include "jit/column_sweep.hpp"
#include "jit/grouped_sweeps.hpp"
#include "jit/narrow_columns.hpp"
#include "jit/strips.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Label;
using Xbyak::Reg64;

class Columns {
 public:
  explicit Columns(Nest& nest) : n_(nest), c_(nest.c), reduced_(nest.other_levels(true)), sweep_(nest) {
    // Without a reduced level every output is one element: a single row, whose stride does not matter.
    inner_ = reduced_.empty() ? -1 : reduced_.back();
    if (!reduced_.empty()) reduced_.pop_back();
    if (sweeps_groups(n_)) n_.s.keep_totals_apart();
    rows_at_once_ = sweep_.is_staged() ? 1 : n_.schedule.rows_at_once;
  }

  void emit() {
    n_.over(n_.other_levels(false), [this] {
      c_.mov(n_.slot(frame::kNestInput), n_.in);
      n_.save_outputs(frame::kNestOutput, frame::kNestOutput2);
      load_row_stride();
      if (n_.runs_over) run_over();
      if (n_.schedule.columns == 0) {
        direct();
      } else {
        tiles();
      }
      c_.mov(n_.in, n_.slot(frame::kNestInput));
      n_.restore_outputs(frame::kNestOutput, frame::kNestOutput2);
    });
    if (n_.schedule.around) c_.sfence();
  }

 private:
  void load_row_stride() {
    if (inner_ >= 0) {
      n_.load_input_stride(sweep_.row_stride, inner_);
    } else {
      c_.xor_(sweep_.row_stride.r32(), sweep_.row_stride.r32());
    }
  }

  void load_rows(const Reg64& d) {
    if (inner_ >= 0) {
      n_.load_extent(d, inner_);
    } else {
      c_.mov(d.cvt32(), 1);
    }
  }

  /// As long as enough columns follow, in this block and those behind it, the partial step is a whole one.
  void run_over() {
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

  void load_steps(const Reg64& d) {
    if (n_.runs_over) {
      c_.mov(d, n_.slot(frame::kColumnSteps));
      return;
    }
    n_.load_extent(d, n_.schedule.vector_level);
    c_.shr(d, std::countr_zero(static_cast<unsigned>(n_.s.lanes())));
  }

  // ---- direct

  void direct() {
    Gpr steps(n_.a), one(n_.a);
    Label partial, done;
    c_.mov(one.r32(), 1);
    load_steps(steps);
    c_.test(steps, steps);
    c_.jz(partial);
    n_.store_either_way([&] {
      Label again;
      c_.L(again);
      direct_vector(Part::full);
      sweep_.advance(n_.in, one);
      n_.advance_outputs();
      c_.dec(steps);
      c_.jnz(again);
    });
    c_.L(partial);
    c_.cmp(n_.slot(frame::kTailCount), 0);
    c_.jz(done);
    if (n_.ends_whole) {
      n_.step_back(n_.in, n_.s.input_bytes());
      n_.step_outputs_back();
    }
    direct_vector(n_.ends_whole ? Part::full : Part::tail);
    c_.L(done);
  }

  void direct_vector(Part part) {
    n_.s.set_whole_steps(part == Part::full);
    // Past a tail are start values, which settle nothing.
    if (part == Part::full && n_.s.has_quick_pass()) {
      quick_vector();
    } else {
      direct_rows(part);
      n_.s.set_whole_steps(false);
      n_.s.finish(Part::full);
    }
    n_.s.set_whole_steps(false);
    n_.store_finished(part);
  }

  /// Of many rows one has most likely the sign that settles an extreme. All columns must.
  void quick_vector() {
    const Pass quick = has_rows_that_settle(n_.spec) ? Pass::first : Pass::numbers;
    Label clean, again, done;
    n_.s.set_pass(quick);
    n_.s.start_sweep();
    direct_rows(Part::full);
    n_.s.jump_if_clean(clean);
    c_.L(again);
    n_.s.set_pass(Pass::whole);
    direct_rows(Part::full);
    n_.s.finish(Part::full);
    c_.jmp(done, Xbyak::CodeGenerator::T_NEAR);
    c_.L(clean);
    n_.s.set_pass(quick);
    if (quick == Pass::first) {
      n_.s.jump_if_settled(done, Part::full);
      c_.jmp(again, Xbyak::CodeGenerator::T_NEAR);
    } else {
      n_.s.finish(Part::full);
    }
    c_.L(done);
    n_.s.set_pass(Pass::whole);
  }

  /// The rows of a vector of columns at `in`, into set 0, two at a time.
  void direct_rows(Part part) {
    Gpr rows(n_.a), at(n_.a);
    Label again, single, flush;
    n_.s.init_totals();
    n_.s.init_set(0);
    load_rows(rows);
    c_.mov(at, n_.in);
    if (part == Part::full && !sweep_.is_staged() && !n_.s.in_order()) {
      c_.sub(rows, 2);
      c_.jb(single);
      align_loop(c_);
      c_.L(again);
      const std::vector<Memory> pair{at.reg(), at.reg() + sweep_.row_stride.reg()};
      n_.s.step_rows(0, pair);
      for (const Memory& row : pair) ask_ahead(row);
      c_.lea(at, c_.ptr[at.reg() + sweep_.row_stride.reg() * 2]);
      c_.sub(rows, 2);
      c_.jae(again);
      c_.L(single);
      c_.cmp(rows, -1);
      c_.jne(flush);
      sweep_.step(at, part);
      ask_ahead(at.reg());
    } else {
      c_.test(rows, rows);
      c_.jz(flush);
      c_.L(again);
      sweep_.step(at, part);
      ask_ahead(at.reg());
      c_.add(at, sweep_.row_stride);
      c_.dec(rows);
      c_.jnz(again);
    }
    c_.L(flush);
    n_.s.flush(0);
  }

  void ask_ahead(const Memory& row) {
    if (n_.schedule.ahead) c_.prefetcht0(c_.ptr[row + schedule::direct_ahead_bytes(n_.spec, n_.schedule.vector_level)]);
  }

  // ---- tiled

  void tiles() {
    Label tile, done;
    {
      Gpr steps(n_.a);
      load_steps(steps);
      c_.mov(n_.slot(frame::kStepsLeft), steps);
    }
    c_.L(tile);
    take_tile();
    sweep_.each_record([this](const Reg64& record, Part) { n_.s.init_record(record); });
    reduce_tile();
    n_.store_either_way([this] {
      sweep_.each_record(
          [this](const Reg64& record, Part part) {
            n_.s.load_totals(record);
            if (sweeps_groups(n_)) n_.s.join_totals();
            n_.store_vector(part);
            if (part == Part::full) n_.advance_outputs();
          },
          [this] { n_.step_outputs_back(); });
    });
    c_.cmp(n_.slot(frame::kStepsLeft), 0);
    c_.jz(done);
    {
      Gpr steps(n_.a);
      c_.mov(steps, n_.slot(frame::kTileSteps));
      sweep_.advance(n_.in, steps);
    }
    c_.jmp(tile);
    c_.L(done);
  }

  /// Tiles as wide as a strip have their accumulators in registers where they are whole.
  void reduce_tile() {
    Label general, reduced;
    if (is_strip(n_)) {
      c_.cmp(n_.slot(frame::kTileSteps), kStripSteps);
      c_.jne(general);
      c_.cmp(n_.slot(frame::kTileTail), 0);
      c_.jne(general);
      in_strip_ = true;
      n_.over(reduced_, [this] { chains(); });
      in_strip_ = false;
      c_.jmp(reduced);
    }
    c_.L(general);
    n_.over(reduced_, [this] { chains(); });
    c_.L(reduced);
  }

  /// Sets kTileSteps and kTileTail. What is left after the widest tiles is shared by two, as a narrow last tile would
  /// read slivers of rows; the last one takes the partial step along.
  void take_tile() {
    Gpr steps(n_.a), left(n_.a), limit(n_.a);
    Label all, not_last;
    c_.mov(left, n_.slot(frame::kStepsLeft));
    c_.mov(limit.r32(), static_cast<std::uint32_t>(n_.schedule.columns / n_.s.lanes()));
    c_.mov(steps, left);
    c_.cmp(left, limit);
    c_.jbe(all);
    c_.inc(steps);
    c_.shr(steps, 1);
    c_.cmp(steps, limit);
    c_.cmova(steps, limit);
    c_.L(all);
    c_.sub(left, steps);
    c_.mov(n_.slot(frame::kStepsLeft), left);
    c_.mov(n_.slot(frame::kTileSteps), steps);
    Gpr tail(n_.a);
    c_.xor_(tail.r32(), tail.r32());
    c_.test(left, left);
    c_.jnz(not_last);
    c_.mov(tail, n_.slot(frame::kTailCount));
    c_.L(not_last);
    c_.mov(n_.slot(frame::kTileTail), tail);
  }

  /// All rows of the innermost reduced level, over the tile whose first column `in` stands at: as `rows_at_once`
  /// streams, each a run of consecutive rows (for states that combine in order: every n-th row), side by side; then
  /// what is left over.
  void chains() {
    Gpr rows(n_.a);
    c_.mov(sweep_.first, n_.in);
    n_.s.first_row();
    if (n_.schedule.width > 0 && !n_.s.is_sum()) {
      load_rows(rows);
      NarrowColumns(n_).take_rows(sweep_.first, rows);
      sweeps(rows, 1);
      return;
    }
    if (rows_at_once_ > 1) {
      load_run(rows);
      if (n_.s.in_order()) {
        c_.mov(sweep_.stream, sweep_.row_stride);
      } else {
        c_.mov(sweep_.stream, rows);
        c_.imul(sweep_.stream, sweep_.row_stride);
      }
      if (n_.schedule.width > 0) NarrowColumns(n_).take_sweeps(sweep_.first, sweep_.stream, rows);
      sweeps(rows, rows_at_once_);
      // The first stream has ended where the second began.
      for (int stream = 1; stream < rows_at_once_ && !n_.s.in_order(); ++stream) c_.add(sweep_.first, sweep_.stream);
    }
    load_rows(rows);
    if (rows_at_once_ == 1) return sweeps(rows, 1);
    {
      Gpr run(n_.a);
      load_run(run);
      c_.shl(run, std::countr_zero(static_cast<unsigned>(rows_at_once_)));
      c_.sub(rows, run);
    }
    left_over(rows, rows_at_once_);
  }

  /// Rows of each stream.
  void load_run(const Reg64& d) {
    load_rows(d);
    n_.divide_into_streams(d, rows_at_once_, n_.s.in_order());
  }

  /// `count` sweeps of `at_once` rows each, from `first` on; chains end after as many rows as the state says.
  void sweeps(const Reg64& count, int at_once) {
    if (in_strip_) return sweep_strip(n_, sweep_.first, sweep_.row_stride, sweep_.stream, count, at_once);
    if (at_once > 1 && sweeps_groups(n_)) {
      sweep_.take_groups(count);
      return flush_records();
    }
    if (n_.s.is_sum()) return chained_sweeps(count, at_once);
    Label again, next, done;
    c_.L(again);
    c_.test(count, count);
    c_.jz(done);
    if (!n_.s.chained()) {
      sweep_.take(at_once, {false, false});
      c_.dec(count);
      c_.jmp(again);
      c_.L(done);
      return;
    }
    take_chain(count, at_once);
    c_.L(next);
    sweep_.take(at_once, {false, false});
    c_.dec(n_.slot(frame::kChainLeft));
    c_.jnz(next);
    flush_records();
    c_.jmp(again);
    c_.L(done);
  }

  /// Those of sums: the first sweep of a chain has no set to load, and the last one none to store.
  void chained_sweeps(const Reg64& count, int at_once) {
    Label chain, between, last, only, done;
    const auto take = [&](ColumnSweep::Of of) { sweep_.take(at_once, of); };
    c_.L(chain);
    c_.test(count, count);
    c_.jz(done);
    take_chain(count, at_once);
    c_.cmp(n_.slot(frame::kChainLeft), 1);
    c_.je(only);
    take({true, false});
    c_.L(between);
    c_.dec(n_.slot(frame::kChainLeft));
    c_.cmp(n_.slot(frame::kChainLeft), 1);
    c_.je(last);
    take({false, false});
    c_.jmp(between);
    c_.L(last);
    take({false, true});
    c_.jmp(chain);
    c_.L(only);
    take({true, true});
    c_.jmp(chain);
    c_.L(done);
  }

  /// Chains into totals; new ones begin.
  void flush_records() {
    sweep_.each_record([this](const Reg64& record, Part) { n_.s.flush_record(record); });
  }

  /// As many of `count` sweeps as a chain has, or as there are, to kChainLeft.
  void take_chain(const Reg64& count, int at_once) {
    Gpr chain(n_.a);
    c_.mov(chain.r32(), n_.s.chain() / at_once);
    c_.cmp(count, chain);
    c_.cmovb(chain, count);
    c_.sub(count, chain);
    c_.mov(n_.slot(frame::kChainLeft), chain);
  }

  /// `rows` rows that streams have left over, less than two sweeps of `at_once`, in as few sweeps as give the order of
  /// one by one.
  void left_over(const Reg64& rows, int at_once) {
    if (in_strip_ || n_.s.in_order() || sweep_.is_staged()) return sweeps(rows, 1);
    if (n_.s.is_sum()) {
      Label done;
      c_.test(rows, rows);
      c_.jz(done);
      sweep_.each_record([this](const Reg64& record, Part) {
        n_.s.init_set(0);
        n_.s.store_set(record);
      });
      halves(rows, at_once);
      // Groups begin with what the record's chain has.
      sweeps_groups(n_) ? flush_records() : sweep_.end_chain();
      c_.L(done);
    } else {
      halves(rows, at_once);
    }
  }

  /// Sweeps of `at_once` adjacent rows, of half as many, and so on, as the bits of `rows` say.
  void halves(const Reg64& rows, int at_once) {
    c_.mov(sweep_.stream, sweep_.row_stride);
    for (int size = at_once; size > 0; size /= 2) {
      Label none;
      c_.test(rows, size);
      c_.jz(none);
      sweep_.take(size, {false, false});
      for (int row = 1; row < size; ++row) c_.add(sweep_.first, sweep_.row_stride);
      c_.L(none);
    }
  }

  Nest& n_;
  Xbyak::CodeGenerator& c_;
  std::vector<int> reduced_;  ///< levels outside the innermost reduced one
  int inner_ = -1;            ///< the innermost reduced level
  int rows_at_once_ = 1;
  bool in_strip_ = false;
  ColumnSweep sweep_;
};

}  // namespace

bool has_rows_that_settle(const kernel::KernelSpec& spec) {
  // Of so many random elements, all have the other sign once in 256 columns.
  constexpr std::int64_t kRowsThatSettle = 8;
  return kernel::reduced_count(spec) >= kRowsThatSettle;
}

void emit_columns(Nest& nest) { Columns(nest).emit(); }

}  // namespace tenfold::jit
