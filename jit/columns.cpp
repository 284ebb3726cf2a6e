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
#include <bit>
#include <optional>

#include "jit/narrow_columns.hpp"
#include "jit/strips.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Label;
using Xbyak::Reg64;

class Columns {
 public:
  explicit Columns(Nest& nest)
      : n_(nest),
        c_(nest.c),
        reduced_(nest.other_levels(true)),
        row_stride_(nest.a),
        stream_(nest.a),
        p_(nest.a),
        q_(nest.a) {
    // Without a reduced level every output is one element: a single row, whose stride does not matter.
    inner_ = reduced_.empty() ? -1 : reduced_.back();
    if (!reduced_.empty()) reduced_.pop_back();
    staged_input_ = !n_.input_contiguous();
    rows_at_once_ = staged_input_ ? 1 : n_.schedule.rows_at_once;
  }

  void emit() {
    n_.over(n_.other_levels(false), [this] {
      c_.mov(n_.slot(frame::kNestInput), n_.in);
      n_.save_outputs(frame::kNestOutput, frame::kNestOutput2);
      load_row_stride();
      if (n_.schedule.columns == 0) {
        direct();
      } else {
        tiles();
      }
      c_.mov(n_.in, n_.slot(frame::kNestInput));
      n_.restore_outputs(frame::kNestOutput, frame::kNestOutput2);
    });
  }

 private:
  void load_row_stride() {
    if (inner_ >= 0) {
      n_.load_input_stride(row_stride_, inner_);
    } else {
      c_.xor_(row_stride_.r32(), row_stride_.r32());
    }
  }

  void load_rows(const Reg64& d) {
    if (inner_ >= 0) {
      n_.load_extent(d, inner_);
    } else {
      c_.mov(d.cvt32(), 1);
    }
  }

  void load_steps(const Reg64& d) {
    n_.load_extent(d, n_.schedule.vector_level);
    c_.shr(d, std::countr_zero(static_cast<unsigned>(n_.s.lanes())));
  }

  // ---- one vector of columns

  /// One row's step for the columns at `from`.
  void step(const Reg64& from, Part part) {
    const bool through_staging = staged_input_ || (part == Part::tail && !n_.s.loads_tails());
    if (!through_staging) {
      n_.s.step(0, from, part);
      return;
    }
    Gpr stride(n_.a), count(n_.a);
    n_.load_input_stride(stride, n_.schedule.vector_level);
    n_.load_count(count, part);
    if (part == Part::tail) {
      n_.stage_tail(from, stride, count);
    } else {
      n_.stage_in(from, stride, count);
    }
    n_.s.step(0, Nest::staging(), part);
  }

  /// Moves a pointer into the input on by `steps` vector steps.
  void advance(const Reg64& pointer, const Reg64& steps) {
    Gpr bytes(n_.a);
    if (n_.input_contiguous()) {
      c_.imul(bytes, steps, n_.s.step_bytes());
    } else {
      n_.load_input_stride(bytes, n_.schedule.vector_level);
      c_.imul(bytes, steps);
      c_.imul(bytes, bytes, n_.s.lanes());
    }
    c_.add(pointer, bytes);
  }

  // ---- direct

  void direct() {
    Gpr steps(n_.a), one(n_.a);
    Label again, partial, done;
    c_.mov(one.r32(), 1);
    load_steps(steps);
    c_.test(steps, steps);
    c_.jz(partial);
    c_.L(again);
    direct_vector(Part::full);
    advance(n_.in, one);
    n_.advance_outputs();
    c_.dec(steps);
    c_.jnz(again);
    c_.L(partial);
    c_.cmp(n_.slot(frame::kTailCount), 0);
    c_.jz(done);
    direct_vector(Part::tail);
    c_.L(done);
  }

  void direct_vector(Part part) {
    Gpr rows(n_.a);
    Label again, flush;
    n_.s.set_whole_steps(part == Part::full);
    n_.s.init_totals();
    n_.s.init_set(0);
    load_rows(rows);
    c_.mov(p_, n_.in);
    c_.test(rows, rows);
    c_.jz(flush);
    c_.L(again);
    step(p_, part);
    c_.add(p_, row_stride_);
    c_.dec(rows);
    c_.jnz(again);
    c_.L(flush);
    n_.s.flush(0);
    n_.s.set_whole_steps(false);
    n_.store_vector(part);
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
    each_record([this](const Reg64& record, Part) { n_.s.init_record(record); });
    reduce_tile();
    each_record([this](const Reg64& record, Part part) {
      n_.s.load_totals(record);
      n_.store_vector(part);
      if (part == Part::full) n_.advance_outputs();
    });
    c_.cmp(n_.slot(frame::kStepsLeft), 0);
    c_.jz(done);
    {
      Gpr steps(n_.a);
      c_.mov(steps, n_.slot(frame::kTileSteps));
      advance(n_.in, steps);
    }
    c_.jmp(tile);
    c_.L(done);
  }

  /// Tiles as wide as a strip have their accumulators in registers where they are whole.
  void reduce_tile() {
    Label general, reduced;
    if (is_strip(n_)) {
      c_.cmp(n_.slot(frame::kTileSteps), kStripSteps);
      c_.jne(general, Xbyak::CodeGenerator::T_NEAR);
      c_.cmp(n_.slot(frame::kTileTail), 0);
      c_.jne(general, Xbyak::CodeGenerator::T_NEAR);
      in_strip_ = true;
      n_.over(reduced_, [this] { chains(); });
      in_strip_ = false;
      c_.jmp(reduced, Xbyak::CodeGenerator::T_NEAR);
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

  /// `body` for each whole record of the tile, then for the partial one.
  template <class Body>
  void each_record(const Body& body) {
    Gpr record(n_.a), steps(n_.a);
    Label again, partial, done;
    c_.lea(record, c_.ptr[c_.rbp + frame::kRecords]);
    c_.mov(steps, n_.slot(frame::kTileSteps));
    c_.test(steps, steps);
    c_.jz(partial);
    c_.align(32);
    c_.L(again);
    n_.s.set_whole_steps(true);
    body(record, Part::full);
    n_.s.set_whole_steps(false);
    c_.add(record, n_.s.record_bytes());
    c_.dec(steps);
    c_.jnz(again);
    c_.L(partial);
    c_.cmp(n_.slot(frame::kTileTail), 0);
    c_.jz(done);
    body(record, Part::tail);
    c_.L(done);
  }

  /// All rows of the innermost reduced level, over the tile whose first column `in` stands at: as `rows_at_once`
  /// streams, each a run of consecutive rows (in order: of every so manieth row), side by side; then what is left, row
  /// by row.
  void chains() {
    Gpr rows(n_.a);
    c_.mov(q_, n_.in);
    n_.s.first_row();
    if (n_.schedule.width > 0 && (!n_.s.chained() || n_.s.in_order())) {
      load_rows(rows);
      NarrowColumns(n_).take_rows(q_, rows);
      sweeps(rows, 1);
      return;
    }
    if (rows_at_once_ > 1) {
      load_run(rows);
      if (n_.s.in_order()) {
        c_.mov(stream_, row_stride_);
      } else {
        c_.mov(stream_, rows);
        c_.imul(stream_, row_stride_);
      }
      if (n_.schedule.width > 0) NarrowColumns(n_).take_sweeps(q_, stream_, rows);
      sweeps(rows, rows_at_once_);
      // The first stream has ended where the second began.
      for (int stream = 1; stream < rows_at_once_ && !n_.s.in_order(); ++stream) c_.add(q_, stream_);
    }
    load_rows(rows);
    if (rows_at_once_ > 1) {
      Gpr run(n_.a);
      load_run(run);
      c_.shl(run, std::countr_zero(static_cast<unsigned>(rows_at_once_)));
      c_.sub(rows, run);
    }
    sweeps(rows, 1);
  }

  /// Rows of each stream.
  void load_run(const Reg64& d) {
    load_rows(d);
    n_.divide_into_streams(d, rows_at_once_, n_.s.in_order());
  }

  /// `count` sweeps of `at_once` rows each, from `q_` on; chains end after as many rows as the state says.
  void sweeps(const Reg64& count, int at_once) {
    if (in_strip_) return sweep_strip(n_, q_, row_stride_, stream_, count, at_once);
    Label again, done;
    if (!n_.s.chained()) {
      c_.test(count, count);
      c_.jz(done);
      c_.L(again);
      sweep(at_once);
      next_sweep(at_once);
      c_.dec(count);
      c_.jnz(again);
      c_.L(done);
      return;
    }
    Label next;
    c_.L(again);
    c_.test(count, count);
    c_.jz(done);
    {
      Gpr chain(n_.a);
      c_.mov(chain.r32(), n_.s.chain() / at_once);
      c_.cmp(count, chain);
      c_.cmovb(chain, count);
      c_.sub(count, chain);
      c_.mov(n_.slot(frame::kChainLeft), chain);
    }
    c_.L(next);
    sweep(at_once);
    next_sweep(at_once);
    c_.dec(n_.slot(frame::kChainLeft));
    c_.jnz(next);
    each_record([this](const Reg64& record, Part) { n_.s.flush_record(record); });
    c_.jmp(again);
    c_.L(done);
  }

  void next_sweep(int at_once) {
    c_.add(q_, row_stride_);
    if (!n_.s.in_order()) return;
    for (int row = 1; row < at_once; ++row) c_.add(q_, row_stride_);
    n_.s.next_rows(at_once);
  }

  /// One row of each of `at_once` streams over the tile.
  void sweep(int at_once) {
    std::optional<Gpr> stream3;
    c_.mov(p_, q_);
    if (at_once >= 4) {
      stream3.emplace(n_.a);
      c_.lea(*stream3, c_.ptr[stream_.reg() + stream_.reg() * 2]);
    }
    const auto take = [&](Pass pass) {
      each_record([&](const Reg64& record, Part part) {
        take_rows(record, at_once, part, pass, stream3);
        if (part == Part::tail) return;
        if (staged_input_) {
          Gpr one(n_.a);
          c_.mov(one.r32(), 1);
          advance(p_, one);
        } else {
          c_.add(p_, n_.s.step_bytes());
        }
      });
    };
    if (!n_.s.has_second_pass()) return take(Pass::whole);
    Label clean;
    n_.s.start_sweep();
    take(Pass::first);
    n_.s.jump_if_clean(clean);
    c_.mov(p_, q_);
    take(Pass::again);
    c_.L(clean);
    n_.s.set_pass(Pass::whole);
  }

  /// The rows of a sweep at `p_`, into one record.
  void take_rows(const Reg64& record, int at_once, Part part, Pass pass, const std::optional<Gpr>& stream3) {
    const auto take = [&](Pass which) {
      n_.s.set_pass(which);
      n_.s.load_set(record);
      if (part == Part::tail || staged_input_ || !n_.s.loads_tails()) {
        rows_one_by_one(at_once, part);
      } else {
        rows_together(at_once, stream3);
      }
      n_.s.store_set(record);
    };
    take(pass);
    if (pass != Pass::first || n_.s.second_pass_redoes()) return;
    // The rows of this step are in L1 when the second pass asks for them again, which it does only as long as some
    // column has seen nothing but negative elements (max) or none (min).
    Label settled;
    n_.s.jump_if_settled(settled, Part::full);
    take(Pass::second);
    c_.L(settled);
  }

  void rows_together(int at_once, const std::optional<Gpr>& stream3) {
    std::vector<Memory> places = places_of_streams(p_, stream_, stream3, std::min(at_once, 4));
    std::optional<Gpr> fifth;
    if (at_once == 8) {
      fifth.emplace(n_.a);
      c_.lea(*fifth, c_.ptr[p_.reg() + stream_.reg() * 4]);
      for (const Memory& place : places_of_streams(*fifth, stream_, stream3, 4)) places.push_back(place);
    }
    n_.s.step_rows(0, places);
    if (!n_.schedule.ahead || at_once < 4) return;
    // Where the rows of a sweep end before they have become a stream to the machine's own prefetching, ask for those of
    // the next one. Into L2: ArgMax f32 [1024, 4096] runs at 42 GB/s so, at 39 with prefetches into L1, at 37 with
    // none.
    Gpr next(n_.a);
    if (n_.s.in_order()) {
      c_.lea(next, c_.ptr[p_.reg() + stream_.reg() * 4]);
    } else {
      c_.lea(next, c_.ptr[p_.reg() + row_stride_.reg()]);
    }
    for (const Memory& place : places_of_streams(next, stream_, stream3, 4)) c_.prefetcht1(c_.ptr[place]);
    if (at_once < 8) return;
    c_.lea(next, c_.ptr[next.reg() + stream_.reg() * 4]);
    for (const Memory& place : places_of_streams(next, stream_, stream3, 4)) c_.prefetcht1(c_.ptr[place]);
  }

  void rows_one_by_one(int at_once, Part part) {
    if (at_once == 1) {
      step(p_, part);
      return;
    }
    Gpr from(n_.a);
    c_.mov(from, p_);
    for (int row = 0; row < at_once; ++row) {
      step(from, part);
      if (row + 1 < at_once) c_.add(from, stream_);
    }
  }

  Nest& n_;
  Xbyak::CodeGenerator& c_;
  std::vector<int> reduced_;  ///< levels outside the innermost reduced one
  int inner_ = -1;            ///< the innermost reduced level
  bool staged_input_ = false;
  int rows_at_once_ = 1;
  bool in_strip_ = false;
  Gpr row_stride_, stream_, p_, q_;
};

}  // namespace

void emit_columns(Nest& nest) { Columns(nest).emit(); }

}  // namespace tenfold::jit
