// SPDX-License-Identifier: Apache-2.0
//
// Which reductions run as packed rows: a short contiguous reduced extent, rows one after another in memory, perhaps
// with gaps, and outputs too; or rows of cells, few elements side by side that are kept each. What is decided here
// depends on the shape alone, as the nest decides the order of additions.
#pragma once

#include "schedule/body.hpp"
#include "schedule/schedule.hpp"

namespace tenfold::schedule {

/// Elements of a packed row: the fewest, the most where they are floats that are summed, and the most of any.
inline constexpr int kLeastPackedWidth = 2;
inline constexpr int kMostPackedSum = 200;
inline constexpr int kMostPackedWidth = 1024;
/// Bytes of a register of packed rows, at every level.
inline constexpr int kPackedBytes = 32;
/// Rows of floats up to this long are summed in f32 to the end; of longer ones, the last two levels of the tree are in
/// f64, of those beyond the second bound three, and beyond the third one all. So no more than kChain terms meet in f32.
/// Sums that end in bf16 or f16, whose rounding hides what more of them would cost, stay in f32 as long as no element
/// goes through more additions than those of a chain. Part of the numeric contract.
inline constexpr int kMostWidthInF32 = kChain;
inline constexpr int kMostWidthWithTwoLevelsInF64 = 4 * kChain;
inline constexpr int kMostWidthWithThreeLevelsInF64 = 8 * kChain;
inline constexpr int kMostAdditionsOfNarrowSum = kChain - 1;
/// Those that an element goes through in a row of `width` lanes, the tree ending in f32 where lanes are a cell apart:
/// in the chain of one of the 16 lanes, and a level each.
int additions_in_f32(int width, int lanes_of_cell);

bool packs(const kernel::KernelSpec& spec, const ReduceBody& body);

/// What is packed: rows of elements that are all reduced to one, or of cells, whose elements are reduced each to its
/// own result.
struct PackedRows {
  int level = -1;  ///< the reduced one, whose elements, or cells, are side by side; -1 for none
  int count = 0;   ///< of elements or cells in a row
  int cell = 1;    ///< elements of a cell
  int pitch = 0;   ///< elements from the start of a row to that of the next one
  bool found() const { return level >= 0; }
  int width() const { return count * cell; }
  /// Of elements, without gaps.
  bool is_plain() const { return cell == 1 && pitch == count; }
};
/// Those of a spec whose levels allow it, whatever its body.
PackedRows packed_rows(const kernel::KernelSpec& spec);
/// Elements of a cell at most, and the lanes that one takes up: the next power of two.
inline constexpr int kMostCell = 8;
int lanes_of_cell(int cell);
/// The most elements of a packed row of such lanes and elements.
std::int64_t most_packed_width(Lanes lanes, DType input);
/// Whether blocks of what packs() are faster than rows, where that decides no bits.
bool pays_to_pack(const kernel::KernelSpec& spec, Lanes lanes, const target::Target& target);
/// Whether its blocks should prefetch others, further on, and of memory (`ahead`, `far`).
void choose_packed_asks(const kernel::KernelSpec& spec, Lanes lanes, const target::Target& target, Schedule& schedule);
Status check_packed(const kernel::KernelSpec& spec, const ReduceBody& body, const Schedule& schedule);

/// Places that a byte has room for.
inline constexpr int kPlacesOfByte = 256;
/// Rows of lanes of 8 and 16 bits that no index is wanted of are read by halves of a block up to so many bytes, of more
/// one after another.
inline constexpr int kMostBytesByHalves = 512;
/// Bytes of the lanes that packed rows are reduced in: the element's own, f32's for sums of narrower floats, or twice
/// the element's for its key in an arg-reduction, four times that of a byte in rows of more than kPlacesOfByte. It is
/// taken by keys, and not beside its place, where it has 8 or 16 bits and rows, of elements, are neither short nor, of
/// 16 bits, long.
int packed_lane_bytes(Lanes lanes, DType input, const PackedRows& rows);

}  // namespace tenfold::schedule
