// SPDX-License-Identifier: Apache-2.0
//
// Rows that come from four runs of consecutive rows in turn, and what is asked for ahead of them: a line of each run at
// a time, so that the machine's own prefetching follows all of them.
#include <bit>

#include "jit/assembler/frame.hpp"
#include "jit/operand/walk.hpp"

namespace tenfold::jit {

namespace {

constexpr int kLineBytes = 64;

}  // namespace

using Xbyak::Label;
using Xbyak::Reg64;

void OperandWalk::over_runs(int level, std::size_t depth, const std::function<void(std::size_t depth)>& body) {
  const Xbyak::Address counter = slot(frame::kCounters + frame::kSlot * level);
  Label again, run, rest, done;
  enter(level, depth, done);
  {
    Gpr rows(a_), taken(a_);
    c_.mov(rows, counter);
    c_.mov(taken, rows);
    cut_into_runs(c_, taken, kRuns);
    c_.mov(slot(frame::kRunRows), taken);
    c_.mov(counter, taken);
    c_.shl(taken, 2);
    c_.sub(rows, taken);
    c_.mov(slot(frame::kRunRest), rows);
    c_.mov(slot(frame::kRuns), kRuns);
    c_.test(taken, taken);
    c_.jz(rest, Xbyak::CodeGenerator::T_NEAR);
  }
  c_.L(again);
  {
    Gpr value(a_);
    for (std::size_t k = 0; k < count(); ++k) {
      c_.mov(value, pointer_slot(depth + 1, k));
      c_.mov(pointer_slot(depth + 2, k), value);
    }
    c_.mov(value, slot(frame::kRuns));
    c_.mov(slot(frame::kRunsLeft), value);
  }
  c_.L(run);
  body(depth + 2);
  advance_by(level, depth + 2, slot(frame::kRunRows));
  c_.dec(slot(frame::kRunsLeft));
  c_.jnz(run, Xbyak::CodeGenerator::T_NEAR);
  advance(level, depth + 1, 1);
  c_.dec(counter);
  c_.jnz(again, Xbyak::CodeGenerator::T_NEAR);
  c_.L(rest);
  {
    Gpr rows(a_);
    c_.mov(rows, slot(frame::kRunRest));
    c_.test(rows, rows);
    c_.jz(done, Xbyak::CodeGenerator::T_NEAR);
    c_.mov(counter, rows);
    for (int other = 1; other < kRuns; ++other) advance_by(level, depth + 1, slot(frame::kRunRows));
    c_.mov(slot(frame::kRunRest), 0);
    c_.mov(slot(frame::kRuns), 1);
    c_.jmp(again, Xbyak::CodeGenerator::T_NEAR);
  }
  c_.L(done);
}

void OperandWalk::start_asking(std::size_t k, int level, std::size_t depth) {
  Gpr place(a_), share(a_);
  load_vector_extent(share);
  c_.imul(share, share, byte_size(operand(k).dtype));
  c_.shr(share, 2);
  c_.mov(place, slot(frame::kRuns));
  c_.sub(place, slot(frame::kRunsLeft));
  c_.imul(place, share);
  load_stride(share, k, level);
  c_.add(place, share);
  c_.add(place, pointer_slot(depth - 1, k));
  c_.mov(slot(frame::kAskFor), place);
  c_.imul(share, slot(frame::kRunRows));
  c_.mov(slot(frame::kAskApart), share);
}

void OperandWalk::ask_for_runs() {
  Gpr place(a_), apart(a_);
  c_.mov(place, slot(frame::kAskFor));
  c_.mov(apart, slot(frame::kAskApart));
  c_.prefetcht0(c_.ptr[place.reg()]);
  c_.prefetcht0(c_.ptr[place.reg() + apart.reg()]);
  c_.prefetcht0(c_.ptr[place.reg() + apart.reg() * 2]);
  c_.lea(place, c_.ptr[place.reg() + apart.reg() * 2]);
  c_.prefetcht0(c_.ptr[place.reg() + apart.reg()]);
  c_.add(slot(frame::kAskFor), kLineBytes);
}

void OperandWalk::advance_by(int level, std::size_t depth, const Xbyak::Address& rows) {
  Gpr stride(a_);
  for (std::size_t k = 0; k < count(); ++k) {
    load_stride(stride, k, level);
    c_.imul(stride, rows);
    c_.add(pointer_slot(depth, k), stride);
  }
}

void OperandWalk::over_visits(const Reg64& index, const Reg64& end, const Label& rest,
                              const std::function<void(const Reg64& distance)>& ask,
                              const std::function<void()>& take) {
  const Xbyak::Address left = slot(frame::kRunsLeft), rounds = slot(frame::kRunRows), apart = slot(frame::kAskApart),
                       whole = slot(frame::kRunRest);
  Label again, to_first, done;
  c_.mov(whole, end);
  {
    Gpr visits(a_);
    c_.mov(visits, end);
    c_.shr(visits, std::countr_zero(static_cast<unsigned>(kVisit)));
    cut_into_runs(c_, visits, kRuns);
    c_.test(visits, visits);
    c_.jz(rest, Xbyak::CodeGenerator::T_NEAR);
    c_.mov(rounds, visits);
    c_.shl(visits, std::countr_zero(static_cast<unsigned>(kVisit)));
    c_.mov(apart, visits);
    c_.mov(left, kRuns);
  }
  c_.L(again);
  c_.lea(end, c_.ptr[index + kVisit]);
  {
    Gpr distance(a_);
    Label next;
    c_.mov(distance, apart);
    c_.cmp(left, 1);
    c_.jne(next);
    c_.imul(distance, distance, 1 - kRuns);
    c_.add(distance, kVisit);
    c_.L(next);
    ask(distance);
  }
  take();
  c_.dec(left);
  c_.jz(to_first, Xbyak::CodeGenerator::T_NEAR);
  c_.add(index, apart);
  c_.sub(index, kVisit);
  c_.jmp(again, Xbyak::CodeGenerator::T_NEAR);
  c_.L(to_first);
  {
    Gpr back(a_);
    c_.imul(back, apart, kRuns - 1);
    c_.sub(index, back);
    c_.mov(left, kRuns);
    c_.dec(rounds);
    c_.jnz(again, Xbyak::CodeGenerator::T_NEAR);
    c_.add(index, back);
  }
  c_.mov(end, whole);
  c_.jmp(rest, Xbyak::CodeGenerator::T_NEAR);
}

void OperandWalk::ask_for_visit(std::size_t k, const At& at, const Reg64& distance) {
  const int element = byte_size(operand(k).dtype);
  Gpr bytes(a_);
  c_.imul(bytes, distance, element);
  ahead(k, at, bytes, [&](const Memory& place) {
    for (int byte = 0; byte < kVisit * element; byte += kLineBytes) c_.prefetcht0(c_.ptr[place + byte]);
  });
}

}  // namespace tenfold::jit
