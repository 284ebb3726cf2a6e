// SPDX-License-Identifier: Apache-2.0
#include "jit/nest.hpp"

#include <cstddef>

#include "jit/abi.hpp"

namespace tenfold::jit {

using Xbyak::Label;
using Xbyak::Reg64;

Nest::Nest(Assembler& assembler, VectorLayer& layer, ReduceState& state, const kernel::KernelSpec& kernel_spec,
           const schedule::Schedule& kernel_schedule)
    : a(assembler),
      c(assembler.code()),
      v(layer),
      s(state),
      spec(kernel_spec),
      schedule(kernel_schedule),
      in(assembler),
      out(assembler) {}

std::vector<int> Nest::other_levels(bool reduced) const {
  std::vector<int> levels;
  for (int level = 0; level < static_cast<int>(spec.levels.size()); ++level)
    if (spec.levels[static_cast<std::size_t>(level)].reduced == reduced && level != schedule.vector_level)
      levels.push_back(level);
  return levels;
}

Xbyak::Address Nest::slot(int offset) const { return c.qword[c.rbp + offset]; }

void Nest::start() {
  c.mov(c.rbp, c.qword[c.rdi + offsetof(KernelArgs, scratch)]);
  c.mov(in, c.qword[c.rdi + offsetof(KernelArgs, inputs)]);
  c.mov(out, c.qword[c.rdi + offsetof(KernelArgs, outputs)]);
  Gpr tail(a);
  Label whole;
  load_extent(tail, schedule.vector_level);
  c.and_(tail, s.lanes() - 1);
  c.mov(slot(frame::kTailCount), tail);
  c.jz(whole);
  v.prepare_tail(tail, s.lane_bits(), s.input_bytes());
  c.L(whole);
}

void Nest::load_extent(const Reg64& d, int level) {
  c.mov(d, c.qword[c.rdi + offsetof(KernelArgs, extents) + 8 * static_cast<std::size_t>(level)]);
}

void Nest::load_input_stride(const Reg64& d, int level) {
  c.mov(d, c.qword[c.rdi + offsetof(KernelArgs, strides)]);
  c.mov(d, c.qword[d + 8 * stride_index(0, level)]);
}

void Nest::load_output_stride(const Reg64& d, int level) {
  c.mov(d, c.qword[c.rdi + offsetof(KernelArgs, strides)]);
  c.mov(d, c.qword[d + 8 * stride_index(1, level)]);
}

void Nest::over(const std::vector<int>& levels, const std::function<void()>& body) {
  if (levels.empty()) {
    body();
    return;
  }
  const int level = levels.front();
  const bool kept = !spec.levels[static_cast<std::size_t>(level)].reduced;
  const std::vector<int> inner(levels.begin() + 1, levels.end());
  Label again, done;
  {
    Gpr extent(a);
    load_extent(extent, level);
    c.mov(slot(frame::kSavedInput + 8 * level), in);
    if (kept) c.mov(slot(frame::kSavedOutput + 8 * level), out);
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
    if (kept) {
      load_output_stride(stride, level);
      c.add(out, stride);
    }
  }
  c.dec(slot(frame::kCounters + 8 * level));
  c.jnz(again);
  c.L(done);
  c.mov(in, slot(frame::kSavedInput + 8 * level));
  if (kept) c.mov(out, slot(frame::kSavedOutput + 8 * level));
}

Memory Nest::staging() { return Xbyak::util::rbp + frame::kStaging; }

void Nest::stage_in(const Reg64& from, const Reg64& stride, const Reg64& count) {
  copy_elements(from, stride, count, s.input_bytes(), true);
}

void Nest::stage_tail(const Reg64& from, const Reg64& stride, const Reg64& count) {
  if (!s.loads_tails()) s.clear_staging(staging());
  stage_in(from, stride, count);
}

void Nest::stage_out(const Reg64& to, const Reg64& stride, const Reg64& count) {
  copy_elements(to, stride, count, s.output_bytes(), false);
}

void Nest::copy_elements(const Reg64& operand, const Reg64& stride, const Reg64& count, int bytes, bool inwards) {
  // Three registers that are none of the arguments, whoever else has them: a copy is slow anyway, and leases of the
  // nests around it have few to spare.
  std::vector<Reg64> own;
  for (const Reg64& reg : {c.rax, c.rcx, c.rdx, c.rbx, c.rsi, c.r8})
    if (own.size() < 3 && reg != operand && reg != stride && reg != count) own.push_back(reg);
  const Reg64 &at = own[0], &index = own[1], &element = own[2];
  for (const Reg64& reg : own) c.push(reg);
  const auto move = [&](const Xbyak::RegExp& from, const Xbyak::RegExp& to) {
    if (bytes == 1) {
      c.movzx(element.cvt32(), c.byte[from]);
      c.mov(c.byte[to], element.cvt8());
    } else if (bytes == 2) {
      c.movzx(element.cvt32(), c.word[from]);
      c.mov(c.word[to], element.cvt16());
    } else if (bytes == 4) {
      c.mov(element.cvt32(), c.dword[from]);
      c.mov(c.dword[to], element.cvt32());
    } else {
      c.mov(element, c.qword[from]);
      c.mov(c.qword[to], element);
    }
  };
  Label again;
  c.mov(at, operand);
  c.xor_(index.cvt32(), index.cvt32());
  c.L(again);
  const Xbyak::RegExp staged = c.rbp + index * bytes + frame::kStaging;
  if (inwards) {
    move(at, staged);
  } else {
    move(staged, at);
  }
  c.add(at, stride);
  c.inc(index);
  c.cmp(index, count);
  c.jb(again);
  for (std::size_t i = own.size(); i-- > 0;) c.pop(own[i]);
}

}  // namespace tenfold::jit
