// SPDX-License-Identifier: Apache-2.0
#include "jit/operand/access.hpp"

#include <optional>

#include "jit/assembler/frame.hpp"

namespace tenfold::jit {

using Xbyak::Label;
using Xbyak::Reg64;

namespace {

constexpr int kLine = 64;

}  // namespace

void OperandAccess::prepare(LaneLayer& layer) const {
  for (std::size_t k = 0; k < walk_.count(); ++k) layer.prepare(walk_.operand(k).dtype);
}

bool OperandAccess::is_direct(std::size_t k, const At& at, bool tails) const {
  return walk_.vector_stride(k) == 1 && (part_of(k, at) == Part::full || (at.masks && tails));
}

void OperandAccess::load(LaneLayer& layer, std::size_t k, Vec d, const At& at, LaneType type) {
  const DType dtype = walk_.operand(k).dtype;
  const bool widens = dtype == DType::f32 && type == LaneType::f64;
  if (walk_.vector_stride(k) == 0) {
    broadcast(layer, k, d, at.depth);
  } else if (is_direct(k, at, layer.loads_tails(dtype))) {
    std::optional<Gpr> spare;
    const int bytes = byte_size(dtype);
    const Memory from = walk_.pointer_of(k, at.depth, spare) + at.index * bytes + at.offset * bytes;
    if (widens && part_of(k, at) == Part::full) return layer.load_wide(d, from);
    layer.load(d, dtype, from, part_of(k, at));
  } else {
    stage(Staging::in, k, at, layer);
    layer.load(d, dtype, c_.rbp + frame::kStaging, Part::full);
  }
  const LaneSource narrow{.vec = d};
  if (widens) layer.operate({LaneOp::widen, LaneType::f32}, d, {&narrow, 1});
}

void OperandAccess::store(LaneLayer& layer, std::size_t k, Vec s, const At& at) {
  const DType dtype = walk_.operand(k).dtype;
  if (is_direct(k, at, layer.stores_tails(dtype))) {
    std::optional<Gpr> spare;
    const int bytes = byte_size(dtype);
    const Memory to = walk_.pointer_of(k, at.depth, spare) + at.index * bytes + at.offset * bytes;
    if (at.around && at.part == Part::full && layer.order() == LaneOrder::straight && may_go_around(layer, k)) {
      layer.store_around(to, dtype, s);
    } else {
      if (at.claim && at.part == Part::full && at.offset * bytes % kLine == 0) c_.prefetchw(c_.ptr[to + kClaimed]);
      layer.store(to, dtype, s, part_of(k, at));
    }
  } else {
    layer.store(c_.rbp + frame::kStaging, dtype, s, Part::full);
    stage(Staging::out, k, at, layer);
  }
}

void OperandAccess::store_joined(LaneLayer& layer, std::size_t k, Vec s, const At& at) {
  std::optional<Gpr> spare;
  const int bytes = byte_size(walk_.operand(k).dtype);
  const Memory to = walk_.pointer_of(k, at.depth, spare) + at.index * bytes + at.offset * bytes;
  if (at.claim) c_.prefetchw(c_.ptr[to + kClaimed]);
  layer.store_lanes(to, LaneType::f32, s);
}

void OperandAccess::find_lines(const LaneLayer& layer, int frames, int frame_bytes) {
  Gpr bits(a_), stride(a_);
  c_.xor_(bits.r32(), bits.r32());
  for (std::size_t k = walk_.inputs(); k < walk_.count(); ++k) {
    if (!may_go_around(layer, k)) continue;
    c_.mov(stride, walk_.pointer_slot(0, k));
    c_.or_(bits, stride);
    for (std::size_t input = 0; input < walk_.inputs(); ++input) {
      Label other;
      c_.cmp(stride, walk_.pointer_slot(0, input));
      c_.jne(other);
      c_.or_(bits, 1);
      c_.L(other);
    }
    for (int level = 0; level < static_cast<int>(walk_.spec().levels.size()); ++level) {
      if (!walk_.has_rows_along(level)) continue;
      walk_.load_stride(stride, k, level);
      c_.or_(bits, stride);
    }
  }
  c_.and_(bits.r32(), kLine - 1);
  for (int frame = 0; frame < frames; ++frame) c_.mov(c_.qword[c_.rbp + frame::kOnLines + frame * frame_bytes], bits);
}

void OperandAccess::either_way(const std::function<void(bool around)>& body) {
  Label within, done;
  c_.cmp(c_.qword[c_.rbp + frame::kOnLines], 0);
  c_.jne(within, Xbyak::CodeGenerator::T_NEAR);
  body(true);
  c_.jmp(done, Xbyak::CodeGenerator::T_NEAR);
  c_.L(within);
  body(false);
  c_.L(done);
}

void OperandAccess::broadcast(LaneLayer& layer, std::size_t k, Vec d, std::size_t depth) {
  std::optional<Gpr> spare;
  layer.broadcast(d, walk_.operand(k).dtype, walk_.pointer_of(k, depth, spare));
}

void OperandAccess::stage(Staging way, std::size_t k, const At& at, const LaneLayer& layer) {
  std::optional<Gpr> spare;
  const Reg64 pointer = walk_.pointer_of(k, at.depth, spare);
  Gpr from(a_), stride(a_), number(a_);
  walk_.load_pitch(stride, k);
  c_.lea(from, c_.ptr[at.index + at.offset]);
  c_.imul(from, stride);
  c_.add(from, pointer);
  const int bytes = byte_size(walk_.operand(k).dtype);
  if (at.part == Part::full && walk_.vector_stride(k) != 1) {
    const ElementStep step{layer.lanes(), bytes};
    if (way == Staging::out) return emit_scatter_step(a_, from, stride, step);
    return emit_gather_step(a_, from, stride, known_gap(walk_.vector_stride(k)), step, layer.spare());
  }
  if (at.part == Part::tail) {
    c_.mov(number, c_.qword[at.tail_count]);
  } else {
    c_.mov(number.r32(), layer.lanes());
  }
  walk_.vector_stride(k) == 1 ? emit_staging_side_by_side(a_, way, from, number, bytes)
                              : emit_staging(a_, way, from, stride, number, bytes);
}

void OperandAccess::put_one(std::size_t k, std::size_t depth) {
  std::optional<Gpr> spare;
  copy_one(byte_size(walk_.operand(k).dtype), walk_.pointer_of(k, depth, spare), c_.rbp + frame::kStaging);
}

void OperandAccess::put_group(std::size_t k, std::size_t depth, int rows, int frame_bytes) {
  const int bytes = byte_size(walk_.operand(k).dtype);
  Gpr to(a_);
  Label done;
  for (int row = 0; row < rows; ++row) {
    if (row > 0) {
      c_.cmp(c_.qword[c_.rbp + frame::kGroupRows], row);
      c_.jbe(done, Xbyak::CodeGenerator::T_NEAR);
    }
    c_.mov(to, c_.qword[walk_.pointer_slot(depth, k).getRegExp() + row * frame_bytes]);
    copy_one(bytes, to, c_.rbp + (frame::kStaging + row * bytes));
  }
  c_.L(done);
}

void OperandAccess::copy_one(int bytes, const Reg64& to, const Memory& from) {
  Gpr element(a_);
  move_element(c_, element, bytes, from, to);
}

}  // namespace tenfold::jit
