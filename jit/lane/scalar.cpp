// SPDX-License-Identifier: Apache-2.0
//
// What vector units lack, one lane after the other in general registers: the same instructions for every ISA.
#include "jit/lane/layer.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Reg64;

const Reg64 kIndex{Xbyak::Operand::RCX};
const Reg64 kLow{Xbyak::Operand::RAX};
const Reg64 kHigh{Xbyak::Operand::RDX};

/// Quotient of the dividend in rax (eax), in rax (eax).
void divide(Xbyak::CodeGenerator& c, bool is_signed, bool wide, const Xbyak::Address& by) {
  if (!is_signed) {
    c.xor_(kHigh.cvt32(), kHigh.cvt32());
    c.div(by);
    return;
  }
  if (wide) {
    c.cqo();
  } else {
    c.cdq();
  }
  c.idiv(by);
}

void one_lane(Xbyak::CodeGenerator& c, const LaneNode& node, const Memory& d, const Memory& a, const Memory& b) {
  const bool is_signed = node.op == LaneOp::divide_signed;
  if (node.type == LaneType::i64) {
    c.mov(kLow, c.qword[a + kIndex * 8]);
    divide(c, is_signed, true, c.qword[b + kIndex * 8]);
    c.mov(c.qword[d + kIndex * 8], kLow);
  } else {
    c.mov(kLow.cvt32(), c.dword[a + kIndex * 4]);
    divide(c, is_signed, false, c.dword[b + kIndex * 4]);
    c.mov(c.dword[d + kIndex * 4], kLow.cvt32());
  }
}

}  // namespace

void emit_lane_by_lane(Assembler& assembler, const LaneNode& node, int lanes, const Memory& d, const Memory& a,
                       const Memory& b) {
  Xbyak::CodeGenerator& c = assembler.code();
  Xbyak::Label next;
  for (const Reg64& saved : {kLow, kIndex, kHigh}) c.push(saved);
  c.xor_(kIndex.cvt32(), kIndex.cvt32());
  c.L(next);
  one_lane(c, node, d, a, b);
  c.inc(kIndex.cvt32());
  c.cmp(kIndex.cvt32(), lanes);
  c.jb(next);
  for (const Reg64& saved : {kHigh, kIndex, kLow}) c.pop(saved);
}

}  // namespace tenfold::jit
