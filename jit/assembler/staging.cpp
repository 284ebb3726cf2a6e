// SPDX-License-Identifier: Apache-2.0
#include "jit/assembler/staging.hpp"

#include <bit>

#include "jit/assembler/borrowed.hpp"
#include "jit/assembler/frame.hpp"

namespace tenfold::jit {

using Xbyak::Label;
using Xbyak::Reg64;

void move_element(Xbyak::CodeGenerator& c, const Reg64& element, int bytes, const Xbyak::RegExp& from,
                  const Xbyak::RegExp& to) {
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
}

void emit_staging(Assembler& assembler, Staging way, const Reg64& operand, const Reg64& stride, const Reg64& count,
                  int bytes) {
  Xbyak::CodeGenerator& c = assembler.code();
  const Borrowed own(c, 3, {operand, stride, count});
  const Reg64 &at = own[0], &index = own[1], &element = own[2];
  Label again;
  c.mov(at, operand);
  c.xor_(index.cvt32(), index.cvt32());
  c.L(again);
  const Xbyak::RegExp staged = c.rbp + index * bytes + frame::kStaging;
  if (way == Staging::in) {
    move_element(c, element, bytes, at, staged);
  } else {
    move_element(c, element, bytes, staged, at);
  }
  c.add(at, stride);
  c.inc(index);
  c.cmp(index, count);
  c.jb(again);
}

void emit_staging_side_by_side(Assembler& assembler, Staging way, const Reg64& operand, const Reg64& count, int bytes) {
  Xbyak::CodeGenerator& c = assembler.code();
  const Borrowed own(c, 3, {operand, count});
  const Reg64 &size = own[0], &index = own[1], &element = own[2];
  const auto copy = [&](int width, const Xbyak::RegExp& at) {
    const Xbyak::RegExp outside = operand + at, staged = c.rbp + frame::kStaging + at;
    way == Staging::in ? move_element(c, element, width, outside, staged)
                       : move_element(c, element, width, staged, outside);
  };
  Label again, below_eight, below_four, done;
  c.mov(size, count);
  if (bytes > 1) c.shl(size, std::countr_zero(static_cast<unsigned>(bytes)));
  c.sub(size, 8);
  c.jb(below_eight);
  c.xor_(index.cvt32(), index.cvt32());
  c.L(again);
  copy(8, index);
  c.add(index, 8);
  c.cmp(index, size);
  c.jb(again);
  copy(8, size);
  if (bytes < 8) {
    c.jmp(done);
    c.L(below_eight);
    c.add(size, 8 - 4);
    c.js(below_four);
    copy(4, Xbyak::RegExp(0));
    copy(4, size);
    if (bytes < 4) {
      c.jmp(done);
      c.L(below_four);
      copy(bytes, Xbyak::RegExp(0));
      if (bytes == 1) {
        c.add(size, 4 - 1);  // the last byte, and the one in the middle
        copy(1, size);
        c.shr(size, 1);
        copy(1, size);
      }
    }
  }
  c.L(done);
  if (bytes >= 8) c.L(below_eight);
  if (bytes >= 4) c.L(below_four);
}

}  // namespace tenfold::jit
