// SPDX-License-Identifier: Apache-2.0
//
// Whole steps of elements that lie apart: put together in vectors, or taken apart.
#include <algorithm>
#include <array>
#include <vector>

#include "jit/assembler/borrowed.hpp"
#include "jit/assembler/frame.hpp"
#include "jit/assembler/staging.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Reg64;
using Xbyak::Xmm;

/// The elements of an operand one after another, four to a pointer.
class ElementsApart {
 public:
  ElementsApart(Xbyak::CodeGenerator& code, const Reg64& at, const Reg64& stride, const Reg64& three_strides)
      : code_(code), at_(at), stride_(stride), three_strides_(three_strides) {}

  void start(const Reg64& operand) {
    code_.mov(at_, operand);
    code_.lea(three_strides_, code_.ptr[stride_ + stride_ * 2]);
  }

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
/// What a shuffle of bytes makes zero.
constexpr std::uint8_t kNoByte = 0x80;

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

void insert_part(Xbyak::CodeGenerator& c, int d, const Xbyak::Operand& part, int place, int bytes) {
  if (bytes == 32) {
    const Xbyak::Ymm to(d);
    d < 16 ? c.vinserti128(to, to, part, static_cast<std::uint8_t>(place))
           : c.vinserti32x4(to, to, part, static_cast<std::uint8_t>(place));
  } else {
    c.vinserti32x4(Xbyak::Zmm(d), Xbyak::Zmm(d), part, static_cast<std::uint8_t>(place));
  }
}

/// A register's first `size` bytes (16, 32 or 64).
Xmm sized(int index, int size) {
  return Xmm(size == 16 ? Xbyak::Operand::XMM : size == 32 ? Xbyak::Operand::YMM : Xbyak::Operand::ZMM, index);
}

void join(Xbyak::CodeGenerator& c, const Xmm& d, const Xmm& s) {
  d.getIdx() < 16 && !d.isZMM() ? c.vpor(d, d, s) : c.vpord(d, d, s);
}

/// Sixteen bytes of memory that have some of the elements of a lane of 16 bytes.
struct Chunk {
  int offset;        ///< elements from the lane's first one
  int first, count;  ///< the lane's elements that are in it
};

/// The fewest chunks that have all elements of a lane, of `bytes` each and `gap` of themselves apart, and read nothing
/// behind the last one. An element that is alone in its chunk has its own place there.
std::vector<Chunk> chunks_of_lane(int bytes, int gap) {
  const int elements = kPart / bytes, last = (elements - 1) * gap + 1 - elements;
  std::vector<Chunk> chunks;
  for (int i = 0; i < elements;) {
    Chunk chunk{std::min(i * gap, last), i, 0};
    for (; i < elements && i * gap < chunk.offset + elements; ++i) ++chunk.count;
    if (chunk.count == 1) chunk.offset = chunk.first * (gap - 1);
    chunks.push_back(chunk);
  }
  return chunks;
}

/// Where a chunk's elements go, in each lane.
Assembler::Bytes64 places_of(const Chunk& chunk, int bytes, int gap) {
  Assembler::Bytes64 shuffle{};
  shuffle.fill(kNoByte);
  for (int i = chunk.first; i < chunk.first + chunk.count; ++i)
    for (int byte = 0; byte < bytes; ++byte)
      for (int lane = 0; lane < 64; lane += kPart)
        shuffle[static_cast<std::size_t>(lane + i * bytes + byte)] =
            static_cast<std::uint8_t>((i * gap - chunk.offset) * bytes + byte);
  return shuffle;
}

/// Elements `gap` of themselves apart from `at` on, as many as have `size` bytes (16, 32 or 64). Each lane of 16 bytes
/// shuffles its own, as shuffles of bytes do not leave a lane.
void gather_every(Assembler& assembler, const Xbyak::RegExp& at, int gap, int bytes, int size,
                  const SpareVectors& spare) {
  Xbyak::CodeGenerator& c = assembler.code();
  const std::vector<Chunk> chunks = chunks_of_lane(bytes, gap);
  const Xmm d = sized(spare.first, size), other = sized(spare.second, size);
  const auto load = [&](const Xmm& to, const Chunk& chunk) {
    const Xbyak::RegExp from = at + chunk.offset * bytes;
    c.vmovups(Xmm(to.getIdx()), c.ptr[from]);
    for (int lane = 1; lane < size / kPart; ++lane)
      insert_part(c, to.getIdx(), c.ptr[from + lane * kPart * gap], lane, size);
  };
  load(d, chunks[0]);
  if (chunks.size() == 2 && bytes == 8) {
    load(other, chunks[1]);
    return c.vshufpd(d, d, other, 0xaa);
  }
  if (chunks.size() == 2 && bytes == 4) {
    load(other, chunks[1]);
    return c.vshufps(d, d, other, 0xcc);
  }
  const bool blends = bytes == 4 && static_cast<int>(chunks.size()) == kPart / bytes && spare.second < 16;
  if (!blends) c.vpshufb(d, d, assembler.bytes(places_of(chunks[0], bytes, gap)));
  for (std::size_t i = 1; i < chunks.size(); ++i) {
    load(other, chunks[i]);
    if (blends) {
      c.vpblendd(d, d, other, static_cast<std::uint8_t>(0x11 << i));
    } else {
      c.vpshufb(other, other, assembler.bytes(places_of(chunks[i], bytes, gap)));
      join(c, d, other);
    }
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
void gather_every_other(Assembler& assembler, const Xbyak::RegExp& at, int bytes, int size, const SpareVectors& spare) {
  Xbyak::CodeGenerator& c = assembler.code();
  const Xmm d = sized(spare.first, size), other = sized(spare.second, size);
  const Xbyak::Address first = c.ptr[at], rest = c.ptr[at + (size - bytes)];
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

void emit_gather_step(Assembler& assembler, const Reg64& operand, const Reg64& stride, int gap, ElementStep step,
                      const SpareVectors& spare) {
  Xbyak::CodeGenerator& c = assembler.code();
  const Xbyak::RegExp staged = c.rbp + frame::kStaging;
  const int bytes = step.bytes, total = step.count * bytes;
  const int stored = std::min(spare.bytes, total), part = std::min(kPart, total);
  if (gap > 0 && total >= kPart) {
    for (int at = 0; at < total; at += stored) {
      gap == 2 ? gather_every_other(assembler, operand + gap * at, bytes, stored, spare)
               : gather_every(assembler, operand + gap * at, gap, bytes, stored, spare);
      store_part(c, staged + at, spare.first, stored);
    }
    return;
  }
  const Borrowed own(c, 3, {operand, stride});
  if (gap > 0) c.mov(own[2], gap * bytes);
  ElementsApart elements(c, own[0], gap > 0 ? own[2] : stride, own[1]);
  elements.start(operand);
  for (int at = 0; at < total; at += stored) {
    for (int in_store = 0; in_store < stored; in_store += part) {
      const int to = in_store == 0 ? spare.first : spare.second;
      gather_part(c, Xmm(to), part / bytes, bytes, elements);
      if (in_store > 0) insert_part(c, spare.first, Xmm(to), in_store / kPart, stored);
    }
    store_part(c, staged + at, spare.first, stored);
  }
}

void emit_scatter_step(Assembler& assembler, const Reg64& operand, const Reg64& stride, ElementStep step) {
  Xbyak::CodeGenerator& c = assembler.code();
  const Borrowed own(c, 3, {operand, stride});
  ElementsApart elements(c, own[0], stride, own[1]);
  elements.start(operand);
  for (int i = 0; i < step.count; ++i) {
    const Xbyak::RegExp to = elements.next();
    move_element(c, own[2], step.bytes, c.rbp + frame::kStaging + i * step.bytes, to);
  }
}

}  // namespace tenfold::jit
