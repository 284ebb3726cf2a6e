// SPDX-License-Identifier: Apache-2.0
//
// The columns nest: lanes are neighbouring outputs. Two forms:
//
// direct (schedule.columns == 0): at most schedule::most_rows_in_registers(), see direct.hpp.
//
// tiled: the accumulators of a tile of columns lie in records in L1. The rows of the innermost reduced level are swept
// over the tile as `rows_at_once` streams side by side, each a run of consecutive rows that memory delivers in order.
// Chained reductions are flushed into f64 after kChain rows: kChain / rows_at_once from each stream. So a chain depends
// on the number of rows alone, never on the tile. States that must see rows in their order (arg-reductions, sums
// of f64) get adjacent rows instead: each sweep takes the next `rows_at_once`.
#include "jit/columns/columns.hpp"

#include <bit>

#include "jit/columns/direct.hpp"
#include "jit/columns/grouped_sweeps.hpp"
#include "jit/columns/narrow.hpp"
#include "jit/columns/row_search.hpp"
#include "jit/columns/strips.hpp"
#include "jit/columns/sweep.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Label;
using Xbyak::Reg64;

class Columns {
 public:
  explicit Columns(LoopNest& nest)
      : n_(nest),
        c_(nest.c),
        reduced_(nest.other_levels(true)),
        rows_(nest),
        rows_at_once_(nest.schedule.rows_at_once),
        sweep_(nest) {
    if (!reduced_.empty()) reduced_.pop_back();
    if (sweeps_groups(n_)) n_.s.roles().chains->keep_totals_apart();
    if (nest.schedule.searches) n_.s.roles().row_search->remember_sweeps(rows_at_once_);
  }

  void emit() {
    n_.over(n_.other_levels(false), [this] {
      c_.mov(n_.slot(frame::kNestInput), n_.in);
      n_.save_outputs(frame::kNestOutput, frame::kNestOutput2);
      rows_.load_stride(sweep_.row_stride);
      if (n_.runs_over) rows_.run_over();
      if (n_.schedule.columns == 0) {
        emit_direct_columns(n_, rows_, sweep_);
      } else {
        tiles();
      }
      c_.mov(n_.in, n_.slot(frame::kNestInput));
      n_.restore_outputs(frame::kNestOutput, frame::kNestOutput2);
    });
    if (n_.schedule.around) c_.sfence();
  }

 private:
  void tiles() {
    Label tile, done;
    {
      Gpr steps(n_.a);
      rows_.load_steps(steps);
      c_.mov(n_.slot(frame::kStepsLeft), steps);
    }
    c_.L(tile);
    take_tile();
    sweep_.each_record([this](const Reg64& record, Part) { n_.s.init_record(record); });
    reduce_tile();
    if (n_.schedule.searches && n_.schedule.width == 0) search_tile();
    n_.store_either_way([this] {
      sweep_.each_record(
          [this](const Reg64& record, Part part) {
            n_.s.load_totals(record);
            if (sweeps_groups(n_)) n_.s.roles().chains->join_totals();
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

  void search_tile() {
    Gpr columns(n_.a);
    RowSearcher search(n_);
    rows_.load_count(columns);
    search.begin(columns, sweep_.row_stride);
    c_.mov(columns, n_.in);
    sweep_.each_record([&](const Reg64& record, Part part) { search.record(record, columns, part); },
                       [&] { n_.step_back(columns, n_.s.input_bytes()); });
    search.end();
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
    if (RowNumbers* const numbers = n_.s.roles().row_numbers) numbers->first_row();
    if (n_.schedule.width > 0 && !n_.s.is_sum()) {
      rows_.load_count(rows);
      NarrowColumns(n_).take_rows(sweep_.first, rows);
      sweeps(rows, 1);
      return;
    }
    if (rows_at_once_ > 1) {
      load_run(rows);
      if (n_.s.traits().in_order) {
        c_.mov(sweep_.stream, sweep_.row_stride);
      } else {
        c_.mov(sweep_.stream, rows);
        c_.imul(sweep_.stream, sweep_.row_stride);
      }
      if (n_.schedule.width > 0) NarrowColumns(n_).take_sweeps(sweep_.first, sweep_.stream, rows);
      sweeps(rows, rows_at_once_);
      // The first stream has ended where the second began.
      for (int stream = 1; stream < rows_at_once_ && !n_.s.traits().in_order; ++stream)
        c_.add(sweep_.first, sweep_.stream);
    }
    rows_.load_count(rows);
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
    rows_.load_count(d);
    n_.divide_into_streams(d, rows_at_once_, n_.s.traits().in_order);
  }

  /// `count` sweeps of `at_once` rows each, from `first` on; chains end after as many rows as the state says.
  void sweeps(const Reg64& count, int at_once) {
    if (in_strip_) return sweep_strip(n_, sweep_.first, sweep_.row_stride, sweep_.stream, count, at_once);
    if (at_once > 1 && sweeps_groups(n_)) {
      sweep_.take_groups(count);
      return flush_records();
    }
    if (n_.s.is_sum()) return n_.schedule.turns > 0 ? sweeps_in_turn(count, at_once) : chained_sweeps(count, at_once);
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

  /// The same a row at a time, in the order of the others.
  void sweeps_in_turn(const Reg64& count, int at_once) {
    Label chain, next, done;
    c_.L(chain);
    c_.test(count, count);
    c_.jz(done);
    take_chain(count, at_once);
    begin_chains();
    c_.L(next);
    sweep_.take_in_turn(at_once);
    c_.dec(n_.slot(frame::kChainLeft));
    c_.jnz(next);
    sweep_.end_chain();
    c_.jmp(chain);
    c_.L(done);
  }

  void begin_chains() {
    sweep_.each_record([this](const Reg64& record, Part) {
      n_.s.init_set(0);
      n_.s.store_set(record);
    });
  }

  /// Chains into totals; new ones begin.
  void flush_records() {
    sweep_.each_record([this](const Reg64& record, Part) { n_.s.flush_record(record); });
  }

  /// As many of `count` sweeps as a chain has, or as there are, to kChainLeft.
  void take_chain(const Reg64& count, int at_once) {
    Gpr chain(n_.a);
    c_.mov(chain.r32(), n_.s.traits().chain / at_once);
    c_.cmp(count, chain);
    c_.cmovb(chain, count);
    c_.sub(count, chain);
    c_.mov(n_.slot(frame::kChainLeft), chain);
  }

  /// `rows` rows that streams have left over, less than two sweeps of `at_once`, in as few sweeps as give the order of
  /// one by one.
  void left_over(const Reg64& rows, int at_once) {
    if (in_strip_ || n_.s.traits().in_order || sweep_.is_staged()) return sweeps(rows, 1);
    if (n_.s.is_sum()) {
      Label done;
      c_.test(rows, rows);
      c_.jz(done);
      begin_chains();
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

  LoopNest& n_;
  Xbyak::CodeGenerator& c_;
  std::vector<int> reduced_;  ///< levels outside the innermost reduced one
  ColumnRows rows_;
  int rows_at_once_;
  bool in_strip_ = false;
  ColumnSweep sweep_;
};

}  // namespace

bool has_rows_that_settle(const kernel::KernelSpec& spec) {
  // Of so many random elements, all have the other sign once in 256 columns.
  constexpr std::int64_t kRowsThatSettle = 8;
  return kernel::reduced_count(spec) >= kRowsThatSettle;
}

void emit_columns(LoopNest& nest) { Columns(nest).emit(); }

}  // namespace tenfold::jit
