// SPDX-License-Identifier: Apache-2.0
//
// Loads, stores and moves that keep lanes in place: whole vectors, single elements, masked moves, broadcasts, blends.
#include "handlers.hpp"

namespace tenfold::emulator {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class T>
void move(Step& s) {
  const int n = s.lanes<T>();
  s.put<T>(0, s.lanes_of<T>(1, n), n);
}

template <class T>
void move_aligned(Step& s) {
  s.require_aligned(0, s.vector_bytes());
  s.require_aligned(1, s.vector_bytes());
  move<T>(s);
}

/// vmovd, vmovq, vmovw: between a general register or memory and element 0, the rest of the vector cleared.
template <class T>
void move_element(Step& s) {
  if (s.is_gpr(0) || s.is_memory(0)) return s.write(0, s.all_of<T>(1, 1).template get<T>(0));
  Vector r;
  r.set<T>(0, s.is_gpr(1) || s.is_memory(1) ? static_cast<T>(s.read(1)) : s.all_of<T>(1, 1).template get<T>(0));
  s.put_whole(0, r, 16);
}

/// vmovss, vmovsd: two operands load or store, three merge.
template <class T>
void move_scalar(Step& s) {
  if (s.is_memory(0)) return s.put<T>(0, s.lanes_of<T>(1, 1), 1);
  const bool merges = s.count() == 3;
  Vector r = merges ? s.lanes_of<T>(1, 1) : Vector{};
  const T source = s.lanes_of<T>(merges ? 2 : 1, 1).template get<T>(0), old = s.lanes_of<T>(0, 1).template get<T>(0);
  r.set<T>(0, s.active(0) ? source : s.instruction().zeroing ? T{} : old);
  s.put_whole(0, r, 16);
}

/// vmovlps, vmovhps and their like: one 64-bit half of an xmm register.
Handler move_half(int half) {
  return [half](Step& s) {
    if (s.is_memory(0)) {
      const u64 value = s.all_of<u64>(1, 2).get<u64>(half);
      Vector r;
      r.set<u64>(0, value);
      return s.put<u64>(0, r, 1);
    }
    Vector r = s.all_of<u64>(1, 2);
    r.set<u64>(half, s.all_of<u64>(2, 1).get<u64>(0));
    s.put_whole(0, r, 16);
  };
}

/// AVX's masked moves: the sign of each lane of the second operand decides; unmasked lanes are not accessed.
template <class T, class Signed>
void move_by_sign(Step& s) {
  const int n = s.lanes<T>();
  const Vector mask = s.all_of<T>(1, n);
  const bool stores = s.is_memory(0);
  const u64 base = s.address(stores ? 0 : 2);
  Vector r = stores ? s.all_of<T>(2, n) : Vector{};
  for (int i = 0; i < n; ++i) {
    if (mask.get<Signed>(i) >= 0) continue;
    const u64 at = base + static_cast<u64>(i) * sizeof(T);
    u8* lane = r.bytes.data() + static_cast<std::size_t>(i) * sizeof(T);
    stores ? s.store(at, lane, sizeof(T)) : s.load(at, lane, sizeof(T));
  }
  if (!stores) s.put<T>(0, r, n);
}

/// Repeats a group of `Group` elements of T; from memory, only when any lane wants it.
template <class T, int Group>
void broadcast(Step& s) {
  const int n = s.lanes<T>();
  Vector a;
  const bool any = s.instruction().mask == 0 || (s.mask() & (n == 64 ? ~u64{0} : (u64{1} << n) - 1)) != 0;
  if (s.is_gpr(1))
    a.set<T>(0, static_cast<T>(s.read(1)));
  else if (any)
    a = s.all_of<T>(1, Group);
  Vector r;
  for (int i = 0; i < n; ++i) r.set<T>(i, a.get<T>(i % Group));
  s.put<T>(0, r, n);
}

template <class T, class Signed>
void blend_by_sign(Step& s) {
  const int n = s.lanes<T>();
  const Vector a = s.all_of<T>(1, n), b = s.all_of<T>(2, n), mask = s.all_of<T>(3, n);
  Vector r;
  for (int i = 0; i < n; ++i) r.set<T>(i, mask.get<Signed>(i) < 0 ? b.get<T>(i) : a.get<T>(i));
  s.put<T>(0, r, n);
}

template <class T>
void blend_by_immediate(Step& s) {
  const int n = s.lanes<T>();
  const Vector a = s.all_of<T>(1, n), b = s.all_of<T>(2, n);
  Vector r;
  // vpblendw has eight bits for sixteen lanes and uses them twice.
  for (int i = 0; i < n; ++i) r.set<T>(i, ((s.immediate(3) >> (i % 8)) & 1) != 0 ? b.get<T>(i) : a.get<T>(i));
  s.put<T>(0, r, n);
}

/// The mask chooses instead of merging: lanes outside it come from the first source.
template <class T>
void blend_by_opmask(Step& s) {
  const int n = s.lanes<T>();
  const Vector b = s.lanes_of<T>(2, n);
  Vector r = s.all_of<T>(1, n);
  for (int i = 0; i < n; ++i) {
    if (s.active(i))
      r.set<T>(i, b.get<T>(i));
    else if (s.instruction().zeroing)
      r.set<T>(i, T{});
  }
  s.put_whole(0, r, s.vector_bytes());
}

void clear_upper(Step& s) {
  for (std::size_t i = 0; i < 16; ++i)
    for (int half = 2; half < 8; ++half) s.machine().vector[i].set<u64>(half, 0);
}

void add_whole_moves(HandlerTable& t) {
  t.add({ZYDIS_MNEMONIC_VMOVUPS, ZYDIS_MNEMONIC_VMOVDQU32, ZYDIS_MNEMONIC_VMOVDQU}, move<u32>);
  t.add({ZYDIS_MNEMONIC_VMOVUPD, ZYDIS_MNEMONIC_VMOVDQU64, ZYDIS_MNEMONIC_VLDDQU}, move<u64>);
  t.add(ZYDIS_MNEMONIC_VMOVDQU8, move<u8>);
  t.add(ZYDIS_MNEMONIC_VMOVDQU16, move<u16>);
  t.add({ZYDIS_MNEMONIC_VMOVAPS, ZYDIS_MNEMONIC_VMOVDQA32, ZYDIS_MNEMONIC_VMOVDQA, ZYDIS_MNEMONIC_VMOVNTPS,
         ZYDIS_MNEMONIC_VMOVNTDQ, ZYDIS_MNEMONIC_VMOVNTDQA},
        move_aligned<u32>);
  t.add({ZYDIS_MNEMONIC_VMOVAPD, ZYDIS_MNEMONIC_VMOVDQA64, ZYDIS_MNEMONIC_VMOVNTPD}, move_aligned<u64>);
}

void add_broadcasts(HandlerTable& t) {
  t.add({ZYDIS_MNEMONIC_VBROADCASTSS, ZYDIS_MNEMONIC_VPBROADCASTD}, broadcast<u32, 1>);
  t.add({ZYDIS_MNEMONIC_VBROADCASTSD, ZYDIS_MNEMONIC_VPBROADCASTQ}, broadcast<u64, 1>);
  t.add(ZYDIS_MNEMONIC_VPBROADCASTB, broadcast<u8, 1>);
  t.add(ZYDIS_MNEMONIC_VPBROADCASTW, broadcast<u16, 1>);
  t.add({ZYDIS_MNEMONIC_VBROADCASTF128, ZYDIS_MNEMONIC_VBROADCASTI128, ZYDIS_MNEMONIC_VBROADCASTF32X4,
         ZYDIS_MNEMONIC_VBROADCASTI32X4},
        broadcast<u32, 4>);
  t.add({ZYDIS_MNEMONIC_VBROADCASTF64X2, ZYDIS_MNEMONIC_VBROADCASTI64X2}, broadcast<u64, 2>);
  t.add({ZYDIS_MNEMONIC_VBROADCASTF32X2, ZYDIS_MNEMONIC_VBROADCASTI32X2}, broadcast<u32, 2>);
  t.add({ZYDIS_MNEMONIC_VBROADCASTF32X8, ZYDIS_MNEMONIC_VBROADCASTI32X8}, broadcast<u32, 8>);
  t.add({ZYDIS_MNEMONIC_VBROADCASTF64X4, ZYDIS_MNEMONIC_VBROADCASTI64X4}, broadcast<u64, 4>);
}

void add_blends(HandlerTable& t) {
  t.add(ZYDIS_MNEMONIC_VBLENDVPS, blend_by_sign<u32, std::int32_t>);
  t.add(ZYDIS_MNEMONIC_VBLENDVPD, blend_by_sign<u64, std::int64_t>);
  t.add(ZYDIS_MNEMONIC_VPBLENDVB, blend_by_sign<u8, std::int8_t>);
  t.add({ZYDIS_MNEMONIC_VBLENDPS, ZYDIS_MNEMONIC_VPBLENDD}, blend_by_immediate<u32>);
  t.add(ZYDIS_MNEMONIC_VBLENDPD, blend_by_immediate<u64>);
  t.add(ZYDIS_MNEMONIC_VPBLENDW, blend_by_immediate<u16>);
  t.add({ZYDIS_MNEMONIC_VBLENDMPS, ZYDIS_MNEMONIC_VPBLENDMD}, blend_by_opmask<u32>);
  t.add({ZYDIS_MNEMONIC_VBLENDMPD, ZYDIS_MNEMONIC_VPBLENDMQ}, blend_by_opmask<u64>);
  t.add(ZYDIS_MNEMONIC_VPBLENDMB, blend_by_opmask<u8>);
  t.add(ZYDIS_MNEMONIC_VPBLENDMW, blend_by_opmask<u16>);
}

}  // namespace

void add_moves(HandlerTable& t) {
  add_whole_moves(t);
  t.add(ZYDIS_MNEMONIC_VMOVD, move_element<u32>);
  t.add(ZYDIS_MNEMONIC_VMOVQ, move_element<u64>);
  t.add(ZYDIS_MNEMONIC_VMOVW, move_element<u16>);
  t.add(ZYDIS_MNEMONIC_VMOVSS, move_scalar<u32>);
  t.add(ZYDIS_MNEMONIC_VMOVSD, move_scalar<u64>);
  t.add({ZYDIS_MNEMONIC_VMOVLPS, ZYDIS_MNEMONIC_VMOVLPD}, move_half(0));
  t.add({ZYDIS_MNEMONIC_VMOVHPS, ZYDIS_MNEMONIC_VMOVHPD}, move_half(1));
  t.add({ZYDIS_MNEMONIC_VMASKMOVPS, ZYDIS_MNEMONIC_VPMASKMOVD}, move_by_sign<u32, std::int32_t>);
  t.add({ZYDIS_MNEMONIC_VMASKMOVPD, ZYDIS_MNEMONIC_VPMASKMOVQ}, move_by_sign<u64, std::int64_t>);
  t.add(ZYDIS_MNEMONIC_VZEROUPPER, clear_upper);
  add_broadcasts(t);
  add_blends(t);
}

}  // namespace tenfold::emulator
