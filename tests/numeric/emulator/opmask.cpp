// SPDX-License-Identifier: Apache-2.0
//
// Instructions on opmask registers, and between them and vectors.
#include <array>

#include "handlers.hpp"

namespace tenfold::emulator {
namespace {

using u64 = std::uint64_t;

u64 low(u64 value, int bits) { return bits >= 64 ? value : value & ((u64{1} << bits) - 1); }

Handler move(int bits) {
  return [bits](Step& s) {
    const u64 value = low(s.is_opmask(1) ? s.opmask(1) : s.read(1), bits);
    if (s.is_opmask(0)) return s.put_opmask(0, value, bits);
    s.write(0, value);
  };
}

template <class F>
Handler combine(int bits, F f) {
  return [bits, f](Step& s) { s.put_opmask(0, f(s.opmask(1), s.opmask(2)), bits); };
}

Handler complement(int bits) {
  return [bits](Step& s) { s.put_opmask(0, ~s.opmask(1), bits); };
}

Handler shift(int bits, bool left) {
  return [bits, left](Step& s) {
    const int by = s.immediate(2);
    const u64 a = low(s.opmask(1), bits);
    s.put_opmask(0, by >= bits ? 0 : left ? a << by : a >> by, bits);
  };
}

Handler or_test(int bits) {
  return [bits](Step& s) {
    const u64 either = low(s.opmask(0) | s.opmask(1), bits);
    s.machine().flags = {
        .zero = either == 0, .sign = false, .carry = either == low(~u64{0}, bits), .overflow = false, .parity = false};
  };
}

Handler and_test(int bits) {
  return [bits](Step& s) {
    const u64 a = s.opmask(0), b = s.opmask(1);
    s.machine().flags = {.zero = low(a & b, bits) == 0,
                         .sign = false,
                         .carry = low(~a & b, bits) == 0,
                         .overflow = false,
                         .parity = false};
  };
}

Handler unpack(int half) {
  return [half](Step& s) { s.put_opmask(0, (s.opmask(1) << half) | low(s.opmask(2), half), 2 * half); };
}

template <class T>
void from_vector(Step& s) {
  const int n = s.bits(1) / 8 / static_cast<int>(sizeof(T));
  const Vector a = s.all_of<T>(1, n);
  u64 bits = 0;
  for (int i = 0; i < n; ++i)
    if (a.get<T>(i) < 0) bits |= u64{1} << i;
  s.put_opmask(0, bits, n);
}

template <class T>
void to_vector(Step& s) {
  const int n = s.lanes<T>();
  Vector r;
  for (int i = 0; i < n; ++i) r.set<T>(i, static_cast<T>(((s.opmask(1) >> i) & 1) != 0 ? -1 : 0));
  s.put<T>(0, r, n);
}

/// One width's mnemonics: mov, and, andn, or, xor, xnor, add, not, shiftl, shiftr, ortest, test.
void add_width(HandlerTable& t, int bits, const std::array<ZydisMnemonic, 12>& m) {
  t.add(m[0], move(bits));
  t.add(m[1], combine(bits, [](u64 a, u64 b) { return a & b; }));
  t.add(m[2], combine(bits, [](u64 a, u64 b) { return ~a & b; }));
  t.add(m[3], combine(bits, [](u64 a, u64 b) { return a | b; }));
  t.add(m[4], combine(bits, [](u64 a, u64 b) { return a ^ b; }));
  t.add(m[5], combine(bits, [](u64 a, u64 b) { return ~(a ^ b); }));
  t.add(m[6], combine(bits, [](u64 a, u64 b) { return a + b; }));
  t.add(m[7], complement(bits));
  t.add(m[8], shift(bits, true));
  t.add(m[9], shift(bits, false));
  t.add(m[10], or_test(bits));
  t.add(m[11], and_test(bits));
}

}  // namespace

void add_opmasks(HandlerTable& t) {
  add_width(t, 8,
            {ZYDIS_MNEMONIC_KMOVB, ZYDIS_MNEMONIC_KANDB, ZYDIS_MNEMONIC_KANDNB, ZYDIS_MNEMONIC_KORB,
             ZYDIS_MNEMONIC_KXORB, ZYDIS_MNEMONIC_KXNORB, ZYDIS_MNEMONIC_KADDB, ZYDIS_MNEMONIC_KNOTB,
             ZYDIS_MNEMONIC_KSHIFTLB, ZYDIS_MNEMONIC_KSHIFTRB, ZYDIS_MNEMONIC_KORTESTB, ZYDIS_MNEMONIC_KTESTB});
  add_width(t, 16,
            {ZYDIS_MNEMONIC_KMOVW, ZYDIS_MNEMONIC_KANDW, ZYDIS_MNEMONIC_KANDNW, ZYDIS_MNEMONIC_KORW,
             ZYDIS_MNEMONIC_KXORW, ZYDIS_MNEMONIC_KXNORW, ZYDIS_MNEMONIC_KADDW, ZYDIS_MNEMONIC_KNOTW,
             ZYDIS_MNEMONIC_KSHIFTLW, ZYDIS_MNEMONIC_KSHIFTRW, ZYDIS_MNEMONIC_KORTESTW, ZYDIS_MNEMONIC_KTESTW});
  add_width(t, 32,
            {ZYDIS_MNEMONIC_KMOVD, ZYDIS_MNEMONIC_KANDD, ZYDIS_MNEMONIC_KANDND, ZYDIS_MNEMONIC_KORD,
             ZYDIS_MNEMONIC_KXORD, ZYDIS_MNEMONIC_KXNORD, ZYDIS_MNEMONIC_KADDD, ZYDIS_MNEMONIC_KNOTD,
             ZYDIS_MNEMONIC_KSHIFTLD, ZYDIS_MNEMONIC_KSHIFTRD, ZYDIS_MNEMONIC_KORTESTD, ZYDIS_MNEMONIC_KTESTD});
  add_width(t, 64,
            {ZYDIS_MNEMONIC_KMOVQ, ZYDIS_MNEMONIC_KANDQ, ZYDIS_MNEMONIC_KANDNQ, ZYDIS_MNEMONIC_KORQ,
             ZYDIS_MNEMONIC_KXORQ, ZYDIS_MNEMONIC_KXNORQ, ZYDIS_MNEMONIC_KADDQ, ZYDIS_MNEMONIC_KNOTQ,
             ZYDIS_MNEMONIC_KSHIFTLQ, ZYDIS_MNEMONIC_KSHIFTRQ, ZYDIS_MNEMONIC_KORTESTQ, ZYDIS_MNEMONIC_KTESTQ});
  t.add(ZYDIS_MNEMONIC_KUNPCKBW, unpack(8));
  t.add(ZYDIS_MNEMONIC_KUNPCKWD, unpack(16));
  t.add(ZYDIS_MNEMONIC_KUNPCKDQ, unpack(32));
  t.add(ZYDIS_MNEMONIC_VPMOVB2M, from_vector<std::int8_t>);
  t.add(ZYDIS_MNEMONIC_VPMOVW2M, from_vector<std::int16_t>);
  t.add(ZYDIS_MNEMONIC_VPMOVD2M, from_vector<std::int32_t>);
  t.add(ZYDIS_MNEMONIC_VPMOVQ2M, from_vector<std::int64_t>);
  t.add(ZYDIS_MNEMONIC_VPMOVM2B, to_vector<std::int8_t>);
  t.add(ZYDIS_MNEMONIC_VPMOVM2W, to_vector<std::int16_t>);
  t.add(ZYDIS_MNEMONIC_VPMOVM2D, to_vector<std::int32_t>);
  t.add(ZYDIS_MNEMONIC_VPMOVM2Q, to_vector<std::int64_t>);
}

}  // namespace tenfold::emulator
