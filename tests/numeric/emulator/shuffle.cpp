// SPDX-License-Identifier: Apache-2.0
//
// Lanes that move within 128-bit pieces: unpacks, shuffles by immediate and by register, byte alignment, duplication.
#include "handlers.hpp"

namespace tenfold::emulator {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// r[i] = pick(i, a, b) where `pick` gets the lane's number in its piece, and the piece's first lane.
template <class T, class F>
void by_piece(Step& s, int sources, F pick) {
  constexpr int kEach = 16 / static_cast<int>(sizeof(T));
  const int n = s.lanes<T>();
  const Vector a = s.all_of<T>(1, n), b = sources == 2 ? s.all_of<T>(2, n) : Vector{};
  Vector r;
  for (int i = 0; i < n; ++i) r.set<T>(i, pick(i % kEach, i / kEach * kEach, a, b));
  s.put<T>(0, r, n);
}

template <class T, bool high>
void unpack(Step& s) {
  constexpr int kHalf = 8 / static_cast<int>(sizeof(T));
  by_piece<T>(s, 2, [](int lane, int first, const Vector& a, const Vector& b) {
    const int from = first + lane / 2 + (high ? kHalf : 0);
    return lane % 2 == 0 ? a.get<T>(from) : b.get<T>(from);
  });
}

/// vpshufd, vpermilps by immediate: four lanes, two bits each, of one source.
void shuffle_dwords(Step& s) {
  const int imm = s.immediate(2);
  by_piece<u32>(s, 1, [imm](int lane, int first, const Vector& a, const Vector&) {
    return a.get<u32>(first + ((imm >> (2 * lane)) & 3));
  });
}

template <bool high>
void shuffle_words(Step& s) {
  const int imm = s.immediate(2), base = high ? 4 : 0;
  by_piece<u16>(s, 1, [=](int lane, int first, const Vector& a, const Vector&) {
    const bool moves = (lane >= 4) == high;
    return a.get<u16>(first + (moves ? base + ((imm >> (2 * (lane % 4))) & 3) : lane));
  });
}

void shuffle_ps(Step& s) {
  const int imm = s.immediate(3);
  by_piece<u32>(s, 2, [imm](int lane, int first, const Vector& a, const Vector& b) {
    return (lane < 2 ? a : b).get<u32>(first + ((imm >> (2 * lane)) & 3));
  });
}

void shuffle_pd(Step& s) {
  const int imm = s.immediate(3);
  by_piece<u64>(s, 2, [imm](int lane, int first, const Vector& a, const Vector& b) {
    return (lane == 0 ? a : b).get<u64>(first + ((imm >> (first + lane)) & 1));
  });
}

void permute_in_lane_ps(Step& s) {
  if (!s.is_immediate(2)) {
    by_piece<u32>(s, 2, [](int lane, int first, const Vector& a, const Vector& b) {
      return a.get<u32>(first + static_cast<int>(b.get<u32>(first + lane) & 3));
    });
    return;
  }
  shuffle_dwords(s);
}

void permute_in_lane_pd(Step& s) {
  if (!s.is_immediate(2)) {
    by_piece<u64>(s, 2, [](int lane, int first, const Vector& a, const Vector& b) {
      return a.get<u64>(first + static_cast<int>((b.get<u64>(first + lane) >> 1) & 1));
    });
    return;
  }
  const int imm = s.immediate(2);
  by_piece<u64>(s, 1, [imm](int lane, int first, const Vector& a, const Vector&) {
    return a.get<u64>(first + ((imm >> (first + lane)) & 1));
  });
}

void shuffle_bytes(Step& s) {
  by_piece<u8>(s, 2, [](int lane, int first, const Vector& a, const Vector& b) {
    const u8 index = b.get<u8>(first + lane);
    return (index & 0x80) != 0 ? u8{0} : a.get<u8>(first + (index & 15));
  });
}

void align_bytes(Step& s) {
  const int by = s.immediate(3);
  by_piece<u8>(s, 2, [by](int lane, int first, const Vector& a, const Vector& b) {
    const int from = lane + by;
    return from < 16 ? b.get<u8>(first + from) : from < 32 ? a.get<u8>(first + from - 16) : u8{0};
  });
}

/// vmovsldup, vmovshdup, vmovddup: one lane of each pair, twice. `odd`: the upper.
template <class T, int odd>
Handler duplicate() {
  return [](Step& s) {
    const int n = s.lanes<T>();
    // vmovddup of an xmm register reads only the low half of its source.
    const bool half = sizeof(T) == 8 && n == 2;
    const Vector a = s.all_of<T>(1, half ? 1 : n);
    Vector r;
    for (int i = 0; i < n; ++i) r.set<T>(i, a.get<T>(i / 2 * 2 + odd));
    s.put<T>(0, r, n);
  };
}

/// vmovhlps, vmovlhps: one half of the second source goes to a half of the first.
Handler merge_halves(int from, int to) {
  return [=](Step& s) {
    Vector r = s.all_of<u64>(1, 2);
    r.set<u64>(to, s.all_of<u64>(2, 2).get<u64>(from));
    s.put_whole(0, r, 16);
  };
}

}  // namespace

void add_shuffle(HandlerTable& t) {
  t.add({ZYDIS_MNEMONIC_VPUNPCKLBW}, unpack<u8, false>);
  t.add({ZYDIS_MNEMONIC_VPUNPCKHBW}, unpack<u8, true>);
  t.add({ZYDIS_MNEMONIC_VPUNPCKLWD}, unpack<u16, false>);
  t.add({ZYDIS_MNEMONIC_VPUNPCKHWD}, unpack<u16, true>);
  t.add({ZYDIS_MNEMONIC_VPUNPCKLDQ, ZYDIS_MNEMONIC_VUNPCKLPS}, unpack<u32, false>);
  t.add({ZYDIS_MNEMONIC_VPUNPCKHDQ, ZYDIS_MNEMONIC_VUNPCKHPS}, unpack<u32, true>);
  t.add({ZYDIS_MNEMONIC_VPUNPCKLQDQ, ZYDIS_MNEMONIC_VUNPCKLPD}, unpack<u64, false>);
  t.add({ZYDIS_MNEMONIC_VPUNPCKHQDQ, ZYDIS_MNEMONIC_VUNPCKHPD}, unpack<u64, true>);
  t.add(ZYDIS_MNEMONIC_VPSHUFD, shuffle_dwords);
  t.add(ZYDIS_MNEMONIC_VPSHUFLW, shuffle_words<false>);
  t.add(ZYDIS_MNEMONIC_VPSHUFHW, shuffle_words<true>);
  t.add(ZYDIS_MNEMONIC_VSHUFPS, shuffle_ps);
  t.add(ZYDIS_MNEMONIC_VSHUFPD, shuffle_pd);
  t.add(ZYDIS_MNEMONIC_VPERMILPS, permute_in_lane_ps);
  t.add(ZYDIS_MNEMONIC_VPERMILPD, permute_in_lane_pd);
  t.add(ZYDIS_MNEMONIC_VPSHUFB, shuffle_bytes);
  t.add(ZYDIS_MNEMONIC_VPALIGNR, align_bytes);
  t.add(ZYDIS_MNEMONIC_VMOVSLDUP, duplicate<u32, 0>());
  t.add(ZYDIS_MNEMONIC_VMOVSHDUP, duplicate<u32, 1>());
  t.add(ZYDIS_MNEMONIC_VMOVDDUP, duplicate<u64, 0>());
  t.add(ZYDIS_MNEMONIC_VMOVHLPS, merge_halves(1, 0));
  t.add(ZYDIS_MNEMONIC_VMOVLHPS, merge_halves(0, 1));
}

}  // namespace tenfold::emulator
