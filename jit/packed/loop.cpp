// SPDX-License-Identifier: Apache-2.0
//
// The leaves of a block of packed rows that are of several registers: a loop over the rows reduces each to one register
// (and one of its places), which waits in scratch until the tree comes for it. Code and the time to make it are then
// those of a row, not of a block: ArgMax in rows of 200 compiles in 280 us instead of 1520, of bf16 in 660 instead of
// 2200.
#include "jit/packed/block.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Reg64;

/// From so many registers a row on indices gain, or lose nothing, and of reductions rows of so many elements of 32 or
/// 64 bits; blocks of narrower ones have so many rows that the stores and loads between cost more than they bring.
/// Parts of the time straight through, AVX2 and AVX-512 on Zen 5: ArgMax f32 [8192, 100] 0.78 and 0.93, [2048, 200]
/// 0.95 and 0.91, [2048, 32] 1.06, bf16 [8192, 100] 0.90 and 0.95, ReduceMax f32 [10485, 100] 0.79 and 0.76, [16384,
/// 64] 0.81 and 0.83, [2048, 200] 0.95 and 1.08, [2048, 48] 1.2, bf16 [2048, 100] 1.24 and 1.07, s8 [2048, 200] 1.29
/// and 1.40.
constexpr int kLeastPiecesOfIndex = 5, kLeastWidthOfReduction = 57;
/// Registers of a block of cells, of which there are fewer rows.
constexpr int kLeastBlockOfCells = 64, kLeastBlockOfPlaces = 32;

}  // namespace

/// Sums of floats deal a row's terms to lanes in an order of their own (long_sums()).
bool PackedBlock::loops_over_leaves() const {
  if (floats()) return false;
  if (cell_ > 1) return rows() * width_ >= (places() ? kLeastBlockOfPlaces : kLeastBlockOfCells) * lanes_;
  if (!schedule::gives_index(kind_)) return lane_ >= 4 && width_ >= kLeastWidthOfReduction;
  const int piece = keys() ? kBytes / 2 / element_ : segment_;
  return width_ > (kLeastPiecesOfIndex - 1) * piece;
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
