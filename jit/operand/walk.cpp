// SPDX-License-Identifier: Apache-2.0
#include "jit/operand/walk.hpp"

#include <algorithm>
#include <cstddef>

#include "jit/abi.hpp"
#include "jit/assembler/frame.hpp"

namespace tenfold::jit {

using Xbyak::Label;
using Xbyak::Reg64;

namespace {

constexpr int kRows = frame::kRecords;
/// Pointers kept in registers; what is left serves indices, records and copies.
constexpr std::size_t kMostKept = 6;
/// Rows beside the first that over_rows() may have.
constexpr std::size_t kMostBeside = kMostRows - 1;
/// Rows of pointers beside one for each level: that of a turned tile.
constexpr std::size_t kMoreRows = 1;

}  // namespace

OperandWalk::OperandWalk(Assembler& assembler, const kernel::KernelSpec& spec, int vector_level)
    : a_(assembler),
      c_(assembler.code()),
      spec_(spec),
      vector_level_(static_cast<std::size_t>(vector_level)),
      turned_(count()),
      kept_(count()) {}

Xbyak::Address OperandWalk::slot(int offset) const { return c_.qword[c_.rbp + offset]; }

Xbyak::Address OperandWalk::pointer_slot(std::size_t depth, std::size_t k) const {
  return slot(kRows + static_cast<int>(8 * (depth * count() + k)));
}

int OperandWalk::scratch_end() const {
  return (kRows + static_cast<int>(8 * (spec_.levels.size() + kMoreRows + kMostBeside) * count()) + 63) / 64 * 64;
}

const kernel::Operand& OperandWalk::operand(std::size_t k) const {
  return k < spec_.inputs.size() ? spec_.inputs[k] : spec_.outputs[k - spec_.inputs.size()];
}

int OperandWalk::last_kept_level() const { return kernel::innermost(spec_, false); }

void OperandWalk::start() {
  c_.mov(c_.rbp, c_.qword[c_.rdi + offsetof(KernelArgs, scratch)]);
  Gpr pointer(a_);
  for (std::size_t k = 0; k < count(); ++k) {
    const std::size_t offset =
        k < inputs() ? offsetof(KernelArgs, inputs) + 8 * k : offsetof(KernelArgs, outputs) + 8 * (k - inputs());
    c_.mov(pointer, c_.qword[c_.rdi + offset]);
    c_.mov(pointer_slot(0, k), pointer);
  }
}

void OperandWalk::load_extent(const Reg64& d, int level) {
  if (level == cut_.level) return c_.mov(d, slot(cut_.extent));
  load_own_extent(d, level);
}

void OperandWalk::load_own_extent(const Reg64& d, int level) const {
  c_.mov(d, c_.qword[c_.rdi + offsetof(KernelArgs, extents) + 8 * static_cast<std::size_t>(level)]);
}

void OperandWalk::turn(std::size_t k, int inside, int place, int apart) { turned_[k] = {inside, place, apart}; }

void OperandWalk::enter_turned(std::size_t depth, const Reg64& first) {
  Gpr pointer(a_), before(a_);
  for (std::size_t k = 0; k < count(); ++k) {
    if (is_turned(k)) {
      c_.imul(before, first, byte_size(operand(k).dtype));
      c_.lea(pointer, c_.ptr[c_.rbp + turned_[k].place]);
      c_.sub(pointer, before);
    } else {
      c_.mov(pointer, pointer_slot(depth, k));
      if (cut_.level >= 0) {
        load_own_stride(before, k, cut_.level);
        c_.imul(before, slot(cut_.first));
        c_.add(pointer, before);
      }
    }
    c_.mov(pointer_slot(depth + 1, k), pointer);
  }
}

void OperandWalk::load_row(const Reg64& d, std::size_t k, std::size_t depth, const Reg64& index) {
  load_pitch(d, k);
  c_.imul(d, index);
  c_.add(d, pointer_slot(depth, k));
}

/// Bytes.
void OperandWalk::load_stride(const Reg64& d, std::size_t k, int level) const {
  if (is_turned(k) && level >= turned_[k].inside) {
    c_.mov(d, operand(k).strides[static_cast<std::size_t>(level)] * turned_[k].apart);
  } else {
    load_own_stride(d, k, level);
  }
}

void OperandWalk::load_pitch(const Reg64& d, std::size_t k) const {
  load_own_stride(d, k, static_cast<int>(vector_level_));
}

void OperandWalk::load_own_stride(const Reg64& d, std::size_t k, int level) const {
  c_.mov(d, c_.qword[c_.rdi + offsetof(KernelArgs, strides)]);
  c_.mov(d, c_.qword[d + 8 * stride_index(static_cast<int>(k), level)]);
}

void OperandWalk::load_step(const Reg64& d, std::size_t k, int level) {
  load_stride(d, k, level);
  if (backwards_) c_.neg(d);
}

void OperandWalk::enter(int level, std::size_t depth, const Label& done) {
  const Xbyak::Address counter = slot(frame::kCounters + frame::kSlot * level);
  Gpr value(a_);
  load_extent(value, level);
  c_.mov(counter, value);
  c_.test(value, value);
  c_.jz(done, Xbyak::CodeGenerator::T_NEAR);
  for (std::size_t k = 0; k < count(); ++k) {
    c_.mov(value, pointer_slot(depth, k));
    if (backwards_) to_last_row(value, k, level);
    c_.mov(pointer_slot(depth + 1, k), value);
  }
}

void OperandWalk::to_last_row(const Reg64& pointer, std::size_t k, int level) {
  Gpr stride(a_), rows(a_);
  load_stride(stride, k, level);
  load_extent(rows, level);
  c_.dec(rows);
  c_.imul(stride, rows);
  c_.add(pointer, stride);
}

void OperandWalk::advance(int level, std::size_t depth, int rows) {
  Gpr stride(a_);
  for (std::size_t k = 0; k < count(); ++k) {
    load_step(stride, k, level);
    if (rows > 1) c_.imul(stride, stride, rows);
    c_.add(pointer_slot(depth, k), stride);
  }
}

void OperandWalk::over(std::span<const int> levels, std::size_t depth,
                       const std::function<void(std::size_t depth)>& body) {
  if (levels.empty()) {
    body(depth);
    return;
  }
  Label again, done;
  enter(levels.front(), depth, done);
  c_.L(again);
  over(levels.subspan(1), depth + 1, body);
  advance(levels.front(), depth + 1, 1);
  c_.dec(slot(frame::kCounters + frame::kSlot * levels.front()));
  c_.jnz(again, Xbyak::CodeGenerator::T_NEAR);
  c_.L(done);
}

void OperandWalk::over_rows(int level, std::size_t depth, int at_once, const Memory& limit,
                            const std::function<void(std::size_t depth, int rows)>& body) {
  const Xbyak::Address counter = slot(frame::kCounters + frame::kSlot * level);
  // Code for groups that only pieces of the level would have does not pay.
  const std::int64_t extent = known_rows(spec_.levels[static_cast<std::size_t>(level)].extent);
  const auto has = [&](int rows) {
    return level == cut_.level || (rows == at_once ? extent >= rows : (extent % at_once & rows) != 0);
  };
  Label again, done;
  enter(level, depth, done);
  c_.L(again);
  for (int rows = at_once; rows >= 1; rows /= 2) {
    if (rows > 1 && !has(rows)) continue;
    Label fewer;
    if (rows > 1) {
      c_.cmp(counter, rows);
      c_.jb(fewer, Xbyak::CodeGenerator::T_NEAR);
      c_.cmp(c_.qword[limit], rows);
      c_.jb(fewer, Xbyak::CodeGenerator::T_NEAR);
      point_beside(level, depth + 1, rows);
    }
    body(depth + 1, rows);
    advance(level, depth + 1, rows);
    c_.sub(counter, rows);
    c_.jnz(again, Xbyak::CodeGenerator::T_NEAR);
    if (rows > 1) c_.jmp(done, Xbyak::CodeGenerator::T_NEAR);
    c_.L(fewer);
  }
  c_.L(done);
}

void OperandWalk::point_beside(int level, std::size_t depth, int rows) {
  Gpr pointer(a_), stride(a_);
  for (std::size_t k = 0; k < count(); ++k) {
    load_step(stride, k, level);
    c_.mov(pointer, pointer_slot(depth, k));
    for (int row = 1; row < rows; ++row) {
      c_.add(pointer, stride);
      c_.mov(pointer_slot(beside(row), k), pointer);
    }
  }
}

void OperandWalk::over_groups(int level, std::size_t depth, int rows, int frame_bytes,
                              const std::function<void(std::size_t depth)>& body) {
  const Xbyak::Address counter = slot(frame::kCounters + frame::kSlot * level), group = slot(frame::kGroupRows);
  Label again, done;
  enter(level, depth, done);
  c_.L(again);
  {
    Gpr value(a_), stride(a_);
    for (std::size_t k = 0; k < count(); ++k) {
      load_stride(stride, k, level);
      c_.mov(value, pointer_slot(depth + 1, k));
      for (int row = 1; row < rows; ++row) {
        c_.add(value, stride);
        c_.mov(c_.qword[pointer_slot(depth + 1, k).getRegExp() + row * frame_bytes], value);
      }
    }
    c_.mov(value, counter);
    c_.mov(stride.r32(), rows);
    c_.cmp(value, stride);
    c_.cmova(value, stride);
    for (int row = 0; row < rows; ++row) {
      c_.mov(c_.qword[group.getRegExp() + row * frame_bytes], value);
      c_.dec(value);
    }
  }
  body(depth + 1);
  {
    Gpr taken(a_), stride(a_);
    c_.mov(taken, group);
    for (std::size_t k = 0; k < count(); ++k) {
      load_stride(stride, k, level);
      c_.imul(stride, taken);
      c_.add(pointer_slot(depth + 1, k), stride);
    }
    c_.sub(counter, taken);
  }
  c_.jnz(again, Xbyak::CodeGenerator::T_NEAR);
  c_.L(done);
}

void OperandWalk::each_of_group(int frame_bytes, const std::function<void()>& body) {
  Label again, done;
  c_.L(again);
  body();
  c_.cmp(slot(frame::kGroupRows), 1);
  c_.je(done);
  c_.add(c_.rbp, frame_bytes);
  c_.jmp(again, Xbyak::CodeGenerator::T_NEAR);
  c_.L(done);
  c_.mov(c_.rbp, c_.qword[c_.rdi + offsetof(KernelArgs, scratch)]);
}

OperandWalk::KeptPointers::KeptPointers(OperandWalk& walk, std::size_t depth) : walk_(walk) {
  walk.kept_depth_ = depth;
  for (std::size_t k = 0; k < std::min(walk.count(), kMostKept); ++k) {
    registers_.push_back(std::make_unique<Gpr>(walk.a_));
    walk.c_.mov(*registers_.back(), walk.pointer_slot(depth, k));
    walk.kept_[k] = registers_.back()->reg().getIdx();
  }
}

OperandWalk::KeptPointers::~KeptPointers() { std::fill(walk_.kept_.begin(), walk_.kept_.end(), std::nullopt); }

Reg64 OperandWalk::pointer_of(std::size_t k, std::size_t depth, std::optional<Gpr>& spare) const {
  if (depth == kept_depth_ && kept_[k]) return Reg64(*kept_[k]);
  spare.emplace(a_);
  c_.mov(*spare, pointer_slot(depth, k));
  return spare->reg();
}

void OperandWalk::ahead(std::size_t k, const At& at, const Reg64& distance,
                        const std::function<void(const Memory& place)>& ask) {
  std::optional<Gpr> spare;
  const Reg64 pointer = pointer_of(k, at.depth, spare);
  Gpr place(a_);
  c_.lea(place, c_.ptr[distance + at.index * byte_size(operand(k).dtype)]);
  ask(pointer + place.reg());
}

}  // namespace tenfold::jit
