// SPDX-License-Identifier: Apache-2.0
#include "jit/operand/spread.hpp"

#include "jit/assembler/frame.hpp"
#include "schedule/spread.hpp"

namespace tenfold::jit {
namespace {

using schedule::Spread;
using Xbyak::Label;
using Xbyak::Reg64;
using Xbyak::Ymm;

constexpr int kVector = 32;

int round_up(int bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

SpreadOperands::SpreadOperands(Assembler& assembler, OperandWalk& walk, const schedule::Schedule& schedule)
    : assembler_(assembler),
      code_(assembler.code()),
      walk_(walk),
      width_(schedule.width),
      rows_at_once_(schedule.width > 0 ? static_cast<int>(schedule.columns / schedule.width) : 0),
      rows_level_(schedule.vector_level - 1),
      end_(walk.scratch_end()) {
  if (width_ == 0) return;
  walk_.join_rows(rows_level_);
  for (std::size_t k = 0; k < walk_.inputs(); ++k) {
    const Spread spread = schedule::spread_of(walk_.spec(), walk_.operand(k));
    if (spread == Spread::none) continue;
    const Place place{k, byte_size(walk_.operand(k).dtype), end_};
    walk_.turn(k, rows_level_, place.at, place.bytes);
    (spread == Spread::rows ? rows_ : columns_).push_back(place);
    // Rows are stored in whole vectors, the last one as well.
    end_ = round_up(end_ + static_cast<int>(schedule.columns) * place.bytes + kVector);
  }
}

Xbyak::Address SpreadOperands::rows_taken() const { return code_.qword[code_.rbp + frame::kStepsLeft]; }

void SpreadOperands::load_elements(const Reg64& d) {
  walk_.load_extent(d, rows_level_);
  code_.imul(d, d, width_);
}

void SpreadOperands::fill_columns(std::size_t depth) {
  for (const Place& place : columns_) {
    fill_row(place, depth);
    repeat_row(place);
  }
}

/// The first row, element by element, as there may be nothing behind it.
void SpreadOperands::fill_row(const Place& place, std::size_t depth) {
  Gpr from(assembler_), to(assembler_), count(assembler_), element(assembler_);
  Label again;
  walk_.load_pointer(from, place.operand, depth);
  code_.lea(to, code_.ptr[code_.rbp + place.at]);
  code_.mov(count.r32(), width_);
  code_.L(again);
  move_element(code_, element, place.bytes, from.reg(), to.reg());
  code_.add(from, place.bytes);
  code_.add(to, place.bytes);
  code_.dec(count);
  code_.jnz(again);
}

void SpreadOperands::repeat_row(const Place& place) {
  if (rows_at_once_ == 1) return;
  Gpr to(assembler_), count(assembler_);
  Label again;
  code_.lea(to, code_.ptr[code_.rbp + place.at]);
  code_.mov(count.r32(), rows_at_once_ - 1);
  align_loop(code_);
  code_.L(again);
  code_.add(to, width_ * place.bytes);
  for (int at = 0; at < width_ * place.bytes; at += kVector) {
    code_.vmovdqu(Ymm(0), code_.ptr[code_.rbp + place.at + at]);
    code_.vmovdqu(code_.ptr[to.reg() + at], Ymm(0));
  }
  code_.dec(count);
  code_.jnz(again, Xbyak::CodeGenerator::T_NEAR);
}

void SpreadOperands::fill_next(std::size_t depth) {
  if (rows_.empty()) return;
  for (const Place& place : rows_) repeat_elements(place, depth);
  code_.add(rows_taken(), rows_at_once_);
}

/// What a row stores too much, the next one stores again.
void SpreadOperands::repeat_elements(const Place& place, std::size_t depth) {
  Gpr from(assembler_), to(assembler_), count(assembler_), stride(assembler_), most(assembler_);
  Label again;
  walk_.load_own_stride(stride, place.operand, rows_level_);
  code_.mov(from, rows_taken());
  walk_.load_extent(count, rows_level_);
  code_.sub(count, from);
  code_.mov(most.r32(), rows_at_once_);
  code_.cmp(count, most);
  code_.cmova(count, most);
  code_.imul(from, stride);
  walk_.load_pointer(to, place.operand, depth);
  code_.add(from, to);
  code_.lea(to, code_.ptr[code_.rbp + place.at]);
  align_loop(code_);
  code_.L(again);
  const Xbyak::Address element = code_.ptr[from.reg()];
  switch (place.bytes) {
    case 1: code_.vpbroadcastb(Ymm(0), element); break;
    case 2: code_.vpbroadcastw(Ymm(0), element); break;
    case 4: code_.vpbroadcastd(Ymm(0), element); break;
    default: code_.vpbroadcastq(Ymm(0), element); break;
  }
  for (int at = 0; at < width_ * place.bytes; at += kVector) code_.vmovdqu(code_.ptr[to.reg() + at], Ymm(0));
  code_.add(from, stride);
  code_.add(to, width_ * place.bytes);
  code_.dec(count);
  code_.jnz(again, Xbyak::CodeGenerator::T_NEAR);
}

}  // namespace tenfold::jit
