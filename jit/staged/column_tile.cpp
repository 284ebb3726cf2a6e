// SPDX-License-Identifier: Apache-2.0
#include "jit/staged/column_tile.hpp"

#include "jit/assembler/frame.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Label;

// Slots of the frame: the tile's first column, the end of its whole vectors, whether the partial one belongs to it.
constexpr int kFirst = frame::kNestInput;
constexpr int kEnd = frame::kTileSteps;
constexpr int kHasTail = frame::kTileTail;
// Those of the tile that the part is of, and how far the part's records are from the tile's.
constexpr int kTileEnd = frame::kSavedInput;
constexpr int kTileHasTail = kTileEnd + frame::kSlot;
constexpr int kRecords = kTileHasTail + frame::kSlot;

}  // namespace

void ColumnTile::start() {
  c_.mov(slot(kFirst), 0);
  if (part_ > 0) c_.mov(slot(kRecords), 0);
}

void ColumnTile::take() {
  Gpr end(a_), extent(a_), tail(a_);
  Label known;
  c_.mov(end, slot(kFirst));
  c_.add(end, static_cast<std::uint32_t>(columns_));
  walk_.load_vector_extent(extent);
  c_.and_(extent, -lanes_);
  c_.xor_(tail.r32(), tail.r32());
  c_.cmp(end, extent);
  c_.jb(known);
  c_.mov(end, extent);
  c_.mov(tail, slot(frame::kTailCount));
  c_.L(known);
  c_.mov(slot(kEnd), end);
  c_.mov(slot(kHasTail), tail);
}

void ColumnTile::go_on(const Label& again) {
  Gpr first(a_), extent(a_);
  c_.mov(first, slot(kEnd));
  c_.mov(slot(kFirst), first);
  walk_.load_vector_extent(extent);
  c_.and_(extent, -lanes_);
  c_.cmp(first, extent);
  c_.jb(again, Xbyak::CodeGenerator::T_NEAR);
}

void ColumnTile::jump_unless_last(const Label& target) {
  Gpr extent(a_);
  walk_.load_vector_extent(extent);
  c_.and_(extent, -lanes_);
  c_.cmp(extent, slot(kEnd));
  c_.ja(target, Xbyak::CodeGenerator::T_NEAR);
}

void ColumnTile::each_part(int record_bytes, const std::function<void()>& body) {
  Label part, last, known;
  {
    Gpr value(a_);
    c_.mov(value, slot(kEnd));
    c_.mov(slot(kTileEnd), value);
    c_.mov(value, slot(kHasTail));
    c_.mov(slot(kTileHasTail), value);
  }
  c_.L(part);
  {
    Gpr end(a_), tail(a_);
    c_.mov(end, slot(kFirst));
    c_.add(end, static_cast<std::uint32_t>(part_));
    c_.xor_(tail.r32(), tail.r32());
    c_.cmp(end, slot(kTileEnd));
    c_.jb(known);
    c_.mov(end, slot(kTileEnd));
    c_.mov(tail, slot(kTileHasTail));
    c_.L(known);
    c_.mov(slot(kEnd), end);
    c_.mov(slot(kHasTail), tail);
  }
  body();
  {
    Gpr end(a_);
    c_.mov(end, slot(kEnd));
    c_.cmp(end, slot(kTileEnd));
    c_.jae(last);
    c_.mov(slot(kFirst), end);
    c_.add(slot(kRecords), static_cast<std::uint32_t>(part_ / lanes_ * record_bytes));
  }
  c_.jmp(part, Xbyak::CodeGenerator::T_NEAR);
  c_.L(last);
  c_.mov(slot(kRecords), 0);
}

void ColumnTile::load_first(const Xbyak::Reg64& d) { c_.mov(d, slot(kFirst)); }

void ColumnTile::load_count(const Xbyak::Reg64& d) {
  c_.mov(d, slot(kEnd));
  c_.sub(d, slot(kFirst));
  c_.add(d, slot(kHasTail));
}

void ColumnTile::each_vector(int first, int record_bytes, const Body& body) {
  Gpr index(a_), record(a_);
  Label again, partial, done;
  c_.mov(index, slot(kFirst));
  c_.lea(record, c_.ptr[c_.rbp + first]);
  if (part_ > 0) c_.add(record, slot(kRecords));
  c_.cmp(index, slot(kEnd));
  c_.jae(partial, Xbyak::CodeGenerator::T_NEAR);
  align_loop(c_);
  c_.L(again);
  body(index.reg(), record.reg(), Part::full);
  c_.add(record, record_bytes);
  c_.add(index, lanes_);
  c_.cmp(index, slot(kEnd));
  c_.jb(again, Xbyak::CodeGenerator::T_NEAR);
  c_.L(partial);
  c_.cmp(slot(kHasTail), 0);
  c_.jz(done, Xbyak::CodeGenerator::T_NEAR);
  body(index.reg(), record.reg(), Part::tail);
  c_.L(done);
}

}  // namespace tenfold::jit
