// SPDX-License-Identifier: Apache-2.0
//
// Shifts of lanes: by an immediate, by the low 64 bits of an xmm register, lane by lane; and of bytes in 128-bit
// pieces.
#include "handlers.hpp"

namespace tenfold::emulator {
namespace {

using u64 = std::uint64_t;

enum class Kind { left, right, arithmetic };

/// Counts of the width or more give zero, or the sign.
template <class T, Kind kind>
T shifted(T a, u64 by) {
  constexpr u64 kBits = sizeof(T) * 8;
  if constexpr (kind == Kind::arithmetic)
    return static_cast<T>(a >> (by >= kBits ? kBits - 1 : by));
  else if (by >= kBits)
    return 0;
  else
    return static_cast<T>(kind == Kind::left ? static_cast<u64>(a) << by : static_cast<u64>(a) >> by);
}

template <class T, Kind kind>
void shift(Step& s) {
  const int n = s.lanes<T>();
  const u64 by = s.is_immediate(2) ? static_cast<u64>(s.immediate(2)) : s.all_of<u64>(2, 2).get<u64>(0);
  const Vector a = s.lanes_of<T>(1, n);
  Vector r;
  for (int i = 0; i < n; ++i) r.set<T>(i, shifted<T, kind>(a.get<T>(i), by));
  s.put<T>(0, r, n);
}

template <class T, class Count, Kind kind>
Handler shift_each() {
  return binary<T>([](T a, T b) { return shifted<T, kind>(a, static_cast<Count>(b)); });
}

template <bool left>
void shift_bytes(Step& s) {
  const int n = s.vector_bytes(), by = s.immediate(2);
  const Vector a = s.all_of<std::uint8_t>(1, n);
  Vector r;
  for (int i = 0; i < n; ++i) {
    const int from = left ? i % 16 - by : i % 16 + by;
    r.set<std::uint8_t>(i, from < 0 || from > 15 ? std::uint8_t{0} : a.get<std::uint8_t>(i / 16 * 16 + from));
  }
  s.put<std::uint8_t>(0, r, n);
}

template <class T>
Handler rotate(bool left) {
  return [left](Step& s) {
    const unsigned bits = sizeof(T) * 8;
    const unsigned by = static_cast<unsigned>(s.immediate(2)) % bits, up = left ? by : (bits - by) % bits;
    unary<T>([=](T a) { return static_cast<T>((a << up) | (a >> ((bits - up) % bits))); })(s);
  };
}

}  // namespace

void add_shift(HandlerTable& t) {
  using u16 = std::uint16_t;
  using u32 = std::uint32_t;
  using s16 = std::int16_t;
  using s32 = std::int32_t;
  using s64 = std::int64_t;
  t.add(ZYDIS_MNEMONIC_VPSLLW, shift<u16, Kind::left>);
  t.add(ZYDIS_MNEMONIC_VPSLLD, shift<u32, Kind::left>);
  t.add(ZYDIS_MNEMONIC_VPSLLQ, shift<u64, Kind::left>);
  t.add(ZYDIS_MNEMONIC_VPSRLW, shift<u16, Kind::right>);
  t.add(ZYDIS_MNEMONIC_VPSRLD, shift<u32, Kind::right>);
  t.add(ZYDIS_MNEMONIC_VPSRLQ, shift<u64, Kind::right>);
  t.add(ZYDIS_MNEMONIC_VPSRAW, shift<s16, Kind::arithmetic>);
  t.add(ZYDIS_MNEMONIC_VPSRAD, shift<s32, Kind::arithmetic>);
  t.add(ZYDIS_MNEMONIC_VPSRAQ, shift<s64, Kind::arithmetic>);
  t.add(ZYDIS_MNEMONIC_VPSLLVW, shift_each<u16, u16, Kind::left>());
  t.add(ZYDIS_MNEMONIC_VPSLLVD, shift_each<u32, u32, Kind::left>());
  t.add(ZYDIS_MNEMONIC_VPSLLVQ, shift_each<u64, u64, Kind::left>());
  t.add(ZYDIS_MNEMONIC_VPSRLVW, shift_each<u16, u16, Kind::right>());
  t.add(ZYDIS_MNEMONIC_VPSRLVD, shift_each<u32, u32, Kind::right>());
  t.add(ZYDIS_MNEMONIC_VPSRLVQ, shift_each<u64, u64, Kind::right>());
  t.add(ZYDIS_MNEMONIC_VPSRAVW, shift_each<s16, u16, Kind::arithmetic>());
  t.add(ZYDIS_MNEMONIC_VPSRAVD, shift_each<s32, u32, Kind::arithmetic>());
  t.add(ZYDIS_MNEMONIC_VPSRAVQ, shift_each<s64, u64, Kind::arithmetic>());
  t.add(ZYDIS_MNEMONIC_VPSLLDQ, shift_bytes<true>);
  t.add(ZYDIS_MNEMONIC_VPSRLDQ, shift_bytes<false>);
  t.add(ZYDIS_MNEMONIC_VPROLD, rotate<u32>(true));
  t.add(ZYDIS_MNEMONIC_VPROLQ, rotate<u64>(true));
  t.add(ZYDIS_MNEMONIC_VPRORD, rotate<u32>(false));
  t.add(ZYDIS_MNEMONIC_VPRORQ, rotate<u64>(false));
}

}  // namespace tenfold::emulator
