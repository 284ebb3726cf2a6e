// SPDX-License-Identifier: Apache-2.0
#include "jit/vector/narrow_tail.hpp"

#include "jit/assembler/frame.hpp"

namespace tenfold::jit {

using Xbyak::Xmm;
using Xbyak::Ymm;

namespace {

/// Masks of the elements of `bytes` from `first` on that fill 32 bytes: whole dwords of a tail of `count`, and what is
/// left of it behind them.
void prepare_masks(Assembler& assembler, const Xbyak::Reg64& count, int first, int bytes, const Memory& dwords,
                   const Memory& odd) {
  Xbyak::CodeGenerator& c = assembler.code();
  const Ymm number(14), mask(15);
  const Xmm low(14);
  const int of_dword = 4 / bytes;
  c.vmovd(low, count.cvt32());
  c.vpbroadcastd(number, low);
  c.vpcmpgtd(mask, number, assembler.iota(first + of_dword - 1, of_dword, 4, 0));
  c.vmovdqu(c.ptr[dwords], mask);
  bytes == 1 ? c.vpbroadcastb(number, low) : c.vpbroadcastw(number, low);
  const Xbyak::Address elements = assembler.iota(first, 1, bytes, 0);
  bytes == 1 ? c.vpcmpgtb(mask, number, elements) : c.vpcmpgtw(mask, number, elements);
  c.vmovdqu(number, c.ptr[dwords]);
  c.vpandn(mask, number, mask);
  c.vmovdqu(c.ptr[odd], mask);
}

}  // namespace

void prepare_word_tail(Assembler& assembler, const Xbyak::Reg64& count, int first, const Memory& pairs,
                       const Memory& odd) {
  Xbyak::CodeGenerator& c = assembler.code();
  prepare_masks(assembler, count, first, 2, pairs, odd);
  if (first > 0) return;
  const Gpr last(assembler);
  c.lea(last, c.ptr[count + count - 2]);
  c.mov(c.qword[c.rbp + frame::kTailLast], last);
}

void load_word_tail(Assembler& assembler, const Ymm& d, const Memory& from, int first, const Memory& pairs,
                    const Memory& odd) {
  Xbyak::CodeGenerator& c = assembler.code();
  const Ymm spare(15);
  c.vmovdqu(spare, c.ptr[pairs]);
  c.vpmaskmovd(d, spare, c.ptr[from + 2 * first]);
  // A register that may well be the address's own.
  c.push(c.rax);
  c.lea(c.rax, c.ptr[from]);
  c.add(c.rax, c.qword[c.rbp + frame::kTailLast]);
  c.vpbroadcastw(spare, c.ptr[c.rax]);
  c.pop(c.rax);
  c.vpand(spare, spare, c.ptr[odd]);
  c.vpor(d, d, spare);
}

void prepare_byte_tail(Assembler& assembler, const Xbyak::Reg64& count, int first, const Memory& quads,
                       const Memory& odd) {
  prepare_masks(assembler, count, first, 1, quads, odd);
}

void load_byte_tail(Assembler& assembler, const std::array<Ymm, 2>& d, const Memory& from, const Memory& quads,
                    const Memory& odd) {
  Xbyak::CodeGenerator& c = assembler.code();
  const Ymm spare(15);
  for (int half = 0; half < 2; ++half) {
    c.vmovdqu(spare, c.ptr[quads + 32 * half]);
    c.vpmaskmovd(d[static_cast<std::size_t>(half)], spare, c.ptr[from + 32 * half]);
  }
  // Registers that may well be the address's own. The odd bytes end up lowest in eax: of four and more, the last four
  // are shifted down by those that are none; of less, each is loaded, where there is no second or third the last once
  // more.
  Xbyak::Label few, found;
  for (const Xbyak::Reg64& pushed : {c.rax, c.rcx, c.rdx}) c.push(pushed);
  c.lea(c.rax, c.ptr[from]);
  c.mov(c.rcx, c.qword[c.rbp + frame::kTailCount]);
  c.cmp(c.rcx, 4);
  c.jb(few);
  c.mov(c.eax, c.dword[c.rax + c.rcx - 4]);
  c.neg(c.ecx);
  c.shl(c.ecx, 3);
  c.shr(c.eax, c.cl);
  c.jmp(found);
  c.L(few);
  c.mov(c.edx, c.ecx);
  c.shr(c.edx, 1);
  c.movzx(c.edx, c.byte[c.rax + c.rdx]);
  c.shl(c.edx, 8);
  c.movzx(c.ecx, c.byte[c.rax + c.rcx - 1]);
  c.shl(c.ecx, 16);
  c.movzx(c.eax, c.byte[c.rax]);
  c.or_(c.eax, c.edx);
  c.or_(c.eax, c.ecx);
  c.L(found);
  c.vmovd(Xmm(spare.getIdx()), c.eax);
  for (const Xbyak::Reg64& popped : {c.rdx, c.rcx, c.rax}) c.pop(popped);
  c.vpbroadcastd(spare, Xmm(spare.getIdx()));
  for (int half = 0; half < 2; ++half) {
    const Ymm& to = d[static_cast<std::size_t>(half)];
    c.vpand(Ymm(14), spare, c.ptr[odd + 32 * half]);
    c.vpor(to, to, Ymm(14));
  }
}

}  // namespace tenfold::jit
