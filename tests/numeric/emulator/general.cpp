// SPDX-License-Identifier: Apache-2.0
//
// Integer instructions of the general registers: moves, arithmetic with flags, shifts, conditions, branches, stack.
#include <array>
#include <bit>

#include "handlers.hpp"

namespace tenfold::emulator {
namespace {

std::uint64_t truncate(std::uint64_t value, int bits) {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}
bool top_bit(std::uint64_t value, int bits) { return ((value >> (bits - 1)) & 1) != 0; }
std::uint64_t sign_extend(std::uint64_t value, int bits) {
  const int spare = 64 - bits;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << spare) >> spare);
}

void set_result_flags(Step& s, std::uint64_t result, int bits) {
  Flags& f = s.machine().flags;
  f.zero = result == 0;
  f.sign = top_bit(result, bits);
  f.parity = std::popcount(result & 0xff) % 2 == 0;
}

std::uint64_t add_with_flags(Step& s, std::uint64_t a, std::uint64_t b, int bits) {
  const std::uint64_t r = truncate(a + b, bits);
  set_result_flags(s, r, bits);
  s.machine().flags.carry = r < a;
  s.machine().flags.overflow = top_bit((a ^ r) & (b ^ r), bits);
  return r;
}

std::uint64_t subtract_with_flags(Step& s, std::uint64_t a, std::uint64_t b, int bits) {
  const std::uint64_t r = truncate(a - b, bits);
  set_result_flags(s, r, bits);
  s.machine().flags.carry = a < b;
  s.machine().flags.overflow = top_bit((a ^ b) & (a ^ r), bits);
  return r;
}

std::uint64_t logic_flags(Step& s, std::uint64_t r, int bits) {
  set_result_flags(s, r, bits);
  s.machine().flags.carry = s.machine().flags.overflow = false;
  return r;
}

using Alu = std::uint64_t (*)(Step&, std::uint64_t, std::uint64_t, int);

Handler alu(Alu f, bool keeps_result) {
  return [f, keeps_result](Step& s) {
    const int bits = s.bits(0);
    const std::uint64_t r = f(s, truncate(s.read(0), bits), truncate(s.read(1), bits), bits);
    if (keeps_result) s.write(0, r);
  };
}

Handler step_by_one(Alu f) {
  return [f](Step& s) {
    const bool carry = s.machine().flags.carry;
    s.write(0, f(s, s.read(0), 1, s.bits(0)));
    s.machine().flags.carry = carry;
  };
}

void multiply(Step& s) {
  const int n = s.count(), bits = s.bits(0);
  if (n == 1) return s.fail("one-operand imul is not emulated");
  const std::uint64_t a = sign_extend(truncate(s.read(n == 3 ? 1 : 0), bits), bits);
  const std::uint64_t b = sign_extend(truncate(s.read(n == 3 ? 2 : 1), bits), bits);
  std::int64_t exact = 0;
  const bool beyond_64 = __builtin_mul_overflow(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b), &exact);
  const std::uint64_t r = truncate(a * b, bits);
  s.machine().flags.carry = s.machine().flags.overflow =
      beyond_64 || static_cast<std::int64_t>(sign_extend(r, bits)) != exact;
  s.write(0, r);
}

/// div and idiv: rdx:rax (edx:eax) by the operand. What a CPU answers with a fault is an error.
void divide(Step& s, bool is_signed) {
  using u128 = unsigned __int128;
  const int bits = s.bits(0);
  if (bits < 32) return s.fail("division of less than 32 bits is not emulated");
  std::uint64_t& low = s.machine().gpr[kRax];
  std::uint64_t& high = s.machine().gpr[kRdx];
  std::uint64_t divisor = truncate(s.read(0), bits);
  if (divisor == 0) return s.fail("division by zero");
  u128 dividend = u128{truncate(high, bits)} << bits | truncate(low, bits);
  const bool minus = is_signed && top_bit(high, bits), opposite = is_signed && top_bit(divisor, bits);
  if (minus) dividend = bits == 64 ? -dividend : static_cast<std::uint64_t>(-dividend);
  if (opposite) divisor = truncate(-divisor, bits);
  const u128 quotient = dividend / divisor;
  const auto rest = static_cast<std::uint64_t>(dividend % divisor);
  const bool negative = minus != opposite;
  const u128 bound = is_signed ? (u128{1} << (bits - 1)) - (negative ? 0 : 1) : (u128{1} << bits) - 1;
  if (quotient > bound) return s.fail("the quotient does not fit");
  const auto magnitude = static_cast<std::uint64_t>(quotient);
  low = truncate(negative ? -magnitude : magnitude, bits);
  high = truncate(minus ? -rest : rest, bits);
}

enum class Shift { left, right, arithmetic };

std::uint64_t shifted(std::uint64_t a, int by, int bits, Shift kind) {
  if (kind == Shift::left) return truncate(a << by, bits);
  if (kind == Shift::right) return a >> by;
  return truncate(static_cast<std::uint64_t>(static_cast<std::int64_t>(sign_extend(a, bits)) >> by), bits);
}

Handler shift(Shift kind) {
  return [kind](Step& s) {
    const int bits = s.bits(0);
    const int by = static_cast<int>(s.read(1) & (bits == 64 ? 63U : 31U));
    const std::uint64_t a = s.read(0);
    if (by == 0) return s.write(0, a);
    const std::uint64_t r = by >= bits && kind != Shift::arithmetic ? 0 : shifted(a, by, bits, kind);
    set_result_flags(s, r, bits);
    Flags& f = s.machine().flags;
    if (kind == Shift::left) {
      f.carry = by <= bits && ((a >> (bits - by)) & 1) != 0;
      f.overflow = top_bit(r, bits) != f.carry;
    } else {
      f.carry = ((sign_extend(a, bits) >> (by - 1)) & 1) != 0;
      f.overflow = kind == Shift::right && top_bit(a, bits);
    }
    s.write(0, r);
  };
}

Handler shift_without_flags(Shift kind) {
  return [kind](Step& s) {
    const int bits = s.bits(0);
    const int by = static_cast<int>(s.read(2) & static_cast<unsigned>(bits - 1));
    s.write(0, shifted(s.read(1), by, bits, kind));
  };
}

void zero_high_bits(Step& s) {
  const int bits = s.bits(0);
  const int keep = static_cast<int>(s.read(2) & 0xff);
  const std::uint64_t r = keep >= bits ? s.read(1) : truncate(s.read(1), keep);
  logic_flags(s, r, bits);
  s.machine().flags.carry = keep >= bits;
  s.write(0, r);
}

struct Condition {
  ZydisMnemonic jump, move, set;
  bool (*holds)(const Flags&);
};

constexpr std::array<Condition, 16> kConditions{{
    {ZYDIS_MNEMONIC_JO, ZYDIS_MNEMONIC_CMOVO, ZYDIS_MNEMONIC_SETO, [](const Flags& f) { return f.overflow; }},
    {ZYDIS_MNEMONIC_JNO, ZYDIS_MNEMONIC_CMOVNO, ZYDIS_MNEMONIC_SETNO, [](const Flags& f) { return !f.overflow; }},
    {ZYDIS_MNEMONIC_JB, ZYDIS_MNEMONIC_CMOVB, ZYDIS_MNEMONIC_SETB, [](const Flags& f) { return f.carry; }},
    {ZYDIS_MNEMONIC_JNB, ZYDIS_MNEMONIC_CMOVNB, ZYDIS_MNEMONIC_SETNB, [](const Flags& f) { return !f.carry; }},
    {ZYDIS_MNEMONIC_JZ, ZYDIS_MNEMONIC_CMOVZ, ZYDIS_MNEMONIC_SETZ, [](const Flags& f) { return f.zero; }},
    {ZYDIS_MNEMONIC_JNZ, ZYDIS_MNEMONIC_CMOVNZ, ZYDIS_MNEMONIC_SETNZ, [](const Flags& f) { return !f.zero; }},
    {ZYDIS_MNEMONIC_JBE, ZYDIS_MNEMONIC_CMOVBE, ZYDIS_MNEMONIC_SETBE, [](const Flags& f) { return f.carry || f.zero; }},
    {ZYDIS_MNEMONIC_JNBE, ZYDIS_MNEMONIC_CMOVNBE, ZYDIS_MNEMONIC_SETNBE,
     [](const Flags& f) { return !f.carry && !f.zero; }},
    {ZYDIS_MNEMONIC_JS, ZYDIS_MNEMONIC_CMOVS, ZYDIS_MNEMONIC_SETS, [](const Flags& f) { return f.sign; }},
    {ZYDIS_MNEMONIC_JNS, ZYDIS_MNEMONIC_CMOVNS, ZYDIS_MNEMONIC_SETNS, [](const Flags& f) { return !f.sign; }},
    {ZYDIS_MNEMONIC_JP, ZYDIS_MNEMONIC_CMOVP, ZYDIS_MNEMONIC_SETP, [](const Flags& f) { return f.parity; }},
    {ZYDIS_MNEMONIC_JNP, ZYDIS_MNEMONIC_CMOVNP, ZYDIS_MNEMONIC_SETNP, [](const Flags& f) { return !f.parity; }},
    {ZYDIS_MNEMONIC_JL, ZYDIS_MNEMONIC_CMOVL, ZYDIS_MNEMONIC_SETL, [](const Flags& f) { return f.sign != f.overflow; }},
    {ZYDIS_MNEMONIC_JNL, ZYDIS_MNEMONIC_CMOVNL, ZYDIS_MNEMONIC_SETNL,
     [](const Flags& f) { return f.sign == f.overflow; }},
    {ZYDIS_MNEMONIC_JLE, ZYDIS_MNEMONIC_CMOVLE, ZYDIS_MNEMONIC_SETLE,
     [](const Flags& f) { return f.zero || f.sign != f.overflow; }},
    {ZYDIS_MNEMONIC_JNLE, ZYDIS_MNEMONIC_CMOVNLE, ZYDIS_MNEMONIC_SETNLE,
     [](const Flags& f) { return !f.zero && f.sign == f.overflow; }},
}};

void add_conditions(HandlerTable& table) {
  for (const Condition& c : kConditions) {
    const auto holds = c.holds;
    table.add(c.jump, [holds](Step& s) {
      if (holds(s.machine().flags)) s.machine().rip = static_cast<std::uint64_t>(s.branch_target());
    });
    table.add(c.move, [holds](Step& s) {
      // The source is read, and a 32-bit destination cleared above, whether or not the condition holds.
      const std::uint64_t source = s.read(1), old = s.read(0);
      s.write(0, holds(s.machine().flags) ? source : old);
    });
    table.add(c.set, [holds](Step& s) { s.write(0, holds(s.machine().flags) ? 1 : 0); });
  }
}

void add_stack_and_jumps(HandlerTable& table) {
  table.add(ZYDIS_MNEMONIC_PUSH, [](Step& s) { s.push(s.read(0)); });
  table.add(ZYDIS_MNEMONIC_POP, [](Step& s) { s.write(0, s.pop()); });
  table.add(ZYDIS_MNEMONIC_RET, [](Step& s) { s.machine().rip = s.pop(); });
  table.add(ZYDIS_MNEMONIC_JMP, [](Step& s) {
    s.machine().rip = s.is_immediate(0) ? static_cast<std::uint64_t>(s.branch_target()) : s.read(0);
  });
  table.add({ZYDIS_MNEMONIC_NOP, ZYDIS_MNEMONIC_ENDBR64, ZYDIS_MNEMONIC_PREFETCHT0, ZYDIS_MNEMONIC_PREFETCHT1,
             ZYDIS_MNEMONIC_PREFETCHW, ZYDIS_MNEMONIC_PREFETCHT2, ZYDIS_MNEMONIC_PREFETCHNTA, ZYDIS_MNEMONIC_SFENCE},
            [](Step&) {});
}

}  // namespace

void add_general(HandlerTable& table) {
  table.add({ZYDIS_MNEMONIC_MOV, ZYDIS_MNEMONIC_MOVZX}, [](Step& s) { s.write(0, s.read(1)); });
  table.add({ZYDIS_MNEMONIC_MOVSX, ZYDIS_MNEMONIC_MOVSXD},
            [](Step& s) { s.write(0, sign_extend(s.read(1), s.bits(1))); });
  table.add(ZYDIS_MNEMONIC_LEA, [](Step& s) { s.write(0, s.address(1)); });
  table.add(ZYDIS_MNEMONIC_ADD, alu(add_with_flags, true));
  table.add(ZYDIS_MNEMONIC_SUB, alu(subtract_with_flags, true));
  table.add(ZYDIS_MNEMONIC_CMP, alu(subtract_with_flags, false));
  const Alu bit_and = [](Step& s, std::uint64_t a, std::uint64_t b, int bits) { return logic_flags(s, a & b, bits); };
  const Alu bit_or = [](Step& s, std::uint64_t a, std::uint64_t b, int bits) { return logic_flags(s, a | b, bits); };
  const Alu bit_xor = [](Step& s, std::uint64_t a, std::uint64_t b, int bits) { return logic_flags(s, a ^ b, bits); };
  table.add(ZYDIS_MNEMONIC_AND, alu(bit_and, true));
  table.add(ZYDIS_MNEMONIC_TEST, alu(bit_and, false));
  table.add(ZYDIS_MNEMONIC_OR, alu(bit_or, true));
  table.add(ZYDIS_MNEMONIC_XOR, alu(bit_xor, true));
  table.add(ZYDIS_MNEMONIC_INC, step_by_one(add_with_flags));
  table.add(ZYDIS_MNEMONIC_DEC, step_by_one(subtract_with_flags));
  table.add(ZYDIS_MNEMONIC_NEG, [](Step& s) { s.write(0, subtract_with_flags(s, 0, s.read(0), s.bits(0))); });
  table.add(ZYDIS_MNEMONIC_NOT, [](Step& s) { s.write(0, ~s.read(0)); });
  table.add(ZYDIS_MNEMONIC_IMUL, multiply);
  table.add(ZYDIS_MNEMONIC_DIV, [](Step& s) { divide(s, false); });
  table.add(ZYDIS_MNEMONIC_IDIV, [](Step& s) { divide(s, true); });
  table.add(ZYDIS_MNEMONIC_CDQ,
            [](Step& s) { s.machine().gpr[kRdx] = top_bit(s.machine().gpr[kRax], 32) ? 0xffff'ffffU : 0; });
  table.add(ZYDIS_MNEMONIC_CQO,
            [](Step& s) { s.machine().gpr[kRdx] = top_bit(s.machine().gpr[kRax], 64) ? ~std::uint64_t{0} : 0; });
  table.add(ZYDIS_MNEMONIC_SHL, shift(Shift::left));
  table.add(ZYDIS_MNEMONIC_SHR, shift(Shift::right));
  table.add(ZYDIS_MNEMONIC_SAR, shift(Shift::arithmetic));
  table.add(ZYDIS_MNEMONIC_SHLX, shift_without_flags(Shift::left));
  table.add(ZYDIS_MNEMONIC_SHRX, shift_without_flags(Shift::right));
  table.add(ZYDIS_MNEMONIC_SARX, shift_without_flags(Shift::arithmetic));
  table.add(ZYDIS_MNEMONIC_BZHI, zero_high_bits);
  table.add(ZYDIS_MNEMONIC_TZCNT, [](Step& s) {
    const std::uint64_t a = s.read(1);
    const int zeros = a == 0 ? s.bits(1) : std::countr_zero(a);
    s.machine().flags.carry = a == 0;
    s.machine().flags.zero = zeros == 0;
    s.write(0, static_cast<std::uint64_t>(zeros));
  });
  table.add(ZYDIS_MNEMONIC_ANDN,
            [](Step& s) { s.write(0, logic_flags(s, truncate(~s.read(1), s.bits(0)) & s.read(2), s.bits(0))); });
  add_conditions(table);
  add_stack_and_jumps(table);
}

}  // namespace tenfold::emulator
