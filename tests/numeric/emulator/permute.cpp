// SPDX-License-Identifier: Apache-2.0
//
// Lanes that cross 128-bit pieces: inserts and extracts, permutes of pieces, of quadwords and by index registers.
#include "handlers.hpp"

namespace tenfold::emulator {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Group `immediate` of `Group` lanes leaves the source.
template <class T, int Group>
void extract(Step& s) {
  // The vector length of an extract is the source's.
  const int groups = s.lanes<T>() / Group;
  const int first = s.immediate(2) % groups * Group;
  const Vector a = s.all_of<T>(1, groups * Group);
  Vector r;
  for (int i = 0; i < Group; ++i) r.set<T>(i, a.get<T>(first + i));
  s.put<T>(0, r, Group);
}

template <class T, int Group>
void insert(Step& s) {
  const int n = s.lanes<T>(), first = s.immediate(3) % (n / Group) * Group;
  Vector r = s.all_of<T>(1, n);
  const Vector b = s.all_of<T>(2, Group);
  for (int i = 0; i < Group; ++i) r.set<T>(first + i, b.get<T>(i));
  s.put<T>(0, r, n);
}

template <class T>
void extract_element(Step& s) {
  const int n = 16 / static_cast<int>(sizeof(T));
  s.write(0, s.all_of<T>(1, n).template get<T>(s.immediate(2) % n));
}

template <class T>
void insert_element(Step& s) {
  const int n = 16 / static_cast<int>(sizeof(T));
  Vector r = s.all_of<T>(1, n);
  r.set<T>(s.immediate(3) % n, static_cast<T>(s.read(2)));
  s.put_whole(0, r, 16);
}

void insert_float(Step& s) {
  const int imm = s.immediate(3);
  Vector r = s.all_of<u32>(1, 4);
  const bool memory = s.is_memory(2);
  const Vector b = s.all_of<u32>(2, memory ? 1 : 4);
  r.set<u32>((imm >> 4) & 3, b.get<u32>(memory ? 0 : imm >> 6));
  for (int i = 0; i < 4; ++i)
    if (((imm >> i) & 1) != 0) r.set<u32>(i, 0);
  s.put_whole(0, r, 16);
}

void permute_pieces(Step& s) {
  const Vector a = s.all_of<u64>(1, 4), b = s.all_of<u64>(2, 4);
  const int imm = s.immediate(3);
  Vector r;
  for (int piece = 0; piece < 2; ++piece) {
    const int control = imm >> (4 * piece);
    for (int i = 0; i < 2; ++i) {
      const u64 value = ((control & 2) != 0 ? b : a).get<u64>((control & 1) * 2 + i);
      r.set<u64>(2 * piece + i, (control & 8) != 0 ? 0 : value);
    }
  }
  s.put<u64>(0, r, 4);
}

/// vshuff32x4 and its like: the lower half of the pieces from the first source, the upper from the second.
template <class T>
void shuffle_pieces(Step& s) {
  constexpr int kEach = 16 / static_cast<int>(sizeof(T));
  const int n = s.lanes<T>(), pieces = n / kEach, bits = pieces == 4 ? 2 : 1;
  const Vector a = s.all_of<T>(1, n), b = s.all_of<T>(2, n);
  Vector r;
  for (int piece = 0; piece < pieces; ++piece) {
    const int from = (s.immediate(3) >> (bits * piece)) & (pieces - 1);
    for (int i = 0; i < kEach; ++i)
      r.set<T>(piece * kEach + i, (piece < pieces / 2 ? a : b).template get<T>(from * kEach + i));
  }
  s.put<T>(0, r, n);
}

/// dst[i] = src[index[i]], with the index register before the source.
template <class T>
void permute_by_register(Step& s) {
  const int n = s.lanes<T>();
  const Vector index = s.all_of<T>(1, n), a = s.all_of<T>(2, n);
  Vector r;
  for (int i = 0; i < n; ++i)
    r.set<T>(i, a.get<T>(static_cast<int>(static_cast<u64>(index.get<T>(i)) & static_cast<u64>(n - 1))));
  s.put<T>(0, r, n);
}

/// vpermq, vpermpd: by immediate within each 256 bits, or by register.
void permute_quadwords(Step& s) {
  if (!s.is_immediate(2)) return permute_by_register<u64>(s);
  const int n = s.lanes<u64>();
  const Vector a = s.all_of<u64>(1, n);
  Vector r;
  for (int i = 0; i < n; ++i) r.set<u64>(i, a.get<u64>(i / 4 * 4 + ((s.immediate(2) >> (2 * (i % 4))) & 3)));
  s.put<u64>(0, r, n);
}

/// Two tables of n lanes each. `index_first`: the destination holds the indices (vpermi2), else the first table.
template <class T, bool index_first>
void permute_two(Step& s) {
  const int n = s.lanes<T>();
  const Vector d = s.all_of<T>(0, n), x = s.all_of<T>(1, n), second = s.all_of<T>(2, n);
  const Vector& index = index_first ? d : x;
  const Vector& first = index_first ? x : d;
  Vector r;
  for (int i = 0; i < n; ++i) {
    const int from = static_cast<int>(static_cast<u64>(index.get<T>(i)) & static_cast<u64>(2 * n - 1));
    r.set<T>(i, from < n ? first.get<T>(from) : second.get<T>(from - n));
  }
  s.put<T>(0, r, n);
}

/// The first source above the second, shifted right by whole lanes.
template <class T>
void align_lanes(Step& s) {
  const int n = s.lanes<T>(), by = s.immediate(3) % n;
  const Vector a = s.all_of<T>(1, n), b = s.all_of<T>(2, n);
  Vector r;
  for (int i = 0; i < n; ++i) r.set<T>(i, i + by < n ? b.get<T>(i + by) : a.get<T>(i + by - n));
  s.put<T>(0, r, n);
}

void add_groups(HandlerTable& t) {
  t.add({ZYDIS_MNEMONIC_VEXTRACTF128, ZYDIS_MNEMONIC_VEXTRACTI128, ZYDIS_MNEMONIC_VEXTRACTF32X4,
         ZYDIS_MNEMONIC_VEXTRACTI32X4},
        extract<u32, 4>);
  t.add({ZYDIS_MNEMONIC_VEXTRACTF64X2, ZYDIS_MNEMONIC_VEXTRACTI64X2}, extract<u64, 2>);
  t.add({ZYDIS_MNEMONIC_VEXTRACTF32X8, ZYDIS_MNEMONIC_VEXTRACTI32X8}, extract<u32, 8>);
  t.add({ZYDIS_MNEMONIC_VEXTRACTF64X4, ZYDIS_MNEMONIC_VEXTRACTI64X4}, extract<u64, 4>);
  t.add({ZYDIS_MNEMONIC_VINSERTF128, ZYDIS_MNEMONIC_VINSERTI128, ZYDIS_MNEMONIC_VINSERTF32X4,
         ZYDIS_MNEMONIC_VINSERTI32X4},
        insert<u32, 4>);
  t.add({ZYDIS_MNEMONIC_VINSERTF64X2, ZYDIS_MNEMONIC_VINSERTI64X2}, insert<u64, 2>);
  t.add({ZYDIS_MNEMONIC_VINSERTF32X8, ZYDIS_MNEMONIC_VINSERTI32X8}, insert<u32, 8>);
  t.add({ZYDIS_MNEMONIC_VINSERTF64X4, ZYDIS_MNEMONIC_VINSERTI64X4}, insert<u64, 4>);
  t.add(ZYDIS_MNEMONIC_VPEXTRB, extract_element<u8>);
  t.add(ZYDIS_MNEMONIC_VPEXTRW, extract_element<u16>);
  t.add({ZYDIS_MNEMONIC_VPEXTRD, ZYDIS_MNEMONIC_VEXTRACTPS}, extract_element<u32>);
  t.add(ZYDIS_MNEMONIC_VPEXTRQ, extract_element<u64>);
  t.add(ZYDIS_MNEMONIC_VPINSRB, insert_element<u8>);
  t.add(ZYDIS_MNEMONIC_VPINSRW, insert_element<u16>);
  t.add(ZYDIS_MNEMONIC_VPINSRD, insert_element<u32>);
  t.add(ZYDIS_MNEMONIC_VPINSRQ, insert_element<u64>);
  t.add(ZYDIS_MNEMONIC_VINSERTPS, insert_float);
}

}  // namespace

void add_permute(HandlerTable& t) {
  add_groups(t);
  t.add({ZYDIS_MNEMONIC_VPERM2F128, ZYDIS_MNEMONIC_VPERM2I128}, permute_pieces);
  t.add({ZYDIS_MNEMONIC_VSHUFF32X4, ZYDIS_MNEMONIC_VSHUFI32X4}, shuffle_pieces<u32>);
  t.add({ZYDIS_MNEMONIC_VSHUFF64X2, ZYDIS_MNEMONIC_VSHUFI64X2}, shuffle_pieces<u64>);
  t.add({ZYDIS_MNEMONIC_VPERMQ, ZYDIS_MNEMONIC_VPERMPD}, permute_quadwords);
  t.add({ZYDIS_MNEMONIC_VPERMD, ZYDIS_MNEMONIC_VPERMPS}, permute_by_register<u32>);
  t.add(ZYDIS_MNEMONIC_VPERMW, permute_by_register<u16>);
  t.add(ZYDIS_MNEMONIC_VPERMB, permute_by_register<u8>);
  t.add({ZYDIS_MNEMONIC_VPERMT2D, ZYDIS_MNEMONIC_VPERMT2PS}, permute_two<u32, false>);
  t.add({ZYDIS_MNEMONIC_VPERMT2Q, ZYDIS_MNEMONIC_VPERMT2PD}, permute_two<u64, false>);
  t.add(ZYDIS_MNEMONIC_VPERMT2W, permute_two<u16, false>);
  t.add({ZYDIS_MNEMONIC_VPERMI2D, ZYDIS_MNEMONIC_VPERMI2PS}, permute_two<u32, true>);
  t.add({ZYDIS_MNEMONIC_VPERMI2Q, ZYDIS_MNEMONIC_VPERMI2PD}, permute_two<u64, true>);
  t.add(ZYDIS_MNEMONIC_VPERMI2W, permute_two<u16, true>);
  t.add(ZYDIS_MNEMONIC_VALIGND, align_lanes<u32>);
  t.add(ZYDIS_MNEMONIC_VALIGNQ, align_lanes<u64>);
}

}  // namespace tenfold::emulator
