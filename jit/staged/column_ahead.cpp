// SPDX-License-Identifier: Apache-2.0
#include "jit/staged/column_ahead.hpp"

#include <algorithm>

#include "schedule/staged_columns.hpp"

namespace tenfold::jit {

using Xbyak::Label;

bool ColumnAhead::writes(const StagePass& pass) {
  return std::any_of(pass.step.results.begin(), pass.step.results.end(),
                     [](const StagePlace& to) { return to.kind == StagePlace::Kind::operand; });
}

bool ColumnAhead::passes_on(const StagePass& pass) const {
  return around_ && writes(pass) && pass.reductions.empty() && !touches_kept(pass.step);
}

/// Whether a tile is so narrow that its rows stay near from the first pass on: what comes from afar is the next tile.
bool ColumnAhead::asks_for_next_tile() const {
  return schedule_.ahead && stages_.passes.size() > 1 && schedule_.columns <= schedule::kFewRowsColumns;
}

/// Inputs of which the last pass prefetches the same row of the next tile, which behind the last columns is that of
/// the next index of what is kept outside.
std::vector<Ahead> ColumnAhead::next_tile(const StagePass& pass) {
  if (&pass != &stages_.passes.back() || levels(true).empty()) return {};
  std::vector<Ahead> found = look_ahead(a_, walk_, pass.step.inputs, levels(true).back(), 1, most_ahead(spec_));
  const std::vector<int> kept = levels(false);
  for (const Ahead& of : found) {
    const int bytes = byte_size(walk_.operand(of.operand).dtype);
    Label known;
    c_.mov(*of.distance, schedule_.columns * bytes);
    if (kept.empty()) continue;
    tile_.jump_unless_last(known);
    Gpr first(a_);
    tile_.load_first(first);
    c_.imul(first, first, bytes);
    walk_.load_stride(*of.distance, of.operand, kept.back());
    c_.sub(*of.distance, first);
    c_.L(known);
  }
  return found;
}

/// Inputs of which sweeps prefetch the rows of the next one.
std::vector<Ahead> ColumnAhead::next_rows(const StagePass& pass, int rows) {
  // Parts of rows are too short for the machine's own prefetching.
  constexpr int kAheadInParts = 32, kAheadPassingOn = 4;
  const std::vector<int> reduced = levels(true);
  if (!(schedule_.ahead || takes_part_) || reduced.empty() || turns()) return {};
  const int distance = takes_part_ ? kAheadInParts : passes_on(pass) ? std::max(rows, kAheadPassingOn) : rows;
  return look_ahead(a_, walk_, pass.step.inputs, reduced.back(), distance, most_ahead(spec_));
}

/// Outputs of which a sweep claims the lines of the next one.
std::vector<Ahead> ColumnAhead::next_stores(const StagePass& pass, int rows, std::size_t most) {
  if (!schedule_.claim || levels(true).empty() || (around_ && writes(pass))) return {};
  return look_ahead(a_, walk_, pass.step.results, levels(true).back(), rows, most);
}

/// How often a sweep asks for each line. It looks as if a prefetch were dropped that finds none of a core's 24 miss
/// buffers free, which a loop of few loads a line keeps full. Measured on Zen 4, f32 [1024, 4096] over axis 0, of the
/// roof when asking once, twice and thrice, AVX-512: max of the maximum of two 0.86, 1.08, 1.16, sum of products
/// 0.71, 0.81, 0.88; AVX2, once and thrice: 0.81 and 0.83, 0.73 and 0.80. Beside stores once is as good; tasks of
/// less than a page of columns, which prefetch from caches too, are slower asking thrice: 88 us for 4 MiB, with
/// once 74. Tiles that ask for the next one compute long: log-sum-exp of f32 [4096, 1024] over axis 0 takes 1.10 and
/// 0.86 ms on a Xeon asking thrice, 1.07 and 0.82 once.
int ColumnAhead::times(const StagePass& pass) const {
  return writes(pass) || touches_kept(pass.step) || has_narrow_tasks(schedule_) || asks_for_next_tile() ? 1 : 3;
}

ColumnAhead::OfSweep ColumnAhead::ahead_of(const StagePass& pass, int rows) {
  OfSweep found;
  found.inputs = asks_for_next_tile() ? next_tile(pass) : next_rows(pass, rows);
  found.outputs = next_stores(pass, rows, most_ahead(spec_) - found.inputs.size());
  found.times = times(pass);
  return found;
}

void ColumnAhead::ask(const OfSweep& of, int rows, const std::function<OperandWalk::At(int row)>& at) {
  for (const Ahead& input : of.inputs)
    for (int row = 0; row < rows; ++row)
      walk_.ahead(input.operand, at(row), *input.distance, [&](const Memory& place) {
        for (int i = 0; i < of.times; ++i) c_.prefetcht1(c_.ptr[place]);
      });
  for (const Ahead& output : of.outputs)
    for (int row = 0; row < rows; ++row)
      walk_.ahead(output.operand, at(row), *output.distance, [&](const Memory& place) { c_.prefetchw(c_.ptr[place]); });
}

void ColumnAhead::ask_for_piece(std::size_t depth, bool backwards) {
  constexpr int kLine = 64;
  for (std::size_t k = 0; k < walk_.count(); ++k) {
    if (!walk_.is_turned(k)) continue;
    Gpr row(a_), count(a_), pitch(a_), first(a_);
    const int element = byte_size(walk_.operand(k).dtype), bytes = schedule_.width * element;
    Label again, known;
    tile_.load_first(count);
    walk_.load_row(row, k, depth, count);
    walk_.load_pitch(pitch, k);
    c_.imul(first, slot(kPieceFirst), element);
    c_.add(row, first);
    if (backwards) {
      c_.sub(row, bytes);
    } else {
      c_.add(row, bytes);
      walk_.load_own_extent(count, kernel::innermost(spec_, true));
      c_.sub(count, slot(kPieceFirst));
      c_.cmp(count, schedule_.width);
      c_.ja(known);
      c_.imul(count, pitch, static_cast<int>(schedule_.columns));
      c_.add(row, count);
      c_.sub(row, first);
      c_.sub(row, bytes);
      c_.L(known);
    }
    tile_.load_count(count);
    c_.L(again);
    for (int line = 0; line < bytes; line += kLine) {
      const Xbyak::Address place = c_.byte[row.reg() + line];
      k < walk_.inputs() ? c_.prefetcht0(place) : c_.prefetchw(place);
    }
    c_.add(row, pitch);
    c_.dec(count);
    c_.jnz(again, Xbyak::CodeGenerator::T_NEAR);
  }
}

}  // namespace tenfold::jit
