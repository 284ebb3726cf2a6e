// SPDX-License-Identifier: Apache-2.0
#include "jit/lane/avx2_words.hpp"

#include <memory>

namespace tenfold::jit {
namespace {

using Xbyak::Ymm;

constexpr int kOddWords = 0xaa;
constexpr int kUnordered = 3;
constexpr std::uint64_t kCanonicalNan = 0x7fc00000;
const Ymm kFirst(14), kSecond(15);

/// Words that come in turns of two registers one after the other.
void straighten(Assembler& assembler, const Ymm& d, const Ymm& s) {
  std::array<std::uint8_t, 32> even_first{};
  for (std::size_t i = 0; i < even_first.size(); ++i) {
    const std::size_t word = i % 16 / 2;
    even_first[i] = static_cast<std::uint8_t>(4 * (word % 4) + 2 * (word / 4) + i % 2);
  }
  assembler.code().vpshufb(s, s, assembler.bytes(even_first));
  assembler.code().vpermq(d, s, 0xd8);
}

/// One register's words, in the lower halves of lanes, whatever NaNs there are.
void round_any(Assembler& assembler, const Ymm& d, const Ymm& s) {
  Xbyak::CodeGenerator& code = assembler.code();
  code.vcmpps(kFirst, s, s, kUnordered);
  code.vblendvps(kSecond, s, assembler.splat(kCanonicalNan, 4), kFirst);
  add_half_units(assembler, kFirst, kSecond);
  code.vpsrld(d, kFirst, 16);
}

/// The words of `s` in `d`, which may be either register of it.
void round_any(Assembler& assembler, const Ymm& d, const Avx2Vector& s, LaneOrder order) {
  Xbyak::CodeGenerator& code = assembler.code();
  // What `d` overwrites goes first.
  const std::size_t own = d.getIdx() == s[1].getIdx() ? 1 : 0;
  round_any(assembler, d, s[own]);
  round_any(assembler, kFirst, s[1 - own]);
  const Ymm &lower = own == 0 ? d : kFirst, &upper = own == 0 ? kFirst : d;
  if (order == LaneOrder::even_first) {
    code.vpslld(kSecond, upper, 16);
    code.vpblendw(d, lower, kSecond, kOddWords);
  } else {
    code.vpackusdw(d, lower, upper);
    code.vpermq(d, d, 0xd8);
  }
}

/// The upper words of `s`, in turns or one register's after the other's.
void upper_words(Assembler& assembler, const Ymm& d, const Avx2Vector& s, bool in_turns) {
  Xbyak::CodeGenerator& code = assembler.code();
  code.vpsrld(kFirst, s[0], 16);
  if (in_turns) return code.vpblendw(d, kFirst, s[1], kOddWords);
  code.vpsrld(kSecond, s[1], 16);
  code.vpackusdw(d, kFirst, kSecond);
  code.vpermq(d, d, 0xd8);
}

}  // namespace

void add_half_units(Assembler& assembler, const Ymm& d, const Ymm& s) {
  Xbyak::CodeGenerator& code = assembler.code();
  code.vpsrld(d, s, 16);
  code.vpand(d, d, assembler.splat(1, 4));
  code.vpaddd(d, d, s);
  code.vpaddd(d, d, assembler.splat(0x7fff, 4));
}

/// Upper halves go up by one where the lower ones are above half a unit, or are half a unit and the upper one is odd.
/// That is where the lower one, less one for an even upper one, but not below 0, has its top bit set.
void round_words(Assembler& assembler, const Ymm& d, const Ymm& even, const Ymm& odd, const Ymm& spare) {
  Xbyak::CodeGenerator& code = assembler.code();
  const Ymm &upper = kFirst, &lower = kSecond;
  code.vpsrld(upper, even, 16);
  code.vpblendw(upper, upper, odd, kOddWords);
  code.vpslld(lower, odd, 16);
  code.vpblendw(lower, even, lower, kOddWords);
  code.vpandn(spare, upper, assembler.splat(1, 2));
  code.vpsubusw(lower, lower, spare);
  code.vpsrlw(lower, lower, 15);
  code.vpaddw(d, upper, lower);
}

/// Where there is no NaN, which one comparison of two registers sees, none has to be made canonical.
void join_words(Assembler& assembler, const Avx2Vector& d, const Avx2Vector& a, const Avx2Vector& b, LaneOrder order,
                bool exact) {
  Xbyak::CodeGenerator& code = assembler.code();
  const auto special = std::make_shared<Xbyak::Label>(), done = std::make_shared<Xbyak::Label>();
  const bool is_one = a[0].getIdx() == b[0].getIdx(), is_b = d[0].getIdx() == b[0].getIdx();
  // What both halves of `d` overwrite goes first.
  const auto each = [=, &code](const auto& round) {
    if (is_b && !is_one) round(d[1], b);
    round(d[0], a);
    if (is_one) code.vmovdqa(d[1], d[0]);
    if (!is_b && !is_one) round(d[1], b);
  };
  code.vcmpps(kFirst, a[0], a[1], kUnordered);
  code.vcmpps(kSecond, b[0], b[1], kUnordered);
  code.vorps(kFirst, kFirst, kSecond);
  code.vptest(kFirst, kFirst);
  code.jnz(*special, Xbyak::CodeGenerator::T_NEAR);
  each([&](const Ymm& to, const Avx2Vector& s) {
    const bool in_turns = order == LaneOrder::even_first;
    if (exact) return upper_words(assembler, to, s, in_turns);
    round_words(assembler, in_turns ? to : kFirst, s[0], s[1], to);
    if (!in_turns) straighten(assembler, to, kFirst);
  });
  code.L(*done);
  assembler.aside([&assembler, each, order, special, done] {
    assembler.code().L(*special);
    each([&](const Ymm& to, const Avx2Vector& s) { round_any(assembler, to, s, order); });
    assembler.code().jmp(*done, Xbyak::CodeGenerator::T_NEAR);
  });
}

}  // namespace tenfold::jit
