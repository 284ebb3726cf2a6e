// SPDX-License-Identifier: Apache-2.0
//
// The leaves of a block of packed rows that are of several registers: a loop over the rows reduces each to one register
// (and one of its places), which waits in scratch until the tree comes for it. Code and the time to make it are then
// those of a row, not of a block: ArgMax in rows of 200 compiles in 280 us instead of 1520, of bf16 in 660 instead of
// 2200. Of longer rows they are those of a few registers: in rows of 1000 160 instead of 710.
#include "jit/packed/block.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Reg64;

/// From so many registers a row on indices gain, or lose nothing, and of reductions rows of so many elements of 32 or
/// 64 bits; blocks of narrower ones have so many rows that the stores and loads between cost more than they bring, but
/// for long rows (schedule::kMostBytesByHalves). Parts of the time straight through, AVX2 and AVX-512 on Zen 5: ArgMax
/// f32 [8192, 100] 0.78 and 0.93, [2048, 200] 0.95 and 0.91, [2048, 32] 1.06, bf16 [8192, 100] 0.90 and 0.95, ReduceMax
/// f32 [10485, 100] 0.79 and 0.76, [16384, 64] 0.81 and 0.83, [2048, 200] 0.95 and 1.08, [2048, 48] 1.2, bf16 [2048,
/// 100] 1.24 and 1.07, s8 [2048, 200] 1.29 and 1.40.
constexpr int kLeastPiecesOfIndex = 5, kLeastWidthOfReduction = 57;
/// Registers of a block of cells, of which there are fewer rows.
constexpr int kLeastBlockOfCells = 64, kLeastBlockOfPlaces = 32;
/// Rows of so many registers are a loop themselves, so many of them a turn.
constexpr int kLeastPiecesOfLoop = 26, kPiecesOfTurn = 8;

}  // namespace

/// Sums of floats deal a row's terms to lanes in an order of their own (long_sums()).
bool PackedBlock::loops_over_leaves() const {
  if (floats()) return false;
  if (cell_ > 1) return rows() * width_ >= (places() ? kLeastBlockOfPlaces : kLeastBlockOfCells) * lanes_;
  if (!schedule::gives_index(kind_))
    return lane_ >= 4 ? width_ >= kLeastWidthOfReduction : width_ * lane_ > schedule::kMostBytesByHalves;
  const int piece = keys() ? kBytes / 2 / element_ : segment_;
  return width_ > (kLeastPiecesOfIndex - 1) * piece;
}

/// Of a long row the code is a loop as well.
bool PackedBlock::loops_along_rows() const {
  return loops_over_leaves() && cell_ == 1 && width_ >= kLeastPiecesOfLoop * lanes_;
}

/// Those behind the first one that the turns of the loop take; what is left follows it.
int PackedBlock::pieces_in_loop() const {
  return loops_along_rows() ? (width_ / lanes_ - 1) / kPiecesOfTurn * kPiecesOfTurn : 0;
}

/// `body` takes the register of so many bytes times a number from 1 on past an address.
void PackedBlock::along_row(const Reg64& in, const std::function<void(const Reg64& from, int piece)>& body) {
  Gpr from(assembler_), left(assembler_);
  Xbyak::Label again;
  code_.mov(from, in);
  code_.mov(left.r32(), pieces_in_loop() / kPiecesOfTurn);
  align_loop(code_);
  code_.L(again);
  for (int piece = 1; piece <= kPiecesOfTurn; ++piece) body(from, piece);
  code_.add(from, kPiecesOfTurn * kBytes);
  code_.dec(left);
  code_.jnz(again);
}

/// An extreme or a sum of integers, whose order is free.
PackedBlock::Register PackedBlock::long_row(const Reg64& in) {
  const Register result = piece(in, 0, 0);
  const auto take_piece = [&](const Reg64& from, int index) {
    const Register reg = piece(from, 0, index);
    combine(result, reg, lane_);
    give(reg);
  };
  along_row(in, take_piece);
  for (int index = 1 + pieces_in_loop(); index * lanes_ < width_; ++index) take_piece(in, index);
  return result;
}

/// What the loop takes, on top of the first register. Places are counted on from one register to the next.
void PackedBlock::find_along(const Reg64& in, Found& best) {
  const Register places = take(), kept = take();
  v_.load_constant(places, place_bytes(best.first));
  v_.copy(kept, places);
  best.places = kept;
  along_row(in, [&](const Reg64& from, int piece) {
    Found next = found_leaf(from, 0, piece);
    v_.add_constant(places, -lanes_, lane_);
    next.places = take();
    v_.copy(*next.places, places);
    take_better(best, std::move(next), true, true);
    if (*best.places == kept) return;
    // Of the last of equals what is taken has changed registers, which a turn must not.
    v_.copy(kept, *best.places);
    std::erase(free_, kept);
    give(*best.places);
    best.places = kept;
  });
  give(places);
}

int PackedBlock::leaf_bytes() const { return (places() ? 2 : 1) * kBytes; }

/// Indices of cells that do not fill their lanes go by way of scratch.
int PackedBlock::scratch_bytes() const {
  return leaves_bytes() + (places() && pads_cells() ? lanes_ * byte_size(output_) + kBytes : 0);
}

/// A turn of the loop for each row, or of keys for two, one in each half.
void PackedBlock::store_leaves(const Reg64& in) {
  turns_ = leaves();
  v_.weigh(turns_);
  Gpr row(assembler_), to(assembler_), left(assembler_);
  Xbyak::Label again;
  code_.mov(row, in);
  code_.lea(to, code_.ptr[code_.rbp + frame::kRecords]);
  code_.mov(left.r32(), turns_);
  align_loop(code_);
  code_.L(again);
  if (places()) {
    const Found found = cell_ > 1 ? found_row_of_cells(row, 0) : found_row(row, 0);
    v_.store(to.reg(), found.elements);
    v_.store(to.reg() + kBytes, *found.places);
    give(found.elements);
    give(*found.places);
  } else {
    const Register stored = leaf(row, 0).reg;
    v_.store(to.reg(), stored);
    give(stored);
  }
  code_.add(row, row_bytes());
  code_.add(to, leaf_bytes());
  code_.dec(left);
  code_.jnz(again);
  v_.weigh(1);
  turns_ = 0;
}

int PackedBlock::stored_number(int index) const {
  return segment_ == lanes_ && (cell_ > 1 || !places()) ? number_of_leaf(index) : index;
}

/// A register of leaf `index`, and the row of each lane.
PackedBlock::Value PackedBlock::stored_leaf(int index) {
  Value value{take(), {}};
  const int half = lanes_ / 2, number = stored_number(index);
  v_.load(value.reg, code_.rbp + (frame::kRecords + number * leaf_bytes()));
  for (int lane = 0; lane < lanes_; ++lane)
    // Of less than a register each half is a row's.
    value.rows[static_cast<std::size_t>(lane)] = segment_ == lanes_ ? number : index + lane / half * half;
  return value;
}

PackedBlock::Found PackedBlock::stored_row(int index) {
  Value elements = stored_leaf(index);
  Found found{elements.reg, take(), {}, elements.rows};
  v_.load(*found.places, code_.rbp + (frame::kRecords + stored_number(index) * leaf_bytes() + kBytes));
  return found;
}

}  // namespace tenfold::jit
