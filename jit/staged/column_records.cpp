// SPDX-License-Identifier: Apache-2.0
#include "jit/staged/column_records.hpp"

#include <algorithm>

#include "schedule/body.hpp"

namespace tenfold::jit {

using Xbyak::Label;
using Xbyak::Reg64;

ColumnRecords::ColumnRecords(Assembler& assembler, const Stages& stages, const kernel::KernelSpec& spec,
                             const schedule::Schedule& schedule)
    : StagedKernel(assembler, stages, spec, schedule),
      keeps_(schedule.part > 0 && stages.kept.node >= 0 && stages.kept.output == KeptValue::kInScratch),
      in_parts_(keeps_ && schedule.part < schedule.columns),
      tile_(assembler, walk_, lanes_, schedule.columns, in_parts_ ? schedule.part : 0) {
  plan_vectors(1, 1, 0);  // while a sweep is at a record; totals stay there
  for (const LaneType type : stages.saved) saved_.push_back(place(type));
  for (const StageReduction& r : stages.reductions) {
    // A second look is at all columns of a tile: what it makes takes the place of what the first one has made.
    sets_.push_back(r.again ? sets_.back() : place(r.set_type));
    // What no chain ends is never flushed: the set is the total.
    totals_.push_back(r.is_chained() ? place(r.total_type) : sets_.back());
  }
  const auto records = static_cast<int>(schedule.columns / lanes_ + 1);
  spill_ = kept_ = places_ + records * record_bytes_;
  if (keeps_) spill_ += static_cast<int>(schedule.keep) * kept_row_bytes();
  if (turns()) place_turned();
}

/// Room for a partial vector behind each row of scratch.
int ColumnRecords::turned_apart(std::size_t k) const {
  return static_cast<int>(schedule_.columns + lanes_) * byte_size(walk_.operand(k).dtype);
}

void ColumnRecords::place_turned() {
  const schedule::TurnedLevels levels = schedule::turned_levels(spec_);
  for (std::size_t k = 0; k < spec_.inputs.size() + spec_.outputs.size(); ++k) {
    const auto width = static_cast<int>(schedule::turned_width(spec_, levels, walk_.operand(k)));
    turned_.push_back({width, spill_});
    if (width == 0) continue;
    walk_.turn(k, levels.inside, spill_, turned_apart(k));
    spill_ += (width * turned_apart(k) + kPlaceBytes - 1) / kPlaceBytes * kPlaceBytes;
  }
}

void ColumnRecords::turn(Turn way, std::size_t depth, bool short_piece) {
  for (std::size_t k = 0; k < turned_.size(); ++k) {
    if (turned_[k].width == 0 || (k < walk_.inputs()) != (way == Turn::in)) continue;
    Gpr rows(a_), place(a_), count(a_);
    tile_.load_first(count);
    walk_.load_row(rows, k, depth, count);
    if (kernel::is_ordered(spec_)) {
      c_.imul(place, slot(kPieceFirst), byte_size(walk_.operand(k).dtype));
      c_.add(rows, place);
    }
    tile_.load_count(count);
    c_.lea(place, c_.ptr[c_.rbp + turned_[k].place]);
    TurnedRows turned(a_, walk_, k, turned_[k].width, turned_apart(k));
    if (short_piece) {
      turned.emit_short(way, rows, place, count, c_.dword[slot(kPieceExtent).getRegExp()]);
    } else {
      turned.emit(way, rows, place, count);
    }
  }
}

void ColumnRecords::each_piece(bool backwards, const std::function<void(bool is_short)>& body) {
  const int level = kernel::innermost(spec_, true), width = schedule_.width;
  Label again, rest, done;
  {
    Gpr first(a_);
    c_.xor_(first.r32(), first.r32());
    if (backwards) walk_.load_extent(first, level);
    c_.mov(slot(kPieceFirst), first);
  }
  c_.L(again);
  {
    Gpr left(a_);
    if (backwards) {
      c_.mov(left, slot(kPieceFirst));
    } else {
      walk_.load_extent(left, level);
      c_.sub(left, slot(kPieceFirst));
    }
    c_.mov(slot(kPieceExtent), left);
    c_.cmp(left, width);
    c_.jb(rest, Xbyak::CodeGenerator::T_NEAR);
  }
  c_.mov(slot(kPieceExtent), width);
  if (backwards) c_.sub(slot(kPieceFirst), width);
  body(false);
  if (!backwards) c_.add(slot(kPieceFirst), width);
  c_.jmp(again, Xbyak::CodeGenerator::T_NEAR);
  c_.L(rest);
  c_.cmp(slot(kPieceExtent), 0);
  c_.je(done, Xbyak::CodeGenerator::T_NEAR);
  if (backwards) c_.mov(slot(kPieceFirst), 0);
  body(true);
  c_.L(done);
}

int ColumnRecords::place(LaneType type) {
  const int at = record_bytes_;
  record_bytes_ += std::max(64, lanes_ * lane_bytes(type));
  return at;
}

void ColumnRecords::fill_identities(const StagePass& pass) {
  each_vector([&](const Reg64&, const Reg64& record, Part) {
    for (const int r : pass.reductions) {
      const StageReduction& of = reduction(r);
      if (of.is_chained()) {
        fill(record + total_of(r), of.total_type, of.total_identity);
      } else {
        fill(record + set_of(r), of.set_type, of.set_identity);
      }
    }
  });
}

bool ColumnRecords::has_chains(const StagePass& pass) const {
  return std::any_of(pass.reductions.begin(), pass.reductions.end(),
                     [this](int r) { return reduction(r).is_chained(); });
}

void ColumnRecords::load_vectors(const StagePass& pass, const Reg64& record) {
  const PassVectors& vectors = vectors_of(pass);
  const auto each_set = [&](bool chained, const auto& act) {
    for (const int r : pass.reductions)
      if (reduction(r).is_chained() == chained) act(reduction(r), vectors.set(r, 0), record + set_of(r));
  };
  const auto load = [&](const StageReduction& of, Vec set, const Memory& from) {
    load_lanes(*layer_, set, of.set_type, from);
  };
  if (has_chains(pass)) {
    Label goes_on, known;
    c_.cmp(slot(kRowsLeft), schedule::kChain);
    c_.jne(goes_on, Xbyak::CodeGenerator::T_NEAR);
    each_set(true, [&](const StageReduction& of, Vec set, const Memory&) {
      fill(*layer_, set, of.set_type, of.set_identity);
    });
    c_.jmp(known, Xbyak::CodeGenerator::T_NEAR);
    c_.L(goes_on);
    each_set(true, load);
    c_.L(known);
  }
  each_set(false, load);
  for (const int slot : vectors.saved_slots())
    load_lanes(*layer_, vectors.saved(slot), stages_.saved[static_cast<std::size_t>(slot)], record + saved_of(slot));
}

void ColumnRecords::store_sets(const StagePass& pass, const Reg64& record, int rows) {
  const PassVectors& vectors = vectors_of(pass);
  const auto store = [&](bool chained) {
    for (const int r : pass.reductions)
      if (reduction(r).is_chained() == chained)
        store_lanes(*layer_, vectors.set(r, 0), reduction(r).set_type, record + set_of(r));
  };
  if (has_chains(pass)) {
    Label goes_on, done;
    c_.cmp(slot(kRowsLeft), rows);
    c_.jne(goes_on, Xbyak::CodeGenerator::T_NEAR);
    for (const int r : pass.reductions)
      if (reduction(r).is_chained()) flush_vector(vectors, r, record);
    c_.jmp(done, Xbyak::CodeGenerator::T_NEAR);
    c_.L(goes_on);
    store(true);
    c_.L(done);
  }
  store(false);
}

void ColumnRecords::begin_chain(const StagePass& pass) {
  Label goes_on;
  c_.cmp(slot(kRowsLeft), schedule::kChain);
  c_.jne(goes_on, Xbyak::CodeGenerator::T_NEAR);
  each_vector([&](const Reg64&, const Reg64& record, Part) {
    for (const int r : pass.reductions)
      if (reduction(r).is_chained()) fill(record + set_of(r), reduction(r).set_type, reduction(r).set_identity);
  });
  c_.L(goes_on);
}

/// A set in vectors into its total; part by part, as the total's lanes are wider.
void ColumnRecords::flush_vector(const PassVectors& vectors, int r, const Reg64& record) {
  const StageReduction& of = reduction(r);
  LaneLayer& layer = layer_for(of.flush);
  const Vec spare = vectors.free() - 1;
  for (int lane = 0; lane < lanes_; lane += layer.lanes()) {
    Vec from = vectors.set(r, 0);
    if (lane > 0) {
      layer_->shift_lanes(spare, from, of.set_type, lane);
      from = spare;
    }
    const Memory total = record + (total_of(r) + lane * lane_bytes(of.total_type));
    run(
        of.flush, layer, [&](const StagePlace& place, Vec d) { load_lanes(layer, d, place.type, total); },
        [&](const StagePlace& place, Vec s) { store_lanes(layer, s, place.type, total); },
        [&](const StagePlace& place) { return place.kind == StagePlace::Kind::set ? from : -1; }, spare);
  }
}

void ColumnRecords::flush(const StagePass& pass) {
  std::vector<int> due;
  for (const int r : pass.reductions)
    if (reduction(r).is_chained()) due.push_back(r);
  if (due.empty()) return;
  each_vector([&](const Reg64&, const Reg64& record, Part) {
    for (const int r : due) {
      const StageReduction& of = reduction(r);
      LaneLayer& layer = layer_for(of.flush);
      for (int lane = 0; lane < lanes_; lane += layer.lanes()) {
        const auto at = [&](const StagePlace& place) {
          return record + (place.kind == StagePlace::Kind::set ? set_of(r) : total_of(r)) +
                 lane * lane_bytes(place.type);
        };
        run(
            of.flush, layer, [&](const StagePlace& from, Vec d) { load_lanes(layer, d, from.type, at(from)); },
            [&](const StagePlace& to, Vec s) { store_lanes(layer, s, to.type, at(to)); });
      }
    }
  });
}

bool ColumnRecords::touches_kept(const StageProgram& program) {
  const auto is_kept = [](const StagePlace& place) { return place.kind == StagePlace::Kind::kept; };
  return std::any_of(program.inputs.begin(), program.inputs.end(), is_kept) ||
         std::any_of(program.results.begin(), program.results.end(), is_kept);
}

void ColumnRecords::start_kept() {
  Gpr first(a_), row(a_), last(a_);
  tile_.load_first(first);
  c_.shl(first, 2);
  static_assert(kKeptBytes == 1 << 2);
  c_.lea(row, c_.ptr[c_.rbp + kept_]);
  c_.sub(row, first);
  if (walk_.goes_backwards()) {
    c_.mov(first.r32(), 1);
    for (const int level : levels(true)) {
      walk_.load_extent(last, level);
      c_.imul(first, last);
    }
    c_.dec(first);
    c_.imul(first, first, kept_row_bytes());
    c_.add(row, first);
  }
  c_.mov(slot(kKeptRow), row);
}

}  // namespace tenfold::jit
