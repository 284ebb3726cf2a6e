// SPDX-License-Identifier: Apache-2.0
//
// Staged columns: lanes run across outputs. A tile of columns has a record in scratch for each vector of them. Each
// pass sweeps all rows of the tile; sets are flushed into totals after every kChain rows.
#include <algorithm>
#include <bit>
#include <optional>
#include <span>

#include "jit/assembler/frame.hpp"
#include "jit/lane/emit.hpp"
#include "jit/stage/centred.hpp"
#include "jit/stage/pass_order.hpp"
#include "jit/stage/side_by_side.hpp"
#include "jit/staged/column_ahead.hpp"
#include "schedule/body.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Label;
using Xbyak::Reg64;

class StagedColumns final : ColumnAhead {
 public:
  StagedColumns(Assembler& assembler, const Stages& stages, const kernel::KernelSpec& spec,
                const schedule::Schedule& schedule)
      : ColumnAhead(assembler, stages, spec, schedule),
        backward_(schedule.serpentine ? find_backward_passes(stages) : find_reverse_passes(stages)) {}

  std::int64_t emit() {
    start();
    walk_.over(outside(), 0, [&](std::size_t depth) { tiles(depth); });
    return end();
  }

 private:
  // Slots of the frame: the columns of half a partial vector.
  static constexpr int kHalfCount = frame::kNestOutput;
  // Where pilots are made or moved: rows so far, as an integer, as f64 or one over it, and how many the next time.
  static constexpr int kRowsTaken = frame::kChainLeft;
  static constexpr int kTakenAs = frame::kStreamRows;
  static constexpr int kRecentreAt = frame::kStreamOutput;
  /// Slots of the numbers of a sweep's rows, along the reduced level.
  static constexpr int row_number(int row) { return frame::kRows + frame::kSlot * row; }

  /// Kept levels around the tile, and those inside its blocks if these are turned.
  std::vector<int> outside() const {
    std::vector<int> kept = levels(false);
    if (turns()) std::erase_if(kept, [this](int level) { return level >= first_inside(); });
    return kept;
  }
  std::vector<int> inside() const {
    std::vector<int> kept = levels(false);
    std::erase_if(kept, [this](int level) { return level < first_inside(); });
    return kept;
  }

  void tiles(std::size_t depth) {
    Label tile;
    tile_.start();
    c_.L(tile);
    tile_.take();
    if (turns() && kernel::is_ordered(spec_)) {
      passes_of_lines(depth);
    } else if (turns()) {
      turned_passes(depth);
    } else {
      passes(depth);
    }
    tile_.go_on(tile);
  }

  /// Those of a tile whose blocks are turned into scratch before, and back behind them.
  void turned_passes(std::size_t depth) {
    turn(Turn::in, depth);
    {
      const Gpr first(a_);
      tile_.load_first(first);
      walk_.enter_turned(depth, first);
    }
    walk_.over(inside(), depth + 1, [this](std::size_t within) { passes(within); });
    turn(Turn::out, depth);
  }

  /// The one pass over lines, of which a piece at a time is turned into scratch, and back.
  void passes_of_lines(std::size_t depth) {
    const StagePass& of = stages_.passes[0];
    rows(stages_.rows[0], depth);
    start_sweeps(of);
    each_piece(backward_[0], [&](bool is_short) { piece_of_lines(of, depth, is_short); });
    rows(stages_.rows.back(), depth);
  }

  void piece_of_lines(const StagePass& of, std::size_t depth, bool is_short) {
    walk_.cut(kernel::innermost(spec_, true), kPieceFirst, kPieceExtent);
    turn(Turn::in, depth, is_short);
    {
      const Gpr first(a_);
      tile_.load_first(first);
      walk_.enter_turned(depth, first);
    }
    if (schedule_.ahead && !is_short) ask_for_piece(depth, backward_[0]);
    walk_.set_backwards(backward_[0]);
    take_rows(of, depth + 1);
    walk_.set_backwards(false);
    turn(Turn::out, depth, is_short);
    walk_.cut(-1);
  }

  void passes(std::size_t depth) {
    // What scratch keeps of a tile, it keeps of a part at a time.
    const auto first_in_parts = in_parts_ ? static_cast<std::size_t>(stages_.kept.pass) : stages_.passes.size();
    for (std::size_t of = 0; of < first_in_parts; ++of) pass(of, depth);
    if (in_parts_) {
      takes_part_ = true;
      tile_.each_part(record_bytes_, [&] {
        for (std::size_t of = first_in_parts; of < stages_.passes.size(); ++of) pass(of, depth);
        rows(stages_.rows.back(), depth);
      });
      takes_part_ = false;
    } else {
      rows(stages_.rows.back(), depth);
    }
  }

  void pass(std::size_t number, std::size_t depth) {
    const StagePass& of = stages_.passes[number];
    rows(stages_.rows[number], depth);
    pilot(of, depth);
    walk_.set_backwards(backward_[number]);
    sweeps(of, depth);
    if (!of.second_look.empty()) look_again(of, depth);
    walk_.set_backwards(false);
  }

  /// All rows of the tile.
  void sweeps(const StagePass& of, std::size_t depth) {
    start_sweeps(of);
    if (touches_kept(of.step)) start_kept();
    each_way(of, [&] { take_rows(of, depth); });
    end_chain(of);
  }

  void start_sweeps(const StagePass& of) {
    fill_identities(of);
    c_.mov(slot(kRowsLeft), schedule::kChain);
    c_.mov(slot(kRowsTaken), 0);
    c_.mov(slot(kRecentreAt), 2 * kPilotElements);
    if (reads_numbers(of.step))
      for (int row = 0; row < schedule_.rows_at_once; ++row) c_.mov(slot(row_number(row)), row);
  }

  /// For a tile of which the pass leaves a column open.
  void look_again(const StagePass& pass, std::size_t depth) {
    Label open, settled;
    each_vector([&](const Reg64&, const Reg64& record, Part) { jump_if_open(pass.question, record, open); });
    c_.jmp(settled, Xbyak::CodeGenerator::T_NEAR);
    c_.L(open);
    rows(pass.shifts, depth);
    sweeps(pass.second_look[0], depth);
    c_.L(settled);
  }

  /// If any lane of the record is.
  void jump_if_open(const StageProgram& question, const Reg64& record, const Label& open) {
    LaneLayer& layer = layer_for(question);
    for (int lane = 0; lane < lanes_; lane += layer.lanes()) {
      run(
          question, layer,
          [&](const StagePlace& from, Vec d) {
            load_lanes(layer, d, from.type, record + (total_of(from.index) + lane * lane_bytes(from.type)));
          },
          [&](const StagePlace& to, Vec s) { store_lanes(layer, s, to.type, c_.rbp + frame::kStaging); });
      test_any(layer.lanes() * lane_bytes(question.results[0].type));
      c_.jnz(open, Xbyak::CodeGenerator::T_NEAR);
    }
  }

  void take_rows(const StagePass& pass, std::size_t depth) {
    const std::vector<int> reduced = levels(true);
    const auto outer = std::span(reduced).first(reduced.empty() ? 0 : reduced.size() - 1);
    walk_.over(outer, depth, [&](std::size_t inner) {
      if (reduced.empty()) {
        chain(pass, inner, 1);
      } else {
        walk_.over_rows(reduced.back(), inner, rows_at_once(pass), c_.rbp + kRowsLeft,
                        [&](std::size_t row, int rows) { chain(pass, row, rows); });
      }
    });
  }

  /// How many rows a sweep takes: what the schedule says, less for long steps, which would fill the code cache, and one
  /// where neither the sets nor what the rows have saved can stay in vectors from row to row.
  int rows_at_once(const StagePass& pass) const {
    constexpr std::size_t kMostNodes = 192;
    // Elements times a row's value, f32 [1024, 4096], written: 1.38 ms with eight rows, 1.04 with four, 1.2 with two.
    constexpr int kMostWritten = 4, kMostAround = 2;
    const PassVectors& vectors = vectors_of(pass);
    const bool keeps =
        pass.reductions.empty() ? !vectors.saved_slots().empty() : vectors.set(pass.reductions[0], 0) >= 0;
    const int most_around = passes_on(pass) ? schedule_.stored : kMostAround;
    const int most = !writes(pass) ? schedule_.rows_at_once : around_ ? most_around : kMostWritten;
    int rows = keeps ? std::min(schedule_.rows_at_once, most) : 1;
    while (rows > 1 && static_cast<std::size_t>(rows) * pass.step.lanes.nodes.size() > kMostNodes) rows /= 2;
    return rows;
  }

  /// Sweeps rows that belong to one chain. One that takes several flushes full sums from vectors.
  void chain(const StagePass& pass, std::size_t depth, int rows) {
    if (rows == 1 && has_chains(pass)) begin_chain(pass);
    sweep(pass, depth, rows);
    if (!has_chains(pass)) return;
    Label not_yet;
    c_.sub(slot(kRowsLeft), rows);
    c_.jnz(not_yet, Xbyak::CodeGenerator::T_NEAR);
    if (rows == 1) flush(pass);
    recentre(pass);
    c_.mov(slot(kRowsLeft), schedule::kChain);
    c_.L(not_yet);
  }

  /// Flushes the chain that the last row has left open.
  void end_chain(const StagePass& pass) {
    if (!has_chains(pass)) return;
    Label ended;
    c_.cmp(slot(kRowsLeft), schedule::kChain);
    c_.je(ended, Xbyak::CodeGenerator::T_NEAR);
    flush(pass);
    c_.L(ended);
  }

  /// One row of the tile, or several. Columns past the tail compute what nobody reads.
  void sweep(const StagePass& pass, std::size_t depth, int rows) {
    const OperandWalk::KeptPointers pointers(walk_, depth);
    std::optional<Gpr> kept;
    if (touches_kept(pass.step)) c_.mov(kept.emplace(a_), slot(kKeptRow));
    const int kept_step = walk_.goes_backwards() ? -kept_row_bytes() : kept_row_bytes();
    const OfSweep ahead = ahead_of(pass, rows);
    if (rows > 1) layer_->hold(vectors_of(pass).constants(), vectors_of(pass).free());
    each_vector([&](const Reg64& index, const Reg64& record, Part part) {
      const auto at = [&](int row) {
        return OperandWalk::At{row == 0 ? depth : walk_.beside(row), index, part, tail_count(), 0, true, around_};
      };
      ask(ahead, rows, at);
      if (rows > 1) load_vectors(pass, record);
      for (int row = 0; row < rows; ++row) {
        if (kept) kept_at_ = kept->reg() + index * kKeptBytes + row * kept_step;
        row_ = row;
        Label skipped;
        if (schedule_.skips) jump_unless_any_enters(pass, at(row), record, rows > 1, skipped);
        step(pass, pass.step, at(row), record, rows > 1);
        c_.L(skipped);
      }
      if (rows > 1) store_sets(pass, record, rows);
    });
    if (kept) c_.add(slot(kKeptRow), rows * kept_step);
    if (reads_numbers(pass.step))
      for (int row = 0; row < schedule_.rows_at_once; ++row) c_.add(slot(row_number(row)), rows);
    layer_->hold({}, 0);
  }

  void jump_unless_any_enters(const StagePass& pass, const OperandWalk::At& at, const Reg64& record, bool in_vectors,
                              const Label& none) {
    step(pass, pass.enters, at, record, in_vectors);
    test_any(lanes_ * lane_bytes(pass.enters.results[0].type));
    c_.jz(none, Xbyak::CodeGenerator::T_NEAR);
  }

  /// Whether any of so many bytes of a mask in the staging area is set.
  void test_any(int bytes) {
    const Memory mask = c_.rbp + frame::kStaging;
    const Xbyak::Ymm any(0);  // programs begin with it
    c_.vmovdqu(any, c_.ptr[mask]);
    for (int at = 32; at < bytes; at += 32) c_.vpor(any, any, c_.ptr[mask + at]);
    c_.vptest(any, any);
  }

  void step(const StagePass& pass, const StageProgram& program, const OperandWalk::At& at, const Reg64& record,
            bool in_vectors) {
    const PassVectors& vectors = vectors_of(pass);
    run(
        program, *layer_,
        [&](const StagePlace& from, Vec d) {
          switch (from.kind) {
            case StagePlace::Kind::operand:
              access_.load(*layer_, static_cast<std::size_t>(from.index), d, at, from.type);
              break;
            case StagePlace::Kind::set: load_lanes(*layer_, d, from.type, record + set_of(from.index)); break;
            case StagePlace::Kind::kept: load_lanes(*layer_, d, from.type, kept_at_); break;
            case StagePlace::Kind::number:
              layer_->broadcast(d, lane_bytes(from.type) == 8 ? DType::s64 : DType::s32, c_.rbp + row_number(row_));
              break;
            case StagePlace::Kind::share: layer_->broadcast(d, DType::f32, c_.rbp + kTakenAs); break;
            default: load_lanes(*layer_, d, from.type, record + saved_of(from.index)); break;
          }
        },
        [&](const StagePlace& to, Vec s) {
          if (to.kind == StagePlace::Kind::set) {
            store_lanes(*layer_, s, to.type, record + set_of(to.index));
          } else if (to.kind == StagePlace::Kind::kept) {
            store_lanes(*layer_, s, to.type, kept_at_);
          } else if (to.kind == StagePlace::Kind::saved) {
            store_lanes(*layer_, s, to.type, record + saved_of(to.index));
          } else if (to.kind == StagePlace::Kind::open) {
            store_lanes(*layer_, s, to.type, c_.rbp + frame::kStaging);
          } else {
            access_.store(*layer_, static_cast<std::size_t>(to.index), s, at);
          }
        },
        [&](const StagePlace& place) {
          if (!in_vectors) return -1;
          if (place.kind == StagePlace::Kind::set) return vectors.set(place.index, 0);
          return place.kind == StagePlace::Kind::saved ? vectors.saved(place.index) : -1;
        },
        in_vectors ? vectors.free() : layer_->vectors());
  }

  /// The first pilots: the mean of the first rows.
  void pilot(const StagePass& pass, std::size_t depth) {
    if (pass.pilot.results.empty()) return;
    Label enough;
    each_vector([&](const Reg64&, const Reg64& record, Part) {
      for (const StagePlace& to : pass.pilot.results) fill(record + saved_of(to.index), to.type, 0);
    });
    c_.mov(slot(kRowsTaken), 0);
    if (touches_kept(pass.pilot)) start_kept();
    walk_.over(levels(true), depth, [&](std::size_t row) {
      c_.inc(slot(kRowsTaken));
      std::optional<Gpr> kept;
      if (touches_kept(pass.pilot)) c_.mov(kept.emplace(a_), slot(kKeptRow));
      c_.vcvtsi2ss(Xbyak::Xmm(0), Xbyak::Xmm(0), slot(kRowsTaken));
      c_.vmovss(Xbyak::Xmm(1), a_.splat(std::bit_cast<std::uint32_t>(1.0F), 4));
      c_.vdivss(Xbyak::Xmm(0), Xbyak::Xmm(1), Xbyak::Xmm(0));
      c_.vmovss(c_.dword[c_.rbp + kTakenAs], Xbyak::Xmm(0));
      each_vector([&](const Reg64& index, const Reg64& record, Part part) {
        if (kept) kept_at_ = kept->reg() + index * kKeptBytes;
        step(pass, pass.pilot, {row, index, part, tail_count()}, record, false);
      });
      if (kept) c_.add(slot(kKeptRow), kept_row_bytes());
      c_.cmp(slot(kRowsTaken), kPilotElements);
      c_.je(enough, Xbyak::CodeGenerator::T_NEAR);
    });
    c_.L(enough);
  }

  /// Behind a chain: whenever the rows so far have doubled.
  void recentre(const StagePass& pass) {
    if (pass.recentre.results.empty()) return;
    Label not_yet;
    {
      Gpr taken(a_);
      c_.mov(taken, slot(kRowsTaken));
      c_.add(taken, schedule::kChain);
      c_.mov(slot(kRowsTaken), taken);
      c_.cmp(taken, slot(kRecentreAt));
      c_.jne(not_yet, Xbyak::CodeGenerator::T_NEAR);
      c_.shl(slot(kRecentreAt), 1);
    }
    c_.vcvtsi2sd(Xbyak::Xmm(0), Xbyak::Xmm(0), slot(kRowsTaken));
    c_.vmovsd(slot(kTakenAs), Xbyak::Xmm(0));
    LaneLayer& layer = layer_for(pass.recentre);
    each_vector([&](const Reg64& index, const Reg64& record, Part part) {
      for (int lane = 0; lane < lanes_; lane += layer.lanes())
        rows_of(pass.recentre, layer, {0, index, part, c_.rbp + kHalfCount, lane, false}, record);
    });
    c_.L(not_yet);
  }

  /// A program of rows, for each vector of columns; in halves where it has lanes of 64 bits beside steps of 16, which
  /// wait for themselves less side by side.
  void rows(const StageProgram& program, std::size_t depth) {
    if (program.results.empty()) return;
    LaneLayer& layer = layer_for(program);
    // Of lanes with even elements first, both halves have some; no operand is among the places of their programs then.
    const bool takes_parts = layer.lanes() == lanes_ || layer_->order() == LaneOrder::straight;
    const StageProgram both = columns_side_by_side(program);
    const std::vector<bool> in_memory(both.inputs.size(), false);
    const bool by_two = layer.lanes() < lanes_ && vectors_needed(both.lanes, in_memory) <= layer.vectors();
    each_vector([&](const Reg64& index, const Reg64& record, Part part) {
      if (by_two && part == Part::full) {
        for (int lane = 0; lane < lanes_; lane += 2 * layer.lanes())
          rows_of(both, layer, {depth, index, part, c_.rbp + kHalfCount, lane, false}, record);
        return;
      }
      for (int lane = 0; lane < lanes_; lane += layer.lanes()) {
        Label nothing;
        if (part == Part::tail && takes_parts) take_part(lane, layer.lanes(), nothing);
        rows_of(program, layer, {depth, index, part, c_.rbp + kHalfCount, lane, false}, record);
        c_.L(nothing);
      }
    });
  }

  /// How many of the tail's columns are among `lanes` from `lane` on; jumps when none is.
  void take_part(int lane, int lanes, const Label& nothing) {
    Gpr count(a_), most(a_);
    c_.mov(count, slot(frame::kTailCount));
    c_.sub(count, lane);
    c_.jbe(nothing, Xbyak::CodeGenerator::T_NEAR);
    c_.mov(most.r32(), lanes);
    c_.cmp(count, most);
    c_.cmova(count, most);
    c_.mov(slot(kHalfCount), count);
  }

  void rows_of(const StageProgram& program, LaneLayer& layer, const OperandWalk::At& at, const Reg64& record) {
    const auto in_record = [&](const StagePlace& place) {
      const int first = place.kind == StagePlace::Kind::total ? total_of(place.index) : saved_of(place.index);
      return record + (first + (at.offset + place.step * layer.lanes()) * lane_bytes(place.type));
    };
    const auto moved = [&](const StagePlace& place) {
      OperandWalk::At to = at;
      to.offset += place.step * layer.lanes();
      return to;
    };
    run(
        program, layer,
        [&](const StagePlace& from, Vec d) {
          switch (from.kind) {
            case StagePlace::Kind::operand:
              access_.load(layer, static_cast<std::size_t>(from.index), d, moved(from), from.type);
              break;
            case StagePlace::Kind::count: load_count(layer, d, from.type); break;
            case StagePlace::Kind::taken: layer.broadcast(d, DType::f64, c_.rbp + kTakenAs); break;
            default: load_lanes(layer, d, from.type, in_record(from)); break;
          }
        },
        [&](const StagePlace& to, Vec s) {
          if (to.kind == StagePlace::Kind::operand) {
            access_.store(layer, static_cast<std::size_t>(to.index), s, moved(to));
          } else {
            store_lanes(layer, s, to.type, in_record(to));
          }
        });
  }

  const std::vector<bool> backward_;  ///< by pass
  Memory kept_at_;                    ///< kept elements of the row that is emitted
  int row_ = 0;                       ///< of those of a sweep
};

}  // namespace

std::int64_t emit_staged_columns(Assembler& assembler, const Stages& stages, const kernel::KernelSpec& spec,
                                 const schedule::Schedule& schedule) {
  return StagedColumns(assembler, stages, spec, schedule).emit();
}

}  // namespace tenfold::jit
