// SPDX-License-Identifier: Apache-2.0
#include "jit/nest/nest.hpp"

#include <bit>
#include <cstddef>

#include "jit/abi.hpp"
#include "schedule/column_ends.hpp"

namespace tenfold::jit {

using Xbyak::Label;
using Xbyak::Reg64;

LoopNest::LoopNest(Assembler& assembler, VectorLayer& layer, ReduceState& state, const kernel::KernelSpec& kernel_spec,
                   const schedule::Schedule& kernel_schedule)
    : a(assembler),
      c(assembler.code()),
      v(layer),
      s(state),
      spec(kernel_spec),
      schedule(kernel_schedule),
      in(assembler),
      out(assembler),
      ends_whole(schedule::ends_whole(kernel_spec, state.lane_kind(), kernel_schedule)),
      runs_over(schedule::runs_over(kernel_spec, state.lane_kind(), kernel_schedule)) {}

std::vector<int> LoopNest::other_levels(bool reduced) const {
  std::vector<int> levels;
  for (int level = 0; level < static_cast<int>(spec.levels.size()); ++level)
    if (kernel::level(spec, level).reduced == reduced && level != schedule.vector_level) levels.push_back(level);
  return levels;
}

Xbyak::Address LoopNest::slot(int offset) const { return c.qword[c.rbp + offset]; }

void LoopNest::load_operands() {
  c.mov(c.rbp, c.qword[c.rdi + offsetof(KernelArgs, scratch)]);
  c.mov(in, c.qword[c.rdi + offsetof(KernelArgs, inputs)]);
  c.mov(out, c.qword[c.rdi + offsetof(KernelArgs, outputs)]);
  if (outputs() > 1) {
    Gpr second(a);
    c.mov(second, c.qword[c.rdi + offsetof(KernelArgs, outputs) + 8]);
    c.mov(slot(frame::kOutput2), second);
  }
}

void LoopNest::start() {
  load_operands();
  Gpr tail(a);
  Label whole;
  load_extent(tail, schedule.vector_level);
  c.and_(tail, s.lanes() - 1);
  c.mov(slot(frame::kTailCount), tail);
  if (ends_whole) return;
  c.jz(whole);
  v.prepare_tail(tail, s.lane_bits(), s.input_bytes());
  c.L(whole);
}

void LoopNest::load_extent(const Reg64& d, int level) {
  c.mov(d, c.qword[c.rdi + offsetof(KernelArgs, extents) + 8 * static_cast<std::size_t>(level)]);
}

void LoopNest::load_input_stride(const Reg64& d, int level) {
  c.mov(d, c.qword[c.rdi + offsetof(KernelArgs, strides)]);
  c.mov(d, c.qword[d + 8 * stride_index(0, level)]);
}

void LoopNest::load_output_stride(const Reg64& d, int output, int level) {
  c.mov(d, c.qword[c.rdi + offsetof(KernelArgs, strides)]);
  c.mov(d, c.qword[d + 8 * stride_index(1 + output, level)]);
}

void LoopNest::save_outputs(int first_slot, int second_slot) {
  c.mov(slot(first_slot), out);
  if (outputs() < 2) return;
  Gpr second(a);
  c.mov(second, slot(frame::kOutput2));
  c.mov(slot(second_slot), second);
}

void LoopNest::restore_outputs(int first_slot, int second_slot) {
  c.mov(out, slot(first_slot));
  if (outputs() < 2) return;
  Gpr second(a);
  c.mov(second, slot(second_slot));
  c.mov(slot(frame::kOutput2), second);
}

void LoopNest::advance_output(int output, const Reg64& bytes) {
  if (output == 0) {
    c.add(out, bytes);
  } else {
    c.add(slot(frame::kOutput2), bytes);
  }
}

void LoopNest::advance_outputs() {
  Gpr bytes(a);
  for (int output = 0; output < outputs(); ++output) {
    if (output_contiguous(output)) {
      c.mov(bytes.r32(), s.lanes() * s.output_bytes(output));
    } else {
      load_output_stride(bytes, output, schedule.vector_level);
      c.imul(bytes, bytes, s.lanes());
    }
    advance_output(output, bytes);
  }
}

void LoopNest::step_back(const Reg64& pointer, int element_bytes) {
  Gpr columns(a);
  c.mov(columns, slot(frame::kTailCount));
  c.lea(pointer, c.ptr[pointer + columns.reg() * element_bytes - s.lanes() * element_bytes]);
}

/// The step begins with no line.
void LoopNest::step_outputs_back() {
  around = false;
  for (int output = 0; output < outputs(); ++output) {
    Gpr to(a);
    c.xor_(to.r32(), to.r32());
    step_back(to, s.output_bytes(output));
    advance_output(output, to);
  }
}

void LoopNest::store_one() {
  s.finish(Part::one);
  s.store(0, out.reg(), Part::one);
  if (outputs() < 2) return;
  Gpr second(a);
  c.mov(second, slot(frame::kOutput2));
  s.store(1, second.reg(), Part::one);
}

void LoopNest::store_vector(Part part) {
  s.finish(Part::full);
  store_finished(part);
}

void LoopNest::store_finished(Part part) {
  for (int output = 0; output < outputs(); ++output) {
    Gpr to(a);
    if (output == 0) {
      c.mov(to, out);
    } else {
      c.mov(to, slot(frame::kOutput2));
    }
    if (output_contiguous(output) && (part == Part::full || s.stores_tails())) {
      v.set_around(around && part == Part::full);
      s.store(output, to.reg(), part);
      v.set_around(false);
      continue;
    }
    s.store(output, staging(), Part::full);
    const bool side_by_side = output_contiguous(output);
    Gpr count(a), stride(a);
    if (side_by_side || part != Part::full) load_count(count, part);
    if (!side_by_side) load_output_stride(stride, output, schedule.vector_level);
    if (side_by_side) {
      emit_staging_side_by_side(a, Staging::out, to, count, s.output_bytes(output));
    } else if (part == Part::full) {
      emit_scatter_step(a, to, stride, {s.lanes(), s.output_bytes(output)});
    } else {
      emit_staging(a, Staging::out, to, stride, count, s.output_bytes(output));
    }
  }
}

void LoopNest::store_either_way(const std::function<void()>& body) {
  constexpr int kLine = 64;
  if (!schedule.around) return body();
  Label within, done;
  {
    Gpr bits(a);
    c.mov(bits, out);
    if (outputs() > 1) c.or_(bits, slot(frame::kOutput2));
    c.test(bits, kLine - 1);
  }
  c.jnz(within, Xbyak::CodeGenerator::T_NEAR);
  around = true;
  body();
  around = false;
  c.jmp(done, Xbyak::CodeGenerator::T_NEAR);
  c.L(within);
  body();
  c.L(done);
}

void LoopNest::load_count(const Gpr& count, Part part) {
  if (part == Part::tail) {
    c.mov(count, slot(frame::kTailCount));
  } else {
    c.mov(count.r32(), s.lanes());
  }
}

void LoopNest::divide_into_streams(const Reg64& rows, int streams, bool adjacent) {
  if (adjacent) {
    c.shr(rows, std::countr_zero(static_cast<unsigned>(streams)));
  } else {
    cut_into_runs(c, rows, streams, streams == 2 ? 1 << 15 : 32);
  }
}

void LoopNest::over(const std::vector<int>& levels, const std::function<void()>& body) {
  if (levels.empty()) {
    body();
    return;
  }
  const int level = levels.front();
  const bool kept = !kernel::level(spec, level).reduced;
  const std::vector<int> inner(levels.begin() + 1, levels.end());
  Label again, done;
  {
    Gpr extent(a);
    load_extent(extent, level);
    c.mov(slot(frame::kSavedInput + 8 * level), in);
    if (kept) save_outputs(frame::kSavedOutput + 8 * level, frame::kSavedOutput2 + 8 * level);
    c.mov(slot(frame::kCounters + 8 * level), extent);
    c.test(extent, extent);
    c.jz(done);
  }
  c.L(again);
  over(inner, body);
  {
    Gpr stride(a);
    load_input_stride(stride, level);
    c.add(in, stride);
    for (int output = 0; kept && output < outputs(); ++output) {
      load_output_stride(stride, output, level);
      advance_output(output, stride);
    }
  }
  c.dec(slot(frame::kCounters + 8 * level));
  c.jnz(again);
  c.L(done);
  c.mov(in, slot(frame::kSavedInput + 8 * level));
  if (kept) restore_outputs(frame::kSavedOutput + 8 * level, frame::kSavedOutput2 + 8 * level);
}

std::vector<Memory> places_of_streams(const Reg64& base, const Reg64& stream, const std::optional<Gpr>& stream3,
                                      int count) {
  std::vector<Memory> places{Memory(base)};
  if (count > 1) places.push_back(base + stream);
  if (count > 2) places.push_back(base + stream * 2);
  if (count > 3) places.push_back(base + stream3->reg());
  return places;
}

Memory LoopNest::staging() { return Xbyak::util::rbp + frame::kStaging; }

void LoopNest::stage_in(const Reg64& from, const Reg64& stride, const Reg64& count) {
  emit_staging(a, Staging::in, from, stride, count, s.input_bytes());
}

void LoopNest::stage_step(const Reg64& from, const Reg64& stride) {
  emit_gather_step(a, from, stride, input_gap(), {s.lanes(), s.input_bytes()}, v.spare());
}

}  // namespace tenfold::jit
