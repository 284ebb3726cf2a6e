// SPDX-License-Identifier: Apache-2.0
#include "jit/operand/turned_rows.hpp"

#include <algorithm>
#include <bit>

namespace tenfold::jit {
namespace {

using Xbyak::Label;
using Xbyak::Reg64;
using Xbyak::RegExp;
using Xbyak::Xmm;
using Xbyak::Ymm;

constexpr int kHalf = 16;
/// Elements of a unit at most: so many registers it needs, and two more.
constexpr int kMostElements = 8;
/// No layer keeps anything in these.
constexpr int kRegisters = 14;
/// Units of longer rows come in a loop.
constexpr int kMostUnrolled = 16;
/// Rows that an address reaches from a pointer.
constexpr int kReach = 4;

int log2(int power) { return std::countr_zero(static_cast<unsigned>(power)); }

}  // namespace

TurnedRows::TurnedRows(Assembler& assembler, const OperandWalk& walk, std::size_t k, int width, int apart)
    : a_(assembler),
      c_(assembler.code()),
      walk_(walk),
      operand_(k),
      width_(width),
      apart_(apart),
      element_(byte_size(walk.operand(k).dtype)),
      lanes_(kHalf / element_) {
  for (int reg = kRegisters; reg-- > 0;) free_.push_back(reg);
}

int TurnedRows::take() {
  if (free_.empty()) {
    a_.report_too_few_vectors();
    return 0;
  }
  const int reg = free_.back();
  free_.pop_back();
  return reg;
}

/// The last unit of a row begins as many elements before its end as it has: some are turned twice.
std::vector<TurnedRows::Unit> TurnedRows::units() const {
  const int elements = std::min({lanes_, kMostElements, width_});
  std::vector<Unit> found;
  for (int first = 0; first < width_; first += elements)
    found.push_back({std::min(first, width_ - elements), elements, elements * element_});
  return found;
}

RegExp TurnedRows::row_at(int row, int element) const {
  const int quarter = lanes_ / 2, in_quarter = row % quarter - moved_;
  const Reg64& pointer = quarters_[static_cast<std::size_t>(row / quarter)];
  const RegExp first = pointer + element * element_;
  return in_quarter == 0 ? first : in_quarter == 3 ? first + three_pitches_ : first + pitch_ * in_quarter;
}

void TurnedRows::move_pointers(bool on) {
  for (const Reg64& pointer : quarters_) {
    if (on) {
      c_.lea(pointer, c_.ptr[pointer + pitch_ * kReach]);
    } else {
      c_.sub(pointer, three_pitches_);
      c_.sub(pointer, pitch_);
    }
  }
  moved_ += on ? kReach : -kReach;
}

void TurnedRows::load_bytes(const Xmm& d, const RegExp& from, int bytes) {
  if (bytes == kHalf) return c_.vmovdqu(d, c_.ptr[from]);
  int at = 0;
  if (bytes >= 8) {
    c_.vmovq(d, c_.qword[from]);
    at = 8;
  } else if (bytes >= 4) {
    c_.vmovd(d, c_.dword[from]);
    at = 4;
  } else {
    c_.vpxor(d, d, d);
  }
  for (; at + 4 <= bytes; at += 4) c_.vpinsrd(d, d, c_.dword[from + at], static_cast<std::uint8_t>(at / 4));
  for (; at + 2 <= bytes; at += 2) c_.vpinsrw(d, d, c_.word[from + at], static_cast<std::uint8_t>(at / 2));
  for (; at < bytes; ++at) c_.vpinsrb(d, d, c_.byte[from + at], static_cast<std::uint8_t>(at));
}

void TurnedRows::store_bytes(const RegExp& to, const Xmm& s, int first, int bytes) {
  if (bytes == kHalf) return c_.vmovdqu(c_.ptr[to], s);
  int at = 0;
  if (bytes >= 8) {
    first == 0 ? c_.vmovq(c_.qword[to], s) : c_.vpextrq(c_.qword[to], s, 1);
    at = 8;
  } else if (bytes >= 4 && first == 0) {
    c_.vmovd(c_.dword[to], s);
    at = 4;
  }
  for (; at + 4 <= bytes; at += 4) c_.vpextrd(c_.dword[to + at], s, static_cast<std::uint8_t>((first + at) / 4));
  for (; at + 2 <= bytes; at += 2) c_.vpextrw(c_.word[to + at], s, static_cast<std::uint8_t>((first + at) / 2));
  for (; at < bytes; ++at) c_.vpextrb(c_.byte[to + at], s, static_cast<std::uint8_t>(first + at));
}

int TurnedRows::load_row(int row, const Unit& unit) {
  const int reg = take();
  const RegExp upper = row_at(row + lanes_, unit.first);
  load_bytes(Xmm(reg), row_at(row, unit.first), unit.bytes);
  if (unit.bytes == kHalf) {
    c_.vinserti128(Ymm(reg), Ymm(reg), c_.ptr[upper], 1);
  } else {
    const int other = take();
    load_bytes(Xmm(other), upper, unit.bytes);
    c_.vinserti128(Ymm(reg), Ymm(reg), Xmm(other), 1);
    give(other);
  }
  return reg;
}

void TurnedRows::store_row(int row, const Unit& unit, int s, int from) {
  store_bytes(row_at(row, unit.first), Xmm(s), from, unit.bytes);
  const RegExp upper = row_at(row + lanes_, unit.first);
  if (unit.bytes == kHalf) return c_.vextracti128(c_.ptr[upper], Ymm(s), 1);
  const int other = take();
  c_.vextracti128(Xmm(other), Ymm(s), 1);
  store_bytes(upper, Xmm(other), from, unit.bytes);
  give(other);
}

int TurnedRows::interleave(bool upper, int a, int b) {
  const Ymm d(take()), first(a), second(b);
  switch (element_) {
    case 1: upper ? c_.vpunpckhbw(d, first, second) : c_.vpunpcklbw(d, first, second); break;
    case 2: upper ? c_.vpunpckhwd(d, first, second) : c_.vpunpcklwd(d, first, second); break;
    case 4: upper ? c_.vpunpckhdq(d, first, second) : c_.vpunpckldq(d, first, second); break;
    default: upper ? c_.vpunpckhqdq(d, first, second) : c_.vpunpcklqdq(d, first, second); break;
  }
  return d.getIdx();
}

/// Each step interleaves rows half of all apart; after as many as it takes to count them, register i has element i.
/// What no element of the unit needs is left out.
void TurnedRows::turn_in(const Unit& unit, const Reg64& place) {
  const int steps = log2(lanes_), half = lanes_ / 2;
  std::vector<std::vector<bool>> needed(static_cast<std::size_t>(steps) + 1,
                                        std::vector<bool>(static_cast<std::size_t>(lanes_)));
  const auto needs = [&](int step, int i) -> std::vector<bool>::reference {
    return needed[static_cast<std::size_t>(step)][static_cast<std::size_t>(i)];
  };
  for (int i = 0; i < unit.elements; ++i) needs(steps, i) = true;
  for (int step = steps; step > 0; --step)
    for (int i = 0; i < half; ++i)
      if (needs(step, 2 * i) || needs(step, 2 * i + 1)) needs(step - 1, i) = needs(step - 1, i + half) = true;
  Registers now(static_cast<std::size_t>(lanes_), kNone);
  for (int step = 1; step <= steps; ++step) {
    Registers next(now.size(), kNone);
    for (int i = 0; i < half; ++i) {
      if (!needs(step - 1, i)) continue;
      if (step == 1 && i == moved_ + kReach) move_pointers(true);
      const int a = step == 1 ? load_row(i, unit) : now[static_cast<std::size_t>(i)];
      const int b = step == 1 ? load_row(i + half, unit) : now[static_cast<std::size_t>(i + half)];
      for (const bool upper : {false, true})
        if (const int to = 2 * i + (upper ? 1 : 0); needs(step, to))
          next[static_cast<std::size_t>(to)] = interleave(upper, a, b);
      give(a);
      give(b);
    }
    now = next;
  }
  if (moved_ > 0) move_pointers(false);
  for (int i = 0; i < unit.elements; ++i) {
    c_.vmovdqu(c_.ptr[place + (unit.first + i) * apart_], Ymm(now[static_cast<std::size_t>(i)]));
    give(now[static_cast<std::size_t>(i)]);
  }
}

/// The same of elements; each register has a row then, or two where a unit has half of 16 bytes. In place of elements
/// that the unit has not there are others, which nobody stores.
void TurnedRows::turn_out(const Unit& unit, const Reg64& place) {
  const int count = std::min(lanes_, kMostElements), half = count / 2, rows_of_register = lanes_ / count;
  Registers now(static_cast<std::size_t>(count), kNone);
  for (int i = 0; i < unit.elements; ++i) {
    now[static_cast<std::size_t>(i)] = take();
    c_.vmovdqu(Ymm(now[static_cast<std::size_t>(i)]), c_.ptr[place + (unit.first + i) * apart_]);
  }
  for (int step = 0; step < log2(count); ++step) {
    Registers next(now.size(), kNone);
    for (int i = 0; i < half; ++i) {
      const int a = now[static_cast<std::size_t>(i)], b = now[static_cast<std::size_t>(i + half)];
      if (a == kNone) continue;
      next[static_cast<std::size_t>(2 * i)] = interleave(false, a, b == kNone ? a : b);
      next[static_cast<std::size_t>(2 * i + 1)] = interleave(true, a, b == kNone ? a : b);
      give(a);
      if (b != kNone) give(b);
    }
    now = next;
  }
  const int quarter = lanes_ / 2;
  for (int row = 0; row < quarter; ++row) {
    if (row == moved_ + kReach) move_pointers(true);
    for (const int of : {row, row + quarter})
      store_row(of, unit, now[static_cast<std::size_t>(of / rows_of_register)],
                of % rows_of_register * kHalf / rows_of_register);
  }
  if (moved_ > 0) move_pointers(false);
  for (const int reg : now) give(reg);
}

void TurnedRows::block(Turn turn, const Reg64& place) {
  const std::vector<Unit> all = units();
  const auto take = [&](const Unit& unit) { turn == Turn::in ? turn_in(unit, place) : turn_out(unit, place); };
  const int elements = all[0].elements, whole = width_ / elements;
  if (whole <= kMostUnrolled) {
    for (const Unit& unit : all) take(unit);
    return;
  }
  const int bytes = elements * element_;
  const auto move = [&](int units) {
    for (const Reg64& pointer : quarters_) c_.add(pointer, units * bytes);
    c_.add(place, units * elements * apart_);
  };
  {
    const Gpr left(a_);
    Label again;
    c_.mov(left.r32(), whole);
    c_.L(again);
    take(all[0]);
    move(1);
    c_.dec(left);
    c_.jnz(again, Xbyak::CodeGenerator::T_NEAR);
  }
  if (width_ % elements != 0) take({all.back().first - whole * elements, elements, bytes});
  move(-whole);
}

void TurnedRows::emit(Turn turn, const Reg64& rows, const Reg64& place, const Reg64& count) {
  const Gpr pitch(a_), three(a_), second(a_), third(a_), fourth(a_);
  pitch_ = pitch;
  three_pitches_ = three;
  quarters_ = {rows, second, third, fourth};
  const int quarter = lanes_ / 2, block_rows = 2 * lanes_;
  Label again, few, done;
  walk_.load_pitch(pitch, operand_);
  c_.lea(three, c_.ptr[pitch.reg() + pitch.reg() * 2]);
  c_.cmp(count, block_rows);
  c_.jb(few, Xbyak::CodeGenerator::T_NEAR);
  c_.L(again);
  for (std::size_t next = 1; next < quarters_.size(); ++next)
    c_.lea(quarters_[next], c_.ptr[quarters_[next - 1] + pitch.reg() * quarter]);
  block(turn, place);
  c_.lea(rows, c_.ptr[fourth.reg() + pitch.reg() * quarter]);
  c_.add(place, 2 * kHalf);
  c_.sub(count, block_rows);
  c_.cmp(count, block_rows);
  c_.jae(again, Xbyak::CodeGenerator::T_NEAR);
  // The last block takes some rows once more.
  c_.test(count, count);
  c_.jz(done, Xbyak::CodeGenerator::T_NEAR);
  c_.sub(count, block_rows);
  c_.mov(second, pitch);
  c_.imul(second, count);
  c_.add(rows, second);
  c_.lea(place, c_.ptr[place + count * element_]);
  c_.mov(count.cvt32(), block_rows);
  c_.jmp(again, Xbyak::CodeGenerator::T_NEAR);
  c_.L(few);
  one_by_one(turn, rows, place, count, [this](const Xbyak::Reg32& d) { c_.mov(d, width_); });
  c_.L(done);
}

void TurnedRows::emit_short(Turn turn, const Reg64& rows, const Reg64& place, const Reg64& count,
                            const Xbyak::Address& width) {
  const Gpr pitch(a_), second(a_), third(a_), fourth(a_);
  pitch_ = pitch;
  quarters_ = {rows, second, third, fourth};
  walk_.load_pitch(pitch, operand_);
  one_by_one(turn, rows, place, count, [&](const Xbyak::Reg32& d) { c_.mov(d, width); });
}

/// Rows that make no block, of a tile that has no other, or pieces of rows that are shorter than others.
void TurnedRows::one_by_one(Turn turn, const Reg64& rows, const Reg64& place, const Reg64& count,
                            const LoadWidth& load_width) {
  const Reg64 &number = quarters_[1], &from = quarters_[2], &value = quarters_[3];
  const Gpr scratch(a_);
  const auto copy = [&](const Reg64& to, const Reg64& at) { move_element(c_, value, element_, at, to); };
  Label row, element, done;
  c_.test(count, count);
  c_.jz(done);
  c_.L(row);
  load_width(number.cvt32());
  c_.mov(from, rows);
  c_.mov(scratch, place);
  c_.L(element);
  turn == Turn::in ? copy(scratch, from) : copy(from, scratch);
  c_.add(from, element_);
  c_.add(scratch, apart_);
  c_.dec(number);
  c_.jnz(element);
  c_.add(rows, pitch_);
  c_.add(place, element_);
  c_.dec(count);
  c_.jnz(row);
  c_.L(done);
}

}  // namespace tenfold::jit
