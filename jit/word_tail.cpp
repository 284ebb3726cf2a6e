// SPDX-License-Identifier: Apache-2.0
#include "jit/word_tail.hpp"

#include "jit/frame.hpp"

namespace tenfold::jit {

using Xbyak::Xmm;
using Xbyak::Ymm;

void prepare_word_tail(Assembler& assembler, const Xbyak::Reg64& count, int first, const Memory& pairs,
                       const Memory& odd) {
  Xbyak::CodeGenerator& c = assembler.code();
  const Ymm number(14), mask(15);
  c.vmovd(Xmm(number.getIdx()), count.cvt32());
  c.vpbroadcastd(number, Xmm(number.getIdx()));
  c.vpcmpgtd(mask, number, assembler.iota(first + 1, 2, 4, 0));
  c.vmovdqu(c.ptr[pairs], mask);
  c.vpbroadcastw(number, Xmm(number.getIdx()));
  c.vpcmpgtw(mask, number, assembler.iota(first, 1, 2, 0));
  c.vmovdqu(number, c.ptr[pairs]);
  c.vpandn(mask, number, mask);
  c.vmovdqu(c.ptr[odd], mask);
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

}  // namespace tenfold::jit
