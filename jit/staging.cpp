// SPDX-License-Identifier: Apache-2.0
#include "jit/staging.hpp"

#include <vector>

#include "jit/frame.hpp"

namespace tenfold::jit {

using Xbyak::Label;
using Xbyak::Reg64;

void emit_staging(Assembler& assembler, Staging way, const Reg64& operand, const Reg64& stride, const Reg64& count,
                  int bytes) {
  Xbyak::CodeGenerator& c = assembler.code();
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
  if (way == Staging::in) {
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
