// SPDX-License-Identifier: Apache-2.0
#include "jit/staging.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "jit/frame.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Label;
using Xbyak::Reg64;
using Xbyak::Xmm;

/// Registers that are none of the arguments, whoever else has them, as long as this lives: leases of the nests around a
/// copy have few to spare.
class Borrowed {
 public:
  Borrowed(Xbyak::CodeGenerator& code, std::size_t count, const std::vector<Reg64>& arguments) : code_(code) {
    for (const Reg64& reg : {code.rax, code.rcx, code.rdx, code.rbx, code.rsi, code.r8}) {
      bool is_argument = false;
      for (const Reg64& argument : arguments) is_argument = is_argument || argument == reg;
      if (own_.size() < count && !is_argument) own_.push_back(reg);
    }
    for (const Reg64& reg : own_) code_.push(reg);
  }
  ~Borrowed() {
    for (std::size_t i = own_.size(); i-- > 0;) code_.pop(own_[i]);
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  const Reg64& operator[](std::size_t i) const { return own_[i]; }

 private:
  Xbyak::CodeGenerator& code_;
  std::vector<Reg64> own_;
};

/// The elements of an operand one after another, four to a pointer.
class ElementsApart {
 public:
  ElementsApart(Xbyak::CodeGenerator& code, const Reg64& at, const Reg64& stride, const Reg64& three_strides)
      : code_(code), at_(at), stride_(stride), three_strides_(three_strides) {}

  Xbyak::RegExp next() {
    const int element = taken_++ % 4;
    if (element == 0 && taken_ > 1) code_.lea(at_, code_.ptr[at_ + stride_ * 4]);
    return element == 0 ? Xbyak::RegExp(at_) : element == 3 ? at_ + three_strides_ : at_ + stride_ * element;
  }

 private:
  Xbyak::CodeGenerator& code_;
  Reg64 at_, stride_, three_strides_;
  int taken_ = 0;
};

constexpr int kPart = 16;

/// So many elements of `bytes` side by side in a register, of at most 16 bytes together.
void gather_part(Xbyak::CodeGenerator& c, const Xmm& d, int count, int bytes, ElementsApart& elements) {
  if (bytes < 4) d.getIdx() < 16 ? c.vpxor(d, d, d) : c.vpxord(d, d, d);
  for (int i = 0; i < count; ++i) {
    const Xbyak::RegExp from = elements.next();
    const auto place = static_cast<std::uint8_t>(i);
    switch (bytes) {
      case 1: c.vpinsrb(d, d, c.byte[from], place); break;
      case 2: c.vpinsrw(d, d, c.word[from], place); break;
      case 4: i == 0 ? c.vmovd(d, c.dword[from]) : c.vpinsrd(d, d, c.dword[from], place); break;
      default: i == 0 ? c.vmovq(d, c.qword[from]) : c.vpinsrq(d, d, c.qword[from], place); break;
    }
  }
}

/// The register's first `bytes`, from 4 on.
void store_part(Xbyak::CodeGenerator& c, const Xbyak::RegExp& to, int s, int bytes) {
  switch (bytes) {
    case 4: c.vmovd(c.dword[to], Xmm(s)); break;
    case 8: c.vmovq(c.qword[to], Xmm(s)); break;
    case 16: c.vmovups(c.ptr[to], Xmm(s)); break;
    case 32: c.vmovups(c.ptr[to], Xbyak::Ymm(s)); break;
    default: c.vmovups(c.ptr[to], Xbyak::Zmm(s)); break;
  }
}

void insert_part(Xbyak::CodeGenerator& c, int d, int s, int place, int bytes) {
  if (bytes == 32) {
    const Xbyak::Ymm to(d);
    d < 16 ? c.vinserti128(to, to, Xmm(s), static_cast<std::uint8_t>(place))
           : c.vinserti32x4(to, to, Xmm(s), static_cast<std::uint8_t>(place));
  } else {
    c.vinserti32x4(Xbyak::Zmm(d), Xbyak::Zmm(d), Xmm(s), static_cast<std::uint8_t>(place));
  }
}

/// Numbers of a register's words of 64 bits, the even ones first.
constexpr Assembler::Bytes64 kEvenFirst = [] {
  Assembler::Bytes64 bytes{};
  for (std::uint8_t i = 0; i < 8; ++i) bytes[std::size_t{8} * i] = static_cast<std::uint8_t>(2 * i % 8 + i / 4);
  return bytes;
}();

/// Every other element from `at` on, as many as have `size` bytes (16, 32 or 64): those of the first half of the bytes
/// that they lie in, and those of what follows, which is read up to the last one.
void gather_every_other(Assembler& assembler, const Reg64& at, int offset, int bytes, int size,
                        const SpareVectors& spare) {
  Xbyak::CodeGenerator& c = assembler.code();
  const auto sized = [size](int index) {
    return Xmm(size == 16 ? Xbyak::Operand::XMM : size == 32 ? Xbyak::Operand::YMM : Xbyak::Operand::ZMM, index);
  };
  const Xmm d = sized(spare.first), other = sized(spare.second);
  const Xbyak::Address first = c.ptr[at + offset], rest = c.ptr[at + (offset + size - bytes)];
  switch (bytes) {
    case 4:
      c.vmovups(d, first);
      c.vshufps(d, d, rest, 0xd8);
      break;
    case 8:
      c.vmovupd(d, first);
      c.vshufpd(d, d, rest, size == 16 ? 0x2 : size == 32 ? 0xa : 0xaa);
      break;
    default:
      c.vmovups(d, assembler.splat(bytes == 1 ? 0x00ff00ff : 0x0000ffff, 4));
      c.vandps(d, d, first);
      c.vmovups(other, rest);
      if (bytes == 1) {
        c.vpsrlw(other, other, 8);
        c.vpackuswb(d, d, other);
      } else {
        c.vpsrld(other, other, 16);
        c.vpackusdw(d, d, other);
      }
  }
  if (size == 32) {
    const Xbyak::Ymm whole(spare.first);
    c.vpermq(whole, whole, 0xd8);
  } else if (size == 64) {
    c.vmovups(other, assembler.bytes(kEvenFirst));
    c.vpermq(Xbyak::Zmm(spare.first), Xbyak::Zmm(spare.second), Xbyak::Zmm(spare.first));
  }
}

}  // namespace

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

void emit_staging_of_step(Assembler& assembler, Staging way, const Reg64& operand, const Reg64& stride, int count,
                          int bytes, const SpareVectors& spare) {
  Xbyak::CodeGenerator& c = assembler.code();
  const Borrowed own(c, way == Staging::in ? 2 : 3, {operand, stride});
  ElementsApart elements(c, own[0], stride, own[1]);
  const Xbyak::RegExp staged = c.rbp + frame::kStaging;
  if (way == Staging::out) {
    c.mov(own[0], operand);
    c.lea(own[1], c.ptr[stride + stride * 2]);
    for (int i = 0; i < count; ++i) {
      const Xbyak::RegExp to = elements.next();
      move_element(c, own[2], bytes, staged + i * bytes, to);
    }
    return;
  }
  const int total = count * bytes, stored = std::min(spare.bytes, total), part = std::min(kPart, total);
  Label apart, done;
  if (total >= kPart) {
    c.cmp(stride, 2 * bytes);
    c.jne(apart, Xbyak::CodeGenerator::T_NEAR);
    for (int at = 0; at < total; at += stored) {
      gather_every_other(assembler, operand, 2 * at, bytes, stored, spare);
      store_part(c, staged + at, spare.first, stored);
    }
    c.jmp(done, Xbyak::CodeGenerator::T_NEAR);
    c.L(apart);
  }
  c.mov(own[0], operand);
  c.lea(own[1], c.ptr[stride + stride * 2]);
  for (int at = 0; at < total; at += stored) {
    for (int in_store = 0; in_store < stored; in_store += part) {
      const int to = in_store == 0 ? spare.first : spare.second;
      gather_part(c, Xmm(to), part / bytes, bytes, elements);
      if (in_store > 0) insert_part(c, spare.first, to, in_store / kPart, stored);
    }
    store_part(c, staged + at, spare.first, stored);
  }
  c.L(done);
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
